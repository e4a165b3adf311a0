/* SPDX-License-Identifier: MIT */
#include "fastnet/rights.h"
#include "fastnet/kernel_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { VALUES_MAX = 3 };

/* The capabilities of each right. */
static const struct {
    cap_value_t values[VALUES_MAX];
    int count;
    bool lent; /* also raised if the user lacks the capabilities, and only set-user-ID or the
                  program's file gives them */
} needed[RIGHTS] = {
    [RIGHT_OWNERS] = {{CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH}, 2, true},
    /* Lent: this program loads only BPF code of its own, which only finds the holders of
     * sockets. */
    [RIGHT_BPF] = {{CAP_BPF, CAP_PERFMON}, 2, true},
    /* Not lent: otherwise a user could read any file by its path. */
    [RIGHT_READ] = {{CAP_DAC_READ_SEARCH}, 1, false},
    [RIGHT_NETFILTER] = {{CAP_NET_ADMIN}, 1, true},
    /* Not lent: otherwise a user could use more kernel memory than the limit allows. */
    [RIGHT_BUFFERS] = {{CAP_NET_ADMIN}, 1, false},
    /* Lent: this program chooses these files, not the user. */
    [RIGHT_CONTAINERS] = {{CAP_DAC_READ_SEARCH}, 1, true},
    [RIGHT_NETFILTER_FILES] = {{CAP_DAC_READ_SEARCH}, 1, true},
    /* Not lent: the kernel hides keys and marks even from the owner of the socket. */
    [RIGHT_SOCKETS] = {{CAP_NET_ADMIN, CAP_BPF}, 2, false},
    /* Not lent: otherwise a user could list sockets in network namespaces of other users. */
    [RIGHT_NAMESPACE_FILES] = {{CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH}, 2, false},
    [RIGHT_NAMESPACES] = {{CAP_SYS_ADMIN}, 1, false},
    [RIGHT_MAPS] = {{CAP_SYS_ADMIN}, 1, false},
    [RIGHT_SYMBOLS] = {{CAP_SYSLOG}, 1, false},
    /* Not lent: otherwise a user could see what other users send. */
    [RIGHT_PACKETS] = {{CAP_NET_RAW}, 1, false},
    /* Not lent: otherwise a user could connect as another user, and pass filters of packets. */
    [RIGHT_CGROUPS] = {{CAP_DAC_OVERRIDE}, 1, false},
    [RIGHT_USER] = {{CAP_SETUID, CAP_SETGID, CAP_KILL}, 3, false},
    [RIGHT_MARK] = {{CAP_NET_ADMIN}, 1, false},
};

/* The capability sets of this process in libcap's form. rights_init() allocates them, and later
 * changes need no memory, so a lack of memory cannot keep a right. NULL: no right was raised
 * yet. */
static cap_t caps;

/* The effective set is perhaps not empty. */
static bool raised;

/* Bits of the rights that rights_limit() kept. Two rights can share a capability, which is not
 * raised for the right that was given up. */
static unsigned kept = RIGHTS_ALL;

/* A set-user-ID program would read files as its file's owner, even without capabilities. So the
 * process becomes the user who started it, and keeps the capabilities for the calls that need
 * them. */
static int become_user(void)
{
    const uid_t user = getuid();
    const gid_t group = getgid();

    if (user == geteuid() && group == getegid())
        return 0;
    if (prctl(PR_SET_KEEPCAPS, 1L, 0L, 0L, 0L) < 0 || setresgid(group, group, group) < 0 ||
        setresuid(user, user, user) < 0)
        return -errno;
    return 0;
}

/* Ends the process, so that it does nothing with rights that it could not give up. */
static _Noreturn void die(void)
{
    static const char message[] = "fastnet: cannot give up capabilities\n";
    const ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);

    (void)written; /* if the message cannot be written, the exit status is enough */
    _exit(1);
}

static bool is_in(cap_flag_t set, cap_value_t value)
{
    cap_flag_value_t flag = CAP_CLEAR;

    return cap_get_flag(caps, value, set, &flag) == 0 && flag == CAP_SET;
}

static bool is_permitted(cap_value_t value)
{
    return is_in(CAP_PERMITTED, value);
}

/* Keeps only the capabilities of these rights. All others leave the ambient set, too. */
static int keep_only(unsigned rights)
{
    cap_value_t values[RIGHTS * VALUES_MAX];
    int count = 0;

    for (int right = 0; right < RIGHTS; right++)
        for (int i = 0; rights & 1u << right && i < needed[right].count; i++)
            if (is_permitted(needed[right].values[i]))
                values[count++] = needed[right].values[i];
    if (cap_clear(caps) < 0 ||
        (count && cap_set_flag(caps, CAP_PERMITTED, count, values, CAP_SET) < 0) ||
        cap_set_proc(caps) < 0)
        return -errno;
    return 0;
}

int rights_init(void)
{
    int status;

    /* Opens /dev/null for closed standard descriptors: otherwise the first socket or file would
     * become stdout. It is opened for reading, so that a write to a closed stdout still fails with
     * EBADF. open() returns the lowest free descriptor. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        while (fcntl(fd, F_GETFD) < 0)
            if (open("/dev/null", O_RDONLY) < 0 && errno != EINTR)
                return -errno;
    status = become_user();
    if (status)
        return status;
    /* This program starts no other program. Kernels before 3.5 lack this call. */
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
    caps = cap_get_proc();
    return !caps ? -errno : keep_only(RIGHTS_ALL);
}

void rights_limit(unsigned rights)
{
    if (!caps)
        caps = cap_get_proc();
    kept &= rights;
    if (!caps || keep_only(rights) < 0)
        die();
}

static bool is_withheld(enum right right)
{
    return !caps || !(kept >> right & 1U) || (!needed[right].lent && rights_elevated());
}

bool rights_have(unsigned rights)
{
    for (enum right right = 0; right < RIGHTS; right++)
        if (rights >> right & 1U && (is_withheld(right) || !is_permitted(needed[right].values[0])))
            return false;
    return true;
}

const char *rights_advice(void)
{
    return getuid() == 0 ? "" : " (try sudo)";
}

bool rights_have_all_of(enum right right)
{
    int i = 0;

    while (i < needed[right].count && !is_withheld(right) && is_permitted(needed[right].values[i]))
        i++;
    return i == needed[right].count;
}

void rights_raise(enum right right)
{
    bool more = false;

    if (is_withheld(right))
        return;
    for (int i = 0; i < needed[right].count; i++)
        if (is_permitted(needed[right].values[i]) &&
            !is_in(CAP_EFFECTIVE, needed[right].values[i])) {
            (void)cap_set_flag(caps, CAP_EFFECTIVE, 1, &needed[right].values[i], CAP_SET);
            more = true;
        }
    raised |= more;
    if (more)
        (void)cap_set_proc(caps);
}

void rights_lower(void)
{
    if (!raised)
        return;
    if (cap_clear_flag(caps, CAP_EFFECTIVE) < 0 || cap_set_proc(caps) < 0)
        die();
    raised = false;
}

void rights_drop(void)
{
    rights_limit(0);
}

void rights_drop_thread(void)
{
    cap_t none = cap_init();

    if (!none || cap_set_proc(none) < 0)
        die();
    cap_free(none);
}

bool rights_any(void)
{
    for (int right = 0; right < RIGHTS; right++)
        for (int i = 0; i < needed[right].count; i++)
            if (is_permitted(needed[right].values[i]))
                return true;
    return false;
}

bool rights_elevated(void)
{
    return getauxval(AT_SECURE) != 0;
}
