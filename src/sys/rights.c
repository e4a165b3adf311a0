#include "fastnet/rights.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { VALUES_MAX = 2 };

/* What a right is made of. */
static const struct {
    cap_value_t values[VALUES_MAX];
    int count;
    bool lent; /* also to a user who does not have it himself */
} needed[RIGHTS] = {
    [RIGHT_OWNERS] = {{CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH}, 2, true},
    /* A user who was lent the capability must not read any file through a path that he names. */
    [RIGHT_READ] = {{CAP_DAC_READ_SEARCH}, 1, false},
    [RIGHT_NETFILTER] = {{CAP_NET_ADMIN}, 1, true},
    /* Nor take memory of the kernel's past the limit that is set for him. */
    [RIGHT_BUFFERS] = {{CAP_NET_ADMIN}, 1, false},
    /* Files that the program names, not the user who started it. */
    [RIGHT_NETFILTER_FILES] = {{CAP_DAC_READ_SEARCH}, 1, true},
};

/*
 * What this process has, as libcap holds it; made by rights_init(). From then on no change needs
 * memory, so that want of memory cannot keep a right alive. NULL before: nothing was raised.
 */
static cap_t caps;

/*
 * Installed set-user-ID, the program would read files as their owner whatever its capabilities
 * are: it becomes the user who started it, and keeps the capabilities for where they are raised.
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

/* No name is looked up, and nothing is read, with rights that should be gone. */
static _Noreturn void die(void)
{
    static const char said[] = "fastnet: cannot give up capabilities\n";
    const ssize_t written = write(STDERR_FILENO, said, sizeof said - 1);

    (void)written; /* the exit status says it, too */
    _exit(1);
}

static bool is_permitted(cap_value_t value)
{
    cap_flag_value_t permitted = CAP_CLEAR;

    return cap_get_flag(caps, value, CAP_PERMITTED, &permitted) == 0 && permitted == CAP_SET;
}

/* The kernel's ambient set follows: it never holds what is not permitted and inheritable. */
static int keep_only(unsigned rights)
{
    cap_value_t kept[RIGHTS * VALUES_MAX];
    int count = 0;

    for (int right = 0; right < RIGHTS; right++)
        for (int i = 0; rights & 1u << right && i < needed[right].count; i++)
            if (is_permitted(needed[right].values[i]))
                kept[count++] = needed[right].values[i];
    if (cap_clear(caps) < 0 ||
        (count && cap_set_flag(caps, CAP_PERMITTED, count, kept, CAP_SET) < 0) ||
        cap_set_proc(caps) < 0)
        return -errno;
    return 0;
}

int rights_init(void)
{
    int status = become_user();

    if (status < 0)
        return status;
    /* The program starts no other; kernels before 3.5 do not know this. */
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
    caps = cap_get_proc();
    return !caps ? -errno : keep_only(RIGHTS_ALL);
}

void rights_limit(unsigned rights)
{
    if (!caps)
        caps = cap_get_proc();
    if (!caps || keep_only(rights) < 0)
        die();
}

void rights_raise(enum right right)
{
    if (!caps || (!needed[right].lent && rights_elevated()))
        return;
    for (int i = 0; i < needed[right].count; i++)
        if (is_permitted(needed[right].values[i]))
            (void)cap_set_flag(caps, CAP_EFFECTIVE, 1, &needed[right].values[i], CAP_SET);
    (void)cap_set_proc(caps);
}

void rights_lower(void)
{
    if (caps && (cap_clear_flag(caps, CAP_EFFECTIVE) < 0 || cap_set_proc(caps) < 0))
        die();
}

void rights_drop(void)
{
    rights_limit(0);
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
