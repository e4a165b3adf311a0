/* SPDX-License-Identifier: MIT */
#include "why/attempt_error.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <time.h> /* linux/errqueue.h uses struct timespec */

#include <linux/errqueue.h>

#include "fastnet/attempt.h"

/* Returns the address after struct sock_extended_err. The kernel writes AF_UNSPEC if it does not
 * know the sender. */
static struct address attempt_offender(const unsigned char *bytes, size_t size)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    sa_family_t family = AF_UNSPEC;

    if (size >= sizeof family)
        memcpy(&family, bytes, sizeof family);
    if (family == AF_INET && size >= sizeof in) {
        memcpy(&in, bytes, sizeof in);
        return address_make(AF_INET, &in.sin_addr);
    }
    if (family == AF_INET6 && size >= sizeof in6) {
        memcpy(&in6, bytes, sizeof in6);
        return address_make(AF_INET6, &in6.sin6_addr);
    }
    return (struct address){.family = AF_UNSPEC};
}

static bool is_error_message(const struct cmsghdr *control)
{
    return (control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_RECVERR) ||
           (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_RECVERR);
}

static bool attempt_take_control(const unsigned char *data, size_t size,
                                 struct attempt_result *result)
{
    struct sock_extended_err error;

    if (size < sizeof error)
        return false;
    memcpy(&error, data, sizeof error);
    if (error.ee_origin != SO_EE_ORIGIN_ICMP && error.ee_origin != SO_EE_ORIGIN_ICMP6 &&
        error.ee_origin != SO_EE_ORIGIN_LOCAL)
        return false;
    result->has_icmp = true;
    result->icmp_is_local = error.ee_origin == SO_EE_ORIGIN_LOCAL;
    result->icmp_type = error.ee_type;
    result->icmp_code = error.ee_code;
    result->icmp_error = (int)error.ee_errno;
    result->icmp_info = error.ee_info;
    result->offender = attempt_offender(data + sizeof error, size - sizeof error);
    return true;
}

bool attempt_take_error(const struct msghdr *message, struct attempt_result *result)
{
    const unsigned char *const end =
        (const unsigned char *)message->msg_control + message->msg_controllen;
    struct msghdr walk = *message; /* CMSG_NXTHDR() wants a pointer that is not const */

    for (struct cmsghdr *control = CMSG_FIRSTHDR(&walk); control;
         control = CMSG_NXTHDR(&walk, control)) {
        const unsigned char *data = CMSG_DATA(control);
        const size_t room = (size_t)(end - (const unsigned char *)control);
        if (control->cmsg_len < CMSG_LEN(0) || control->cmsg_len > room)
            return false;
        if (is_error_message(control) &&
            attempt_take_control(data, control->cmsg_len - CMSG_LEN(0), result))
            return true;
    }
    return false;
}
