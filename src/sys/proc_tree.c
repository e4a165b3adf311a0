/* SPDX-License-Identifier: MIT */
#include "fastnet/proc_tree.h"
#include "fastnet/kernel_abi.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILE_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY };

int proc_open(int directory, const char *path, int flags)
{
    int fd;

    do
        fd = openat(directory, path, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

/* Opens a file; below a captured root by openat2(2), or by openat(2) if the kernel is too old. */
static int open_once(const struct proc_tree *tree, const char *path, int flags)
{
    const struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int fd = -1;

    errno = ENOSYS;
    if (tree->captured)
        fd = (int)syscall(SYS_openat2, tree->fd, path, &how, sizeof how);
    if (fd < 0 &&
        (errno == ENOSYS || errno == EPERM)) /* older containers refuse unknown calls with EPERM */
        fd = openat(tree->fd, path, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Opens again on EAGAIN: a rename happened at the same time (openat2(2)). */
static int open_below(const struct proc_tree *tree, const char *path, int flags)
{
    enum { TRIES = 32 };
    int fd = -EAGAIN;

    for (int tries = 0; tries < TRIES && (fd == -EAGAIN || fd == -EINTR); tries++)
        fd = open_once(tree, path, flags);
    return fd;
}

bool proc_tree_is_own(const char *root)
{
    return strcmp(root, "/proc") == 0;
}

int proc_tree_find(const char *root)
{
    struct stat status;

    if (access(root, F_OK) < 0 || stat(root, &status) < 0)
        return -errno;
    return S_ISDIR(status.st_mode) ? 0 : -ENOTDIR;
}

bool proc_tree_has(const char *root, const char *path)
{
    char whole[PATH_MAX];
    int length = snprintf(whole, sizeof whole, "%s/%s", root, path);

    return length > 0 && (size_t)length < sizeof whole && access(whole, F_OK) == 0;
}

int proc_tree_init(struct proc_tree *tree, const char *root)
{
    struct statfs system;
    int fd;

    tree->captured = !proc_tree_is_own(root);
    tree->living = false;
    tree->right = tree->captured ? RIGHT_READ : RIGHT_OWNERS;
    fd = proc_open(AT_FDCWD, root, O_RDONLY | O_DIRECTORY);
    if (fd ==
        -EACCES) /* the files in a directory that cannot be listed may still be opened by name */
        fd = proc_open(AT_FDCWD, root, O_PATH | O_DIRECTORY);
    tree->fd = fd < 0 ? -1 : fd;
    if (fd < 0)
        return fd;
    tree->living = fstatfs(tree->fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
    if (tree->captured && tree->living) /* living processes may belong to other users, so the
                                           right must not be lent (rights.h) */
        tree->right = RIGHT_NAMESPACE_FILES;
    return 0;
}

void proc_tree_finish(struct proc_tree *tree)
{
    if (tree->fd >= 0)
        close(tree->fd);
    tree->fd = -1;
}

/* Returns 0 if fd is a regular file, else -errno. */
static int proc_check_file(int fd, struct stat *status)
{
    if (fstat(fd, status) < 0)
        return -errno;
    if (S_ISDIR(status->st_mode))
        return -EISDIR;
    return S_ISREG(status->st_mode) ? 0 : -EINVAL;
}

static int close_for(int fd, int error)
{
    close(fd);
    return error;
}

/* Opens the file of an O_PATH descriptor for reading. Returns -ENOENT if /proc is not mounted. */
static int reopen(int path_fd)
{
    struct statfs system;
    char path[32];

    if (statfs("/proc/self/fd", &system) < 0 || system.f_type != PROC_SUPER_MAGIC)
        return -ENOENT;
    snprintf(path, sizeof path, "/proc/self/fd/%d", path_fd);
    return proc_open(AT_FDCWD, path, FILE_FLAGS);
}

static int open_own(int root, const char *path)
{
    const int fd = proc_open(root, path, FILE_FLAGS);
    struct stat status;
    const int error = fd < 0 ? 0 : proc_check_file(fd, &status);

    return error < 0 ? close_for(fd, error) : fd;
}

int proc_tree_open(const struct proc_tree *tree, const char *path)
{
    struct stat status, opened;
    int path_fd, fd;

    if (!tree->captured)
        return open_own(tree->fd, path);
    path_fd = open_below(tree, path, O_PATH);
    if (path_fd < 0)
        return path_fd;
    fd = proc_check_file(path_fd, &status);
    if (fd < 0)
        return close_for(path_fd, fd);
    fd = reopen(path_fd);
    if (fd == -ENOENT) /* without /proc: open it by its name again */
        fd = open_below(tree, path, FILE_FLAGS);
    if (fd >= 0 && (fstat(fd, &opened) < 0 || opened.st_dev != status.st_dev ||
                    opened.st_ino != status.st_ino))
        fd = close_for(fd, -ESTALE); /* this is not the file that was checked */
    return close_for(path_fd, fd);
}

/* Opens a file of /proc by its whole path, so that strace(1) shows which file is read. */
int proc_tree_open_file(const char *root, const char *path)
{
    struct proc_tree tree;
    char whole[PATH_MAX];
    int length = snprintf(whole, sizeof whole, "%s/%s", root, path);
    int fd;

    if (length < 0 || (size_t)length >= sizeof whole)
        return -ENAMETOOLONG;
    if (proc_tree_is_own(root))
        return open_own(AT_FDCWD, whole);
    fd = proc_tree_init(&tree, root);
    if (fd < 0)
        return fd;
    fd = proc_tree_open(&tree, path);
    proc_tree_finish(&tree);
    return fd;
}

ssize_t proc_read(int fd, void *buffer, size_t size)
{
    ssize_t length;

    do {
        length = read(fd, buffer, size);
        if (length < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 100);
    } while (length < 0 && (errno == EINTR || errno == EAGAIN));
    return length < 0 ? -errno : length;
}

ssize_t proc_tree_read(const struct proc_tree *tree, const char *path, char *text, size_t size)
{
    const int fd = proc_tree_open(tree, path);
    const ssize_t length = fd < 0 ? fd : proc_read(fd, text, size - 1);

    if (fd >= 0)
        close(fd);
    if (length >= 0)
        text[length] = '\0';
    return length;
}

int proc_tree_open_directory(const struct proc_tree *tree, const char *path)
{
    return open_below(tree, path, O_RDONLY | O_DIRECTORY);
}

/* --- The machine that wrote a tree ------------------------------------------------------------ */

/* Texts that differ between little-endian and big-endian machines, or MIPS and others, in files
 * that most machines have: the group 224.0.0.1 of each interface, masks of routes, sockets bound to
 * a loopback address, link-local (fe80::) and IPv4-mapped addresses (::ffff:0:0/96), and listening
 * unix sockets (type stream, never datagram). */
static const struct clue {
    unsigned about;
    const char *file;
    const char *texts[2]; /* MACHINE_ORDER: little, big endian; MACHINE_TYPES: not MIPS, MIPS */
    size_t offset; /* distance of the text from the first ':' of its line, bytes; 0: it may be
                      anywhere */
} clues[] = {
    {MACHINE_ORDER, "net/igmp", {"\t010000E0 ", "\tE0000001 "}, 0},
    {MACHINE_ORDER, "net/route", {"\t00FFFFFF\t", "\tFFFFFF00\t"}, 0},
    {MACHINE_ORDER, "net/route", {"\t0000FFFF\t", "\tFFFF0000\t"}, 0},
    {MACHINE_ORDER, "net/tcp", {": 0100007F:", ": 7F000001:"}, 0},
    {MACHINE_ORDER, "net/udp", {": 0100007F:", ": 7F000001:"}, 0},
    {MACHINE_ORDER, "net/tcp6", {"000000000000000001000000:", "000000000000000000000001:"}, 0},
    {MACHINE_ORDER, "net/tcp6", {" 000080FE00000000", " FE80000000000000"}, 0},
    {MACHINE_ORDER, "net/tcp6", {" 0000000000000000FFFF0000", " 00000000000000000000FFFF"}, 0},
    {MACHINE_ORDER, "net/udp6", {"000000000000000001000000:", "000000000000000000000001:"}, 0},
    {MACHINE_ORDER, "net/udp6", {" 000080FE00000000", " FE80000000000000"}, 0},
    {MACHINE_ORDER, "net/udp6", {" 0000000000000000FFFF0000", " 00000000000000000000FFFF"}, 0},
    /* users choose names of sockets: compare only the columns before the name */
    {MACHINE_TYPES, "net/unix", {" 00010000 0001 ", " 00010000 0002 "}, 18},
};

static bool has_text(const char *text, const char *wanted, size_t offset)
{
    bool found = !offset && strstr(text, wanted);

    for (const char *line = text; offset && line && !found; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *colon = strpbrk(line, ":\n");
        found = colon && *colon == ':' && strnlen(colon + 1, offset) == offset &&
                strncmp(colon + 1 + offset, wanted, strlen(wanted)) == 0;
    }
    return found;
}

static int read_machine(const struct proc_tree *tree, unsigned shown[2])
{
    enum { KNOWN = 20 }; /* bytes of the ELF header up to e_machine, the last member that is read */
    char elf[KNOWN + 1];
    const ssize_t length = proc_tree_read(tree, "machine", elf, sizeof elf);

    if (length < 0)
        return (int)length;
    if (length < KNOWN || memcmp(elf, ELFMAG, SELFMAG) != 0 ||
        (elf[EI_DATA] != ELFDATA2LSB && elf[EI_DATA] != ELFDATA2MSB))
        return -EBADMSG;
    const bool big = elf[EI_DATA] == ELFDATA2MSB;
    const char number = elf[18 + big], high = elf[19 - big];
    shown[big] |= MACHINE_ORDER;
    shown[!high && (number == EM_MIPS || number == EM_MIPS_RS3_LE)] |= MACHINE_TYPES;
    return 0;
}

int proc_tree_machine(const char *root, struct proc_machine *machine)
{
    const unsigned own =
        (BYTE_ORDER == BIG_ENDIAN ? MACHINE_ORDER : 0) | (SOCK_STREAM == 2 ? MACHINE_TYPES : 0);
    unsigned shown[2] = {0, 0};
    struct proc_tree tree;
    int error = 0;

    *machine = (struct proc_machine){0};
    if (proc_tree_is_own(root))
        return 0;
    if (proc_tree_init(&tree, root) == 0 && !tree.living) {
        char text[8192];
        error = read_machine(&tree, shown);
        for (size_t i = 0; error && i < sizeof clues / sizeof *clues; i++)
            for (size_t j = 0; j < 2 && proc_tree_read(&tree, clues[i].file, text, sizeof text) > 0;
                 j++)
                if (has_text(text, clues[i].texts[j], clues[i].offset))
                    shown[j] |= clues[i].about;
        const unsigned known =
            shown[0] ^ shown[1]; /* texts of both orders in one file prove nothing */
        machine->differs = known & (shown[1] ^ own);
        machine->unsure = ~known & (MACHINE_ORDER | MACHINE_TYPES);
    }
    proc_tree_finish(&tree);
    return error == -ENOENT ? 0 : error;
}
