/* SPDX-License-Identifier: MIT */
/*
 * Recorded dumps are of a little-endian machine with 64 bits. Headers and values are numbers of
 * that machine, so on another one they are turned around. What the network's protocols define
 * stays.
 */
#include <endian.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/kernel_abi.h"
#include "kit.h"

enum { HEADER = -1 };

/* The number of the family "netdev" in the recorded dumps. */
enum { RECORDED_NETDEV = 20 };

/*
 * What a header behind struct nlmsghdr, or an attribute, consists of: how many bytes (b), and
 * numbers of 16 (h), 32 (w) and 64 bits (q). Any other attribute is bytes.
 */
static const struct form {
    uint16_t type;
    uint8_t family; /* AF_UNSPEC: any */
    int attribute;
    const char *numbers;
} forms[] = {
    {NLMSG_DONE, AF_UNSPEC, HEADER, "1w"},
    {NLMSG_ERROR, AF_UNSPEC, HEADER, "2w2h2w"},
    {SOCK_DIAG_BY_FAMILY, AF_UNIX, HEADER, "4b3w"},
    {SOCK_DIAG_BY_FAMILY, AF_UNIX, UNIX_DIAG_RQLEN, "2w"},
    {SOCK_DIAG_BY_FAMILY, AF_UNIX, UNIX_DIAG_UID, "1w"},
    {SOCK_DIAG_BY_FAMILY, AF_UNSPEC, HEADER, "40b8w"},
    {SOCK_DIAG_BY_FAMILY, AF_UNSPEC, INET_DIAG_INFO, "8b24w4q6w4q2w2q6w2h9999w"},
    {SOCK_DIAG_BY_FAMILY, AF_UNSPEC, INET_DIAG_MARK, "1w"},
    {SOCK_DIAG_BY_FAMILY, AF_UNSPEC, INET_DIAG_CGROUP_ID, "1q"},
    {RTM_NEWNEIGH, AF_UNSPEC, HEADER, "4b1w1h2b"},
    {RTM_NEWNEIGH, AF_UNSPEC, NDA_CACHEINFO, "4w"},
    {RTM_NEWNEIGH, AF_UNSPEC, NDA_PROBES, "1w"},
    {RTM_NEWNEIGH, AF_UNSPEC, NDA_FLAGS_EXT, "1w"},
    {RTM_NEWQDISC, AF_UNSPEC, HEADER, "4b4w"},
    {RTM_NEWQDISC, AF_UNSPEC, TCA_STATS2, "2h1q2w2h5w"}, /* with the headers of two attributes */
    {GENL_ID_CTRL, AF_UNSPEC, CTRL_ATTR_FAMILY_ID, "1h"},
    {RECORDED_NETDEV, AF_UNSPEC, QSTATS_IFINDEX, "1w"},
    {RECORDED_NETDEV, AF_UNSPEC, QSTATS_QUEUE_TYPE, "1w"},
    {RECORDED_NETDEV, AF_UNSPEC, QSTATS_QUEUE_ID, "1w"},
    {RECORDED_NETDEV, AF_UNSPEC, NIC_QUEUE_NAPI, "1w"},
    {RECORDED_NETDEV, AF_UNSPEC, QSTATS_RX_PACKETS, "1w"},
    {RECORDED_NETDEV, AF_UNSPEC, QSTATS_RX_BYTES, "1q"},
    {RECORDED_NETDEV, AF_UNSPEC, QSTATS_TX_PACKETS, "1w"},
    {RECORDED_NETDEV, AF_UNSPEC, QSTATS_TX_BYTES, "1w"},
    {NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW, AF_UNSPEC, CTA_LABELS, "2q"},
};

static const char *numbers_of(uint16_t type, uint8_t family, int attribute)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].type == type && forms[i].attribute == attribute &&
            (forms[i].family == family || forms[i].family == AF_UNSPEC))
            return forms[i].numbers;
    return attribute == HEADER ? "4b" : ""; /* struct nfgenmsg */
}

static void turn(char *data, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        const char first = data[i];
        data[i] = data[size - 1 - i];
        data[size - 1 - i] = first;
    }
}

/* Returns how many bytes the numbers take. */
static size_t turn_numbers(char *data, size_t length, const char *numbers)
{
    size_t at = 0;

    while (*numbers) {
        char *letter;
        const unsigned long count = strtoul(numbers, &letter, 10);
        const size_t size = *letter == 'q' ? 8 : *letter == 'w' ? 4 : *letter == 'h' ? 2 : 1;
        for (unsigned long i = 0; i < count && at + size <= length; i++, at += size)
            turn(data + at, size);
        numbers = letter + 1;
    }
    return at;
}

static void turn_attributes(char *data, size_t length, uint16_t type, uint8_t family, bool inner)
{
    struct nlattr attribute;

    for (size_t at = 0; at + sizeof attribute <= length;
         at += (size_t)NLA_ALIGN(attribute.nla_len)) {
        turn_numbers(data + at, sizeof attribute, "2h");
        memcpy(&attribute, data + at, sizeof attribute);
        char *value = data + at + sizeof attribute;
        const size_t size = attribute.nla_len - sizeof attribute;
        const int number = attribute.nla_type & NLA_TYPE_MASK;
        if (attribute.nla_type & NLA_F_NESTED)
            turn_attributes(value, size, type, family, true);
        else if (!inner)
            turn_numbers(value, size, numbers_of(type, family, number));
    }
}

void recorded_turn(char *data, size_t length)
{
    struct nlmsghdr header;

    if (BYTE_ORDER == LITTLE_ENDIAN)
        return;
    for (size_t at = 0; at + sizeof header <= length; at += NLMSG_ALIGN(header.nlmsg_len)) {
        turn_numbers(data + at, sizeof header, "1w2h2w");
        memcpy(&header, data + at, sizeof header);
        char *payload = data + at + sizeof header;
        const size_t size = header.nlmsg_len - sizeof header;
        const uint8_t family = (uint8_t)*payload;
        const size_t taken =
            turn_numbers(payload, size, numbers_of(header.nlmsg_type, family, HEADER));
        if (header.nlmsg_type >= NLMSG_MIN_TYPE)
            turn_attributes(payload + taken, size - taken, header.nlmsg_type, family, false);
    }
}
