#include "fastnet/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Linux 5.8; older headers lack it. */
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

/*
 * The C library has these calls but declares them nowhere. libcap does, but loading that library
 * would take a tenth of the time of a short listing.
 */
int capget(cap_user_header_t header, cap_user_data_t data);
int capset(cap_user_header_t header, cap_user_data_t data);

#define BIT(capability) (UINT64_C(1) << (capability))

/* The capabilities of each right. */
static const struct {
    uint64_t first, other;
    bool lent; /* raised even for a user who does not have them */
} needed[RIGHTS] = {
    [RIGHT_OWNERS] = {BIT(CAP_SYS_PTRACE), BIT(CAP_DAC_READ_SEARCH), true},
    /* Not lent: otherwise a user could have any file read by naming its path. */
    [RIGHT_READ] = {BIT(CAP_DAC_READ_SEARCH), 0, false},
    [RIGHT_NETFILTER] = {BIT(CAP_NET_ADMIN), 0, true},
    /* Not lent: otherwise a user could take more of the kernel's memory than the limit allows. */
    [RIGHT_BUFFERS] = {BIT(CAP_NET_ADMIN), 0, false},
    /* Lent: the program names these files, not the user. */
    [RIGHT_NETFILTER_FILES] = {BIT(CAP_DAC_READ_SEARCH), 0, true},
    /* Not lent: the kernel hides keys and marks even from the user who owns the socket. */
    [RIGHT_SOCKETS] = {BIT(CAP_NET_ADMIN), BIT(CAP_BPF), false},
    /* Not lent: otherwise a user could list the sockets of namespaces that are not the user's. */
    [RIGHT_NAMESPACE_FILES] = {BIT(CAP_SYS_PTRACE), BIT(CAP_DAC_READ_SEARCH), false},
    [RIGHT_NAMESPACES] = {BIT(CAP_SYS_ADMIN), 0, false},
    [RIGHT_MAPS] = {BIT(CAP_SYS_ADMIN), 0, false},
};

/* The capability sets of this process, as read_sets() and set() left them. */
static uint64_t permitted, effective;
static bool known; /* false: nothing was raised yet */

/*
 * A set-user-ID program would read files as their owner, whatever its capabilities are. So it
 * becomes the user who started it, and keeps the capabilities to raise them where they are needed.
 */
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

/* Ends the process, so that nothing is read or looked up with rights that should be gone. */
static _Noreturn void die(void)
{
    static const char said[] = "fastnet: cannot give up capabilities\n";
    const ssize_t written = write(STDERR_FILENO, said, sizeof said - 1);

    (void)written; /* the exit status says it, too */
    _exit(1);
}

static int read_sets(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (capget(&header, data) < 0)
        return -errno;
    permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
    known = true;
    return 0;
}

/* The inheritable set is emptied, and the kernel's ambient set follows it. */
static int set(uint64_t new_permitted, uint64_t new_effective)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
        {.permitted = (uint32_t)new_permitted, .effective = (uint32_t)new_effective},
        {.permitted = (uint32_t)(new_permitted >> 32),
         .effective = (uint32_t)(new_effective >> 32)}};

    if (capset(&header, data) < 0)
        return -errno;
    permitted = new_permitted;
    effective = new_effective;
    return 0;
}

static uint64_t capabilities_of(unsigned rights)
{
    uint64_t capabilities = 0;

    for (int right = 0; right < RIGHTS; right++)
        if (rights & 1u << right)
            capabilities |= needed[right].first | needed[right].other;
    return capabilities;
}

static int keep_only(unsigned rights)
{
    return set(permitted & capabilities_of(rights), 0);
}

/*
 * Otherwise the first socket or file would become stdout, and output would go there. Reading only:
 * a write to a closed stdout still fails with EBADF. open() returns the lowest free descriptor.
 */
static int fill_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        while (fcntl(fd, F_GETFD) < 0)
            if (open("/dev/null", O_RDONLY) < 0 && errno != EINTR)
                return -errno;
    return 0;
}

int rights_init(void)
{
    int status = fill_descriptors();

    if (!status)
        status = become_user();
    if (status)
        return status;
    /* The program starts no other program. Kernels before 3.5 do not know this call. */
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
    status = read_sets();
    return status ? status : keep_only(RIGHTS_ALL);
}

void rights_limit(unsigned rights)
{
    if ((!known && read_sets() < 0) || keep_only(rights) < 0)
        die();
}

static bool is_withheld(enum right right)
{
    return !known || (!needed[right].lent && rights_elevated());
}

bool rights_have(unsigned rights)
{
    for (enum right right = 0; right < RIGHTS; right++)
        if (rights >> right & 1U && (is_withheld(right) || !(permitted & needed[right].first)))
            return false;
    return true;
}

void rights_raise(enum right right)
{
    const uint64_t raised = permitted & capabilities_of(1u << right);

    if (raised && !is_withheld(right))
        (void)set(permitted, effective | raised);
}

void rights_lower(void)
{
    if (effective && set(permitted, 0) < 0)
        die();
}

void rights_drop(void)
{
    rights_limit(0);
}

bool rights_any(void)
{
    return permitted & capabilities_of(RIGHTS_ALL);
}

bool rights_elevated(void)
{
    return getauxval(AT_SECURE) != 0;
}
