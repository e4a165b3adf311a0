#include "fastnet/rights.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

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

static int lower(void)
{
    cap_t caps = cap_get_proc();
    if (caps == NULL)
        return -errno;
    int status = 0;
    if (cap_clear_flag(caps, CAP_EFFECTIVE) < 0 || cap_set_proc(caps) < 0)
        status = -errno;
    cap_free(caps);
    return status;
}

int rights_init(void)
{
    const int status = become_user();

    return status < 0 ? status : lower();
}

static bool is_permitted(cap_t caps, cap_value_t value)
{
    cap_flag_value_t permitted = CAP_CLEAR;
    return cap_get_flag(caps, value, CAP_PERMITTED, &permitted) == 0 && permitted == CAP_SET;
}

static void raise_permitted(const cap_value_t *values, size_t count)
{
    cap_t caps = cap_get_proc();
    if (caps == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        if (is_permitted(caps, values[i]))
            (void)cap_set_flag(caps, CAP_EFFECTIVE, 1, &values[i], CAP_SET);
    (void)cap_set_proc(caps);
    cap_free(caps);
}

void rights_raise(enum right right)
{
    static const cap_value_t owners[] = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH};
    static const cap_value_t files[] = {CAP_DAC_READ_SEARCH};
    static const cap_value_t netfilter[] = {CAP_NET_ADMIN};

    switch (right) {
    case RIGHT_OWNERS:
        raise_permitted(owners, sizeof(owners) / sizeof(owners[0]));
        break;
    case RIGHT_READ:
        /* Whoever was lent the capability shall not read any file through a path he names. */
        if (!rights_elevated())
            raise_permitted(files, sizeof(files) / sizeof(files[0]));
        break;
    case RIGHT_NETFILTER:
        raise_permitted(netfilter, sizeof(netfilter) / sizeof(netfilter[0]));
        break;
    case RIGHT_BUFFERS:
        /* Nor shall he take memory of the kernel's past the limit that is set for him. */
        if (!rights_elevated())
            raise_permitted(netfilter, sizeof(netfilter) / sizeof(netfilter[0]));
        break;
    case RIGHT_NETFILTER_FILES:
        /* Files that the program names, not who started it: it may be lent to anyone. */
        raise_permitted(files, sizeof(files) / sizeof(files[0]));
        break;
    }
}

void rights_lower(void)
{
    (void)lower();
}

int rights_drop(void)
{
    /* Kernels before 4.3 have no ambient set (EINVAL); with permitted empty it empties itself. */
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);

    cap_t none = cap_init();
    if (none == NULL)
        return -errno;
    const int status = cap_set_proc(none) < 0 ? -errno : 0;
    cap_free(none);
    return status;
}

bool rights_any(void)
{
    cap_t caps = cap_get_proc();
    if (caps == NULL)
        return false;
    bool any = false;
    for (cap_value_t value = 0; !any && value < cap_max_bits(); value++)
        any = is_permitted(caps, value);
    cap_free(caps);
    return any;
}

bool rights_elevated(void)
{
    return getauxval(AT_SECURE) != 0;
}
