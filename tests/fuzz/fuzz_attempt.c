/* SPDX-License-Identifier: MIT */
/*
 * Messages of the error queue of a socket (IP_RECVERR). The input has for each message of control
 * data: a byte that chooses level and type, two bytes of its length (which may be wrong), and its
 * data. The headers are written here, because their form depends on the machine.
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/attempt.h"
#include "fuzz.h"
#include "why/attempt_error.h"

enum { CONTROL_MAX = 1024, MESSAGES_MAX = 4, DATA_MAX = 128 };

static const struct {
    int level, type;
} kinds[] = {{IPPROTO_IP, IP_RECVERR},
             {IPPROTO_IPV6, IPV6_RECVERR},
             {IPPROTO_IP, IP_TTL},
             {SOL_SOCKET, SCM_RIGHTS}};

/* Adds a message. Returns the bytes of input that it took. */
static size_t put_message(unsigned char *control, size_t *used, const uint8_t *data, size_t size)
{
    struct cmsghdr header;
    const size_t length = (size_t)data[1] << 8 | data[2];
    size_t have = size - 3 < DATA_MAX ? size - 3 : DATA_MAX;

    have = have < length ? have : length;
    memset(&header, 0, sizeof header);
    header.cmsg_level = kinds[data[0] % 4].level;
    header.cmsg_type = kinds[data[0] % 4].type;
    header.cmsg_len = (data[0] & 0x80 ? 0 : CMSG_LEN(0)) + length;
    memcpy(control + *used, &header, sizeof header);
    memcpy(control + *used + CMSG_LEN(0), data + 3, have);
    *used += CMSG_SPACE(have);
    return 3 + have;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _Alignas(struct cmsghdr) unsigned char control[CONTROL_MAX] = {0};
    struct attempt_result result, before;
    struct msghdr message = {.msg_control = control};
    size_t used = 0, at = 0;
    bool found;

    for (int i = 0; i < MESSAGES_MAX && size - at > 3; i++)
        at += put_message(control, &used, data + at, size - at);
    message.msg_controllen = used;
    memset(&before, 0, sizeof before);
    result = before;
    found = attempt_take_error(&message, &result);
    require(found == result.has_icmp);
    require(found || memcmp(&result, &before, sizeof result) == 0);
    if (result.offender.family != AF_UNSPEC)
        require_address(&result.offender, result.offender.family);
    return 0;
}
