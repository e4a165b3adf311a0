/* SPDX-License-Identifier: MIT */
#include "why/attempt_error.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <time.h> /* linux/errqueue.h uses struct timespec */

#include <linux/errqueue.h>

#include "fastnet/attempt.h"

struct endpoint endpoint_of(const void *bytes, size_t size)
{
    struct endpoint end = {.address.family = AF_UNSPEC};
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    sa_family_t family = AF_UNSPEC;

    if (size >= sizeof family)
        memcpy(&family, bytes, sizeof family);
    if (family == AF_INET && size >= sizeof in) {
        memcpy(&in, bytes, sizeof in);
        end = (struct endpoint){address_make(AF_INET, &in.sin_addr), ntohs(in.sin_port)};
    } else if (family == AF_INET6 && size >= sizeof in6) {
        memcpy(&in6, bytes, sizeof in6);
        end = (struct endpoint){address_make(AF_INET6, &in6.sin6_addr), ntohs(in6.sin6_port)};
    }
    return end;
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
    /* the kernel writes AF_UNSPEC if it does not know the sender */
    result->offender = endpoint_of(data + sizeof error, size - sizeof error).address;
    return true;
}

bool attempt_take_error(const struct msghdr *message, struct attempt_result *result)
{
    const unsigned char *at = message->msg_control;
    size_t left = message->msg_controllen;

    /* not by CMSG_NXTHDR(3), which wants a message that is not const, and has warnings in musl */
    while (left >= CMSG_LEN(0)) {
        const struct cmsghdr *control = (const void *)at;
        const size_t length = control->cmsg_len;
        if (length < CMSG_LEN(0) || length > left)
            return false;
        if (is_error_message(control) &&
            attempt_take_control(at + CMSG_LEN(0), length - CMSG_LEN(0), result))
            return true;
        if (CMSG_ALIGN(length) > left)
            return false;
        at += CMSG_ALIGN(length);
        left -= CMSG_ALIGN(length);
    }
    return false;
}
