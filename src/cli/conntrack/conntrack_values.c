#include "cli/conntrack/conntrack_parsing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/rights.h"

int conntrack_number(const char *text, uint64_t max, uint64_t *number)
{
    unsigned long long value;
    char *end;

    if (*text < '0' || *text > '9') /* strtoull(3) takes blanks and signs */
        return -EINVAL;
    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno || *end || value > max)
        return -EINVAL;
    *number = value;
    return 0;
}

int conntrack_words(const char *list, int (*fn)(const char *word, size_t length, void *arg),
                    void *arg)
{
    for (;;) {
        const size_t length = strcspn(list, ",");
        const int result = fn(list, length, arg);
        if (result || !list[length])
            return result;
        list += length + 1;
    }
}

/* The first of the words that begins with this one, in any case of letters; -1: none. */
static int find_word(const char *const *words, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count && length; i++)
        if (strncasecmp(words[i], word, length) == 0)
            return (int)i;
    return -1;
}

/* --- Addresses -------------------------------------------------------------------------------- */

enum { ADDRESS_TEXT_MAX = INET6_ADDRSTRLEN + 1 };

/* As inet_aton(3) for IPv4: 10.1 is 10.0.0.1. */
static int parse_address(const char *text, size_t length, struct address *address)
{
    char copy[ADDRESS_TEXT_MAX];
    struct in_addr ipv4;

    if (length >= sizeof copy)
        return -EINVAL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *address = (struct address){.family = AF_INET6};
    if (length && !strpbrk(copy, " \t") && inet_aton(copy, &ipv4)) {
        *address = address_make(AF_INET, &ipv4);
        return 0;
    }
    return inet_pton(AF_INET6, copy, address->bytes) == 1 ? 0 : -EINVAL;
}

/* Decimal, also with zeroes in front. */
static int parse_prefix(const char *text, uint64_t most, uint64_t *prefix)
{
    while (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        text++;
    return strpbrk(text, "xX") ? -EINVAL : conntrack_number(text, most, prefix);
}

int conntrack_network(const char *text, struct predicate *within)
{
    const size_t length = strcspn(text, "/");
    struct address address;
    uint64_t prefix, most;

    if (parse_address(text, length, &address) < 0)
        return -EINVAL;
    prefix = most = 8 * address_size(&address);
    if (text[length] && parse_prefix(text + length + 1, most, &prefix) < 0)
        return -EINVAL;
    *within = predicate_within(NULL, &(struct network){address, (uint8_t)prefix});
    return 0;
}

/* The address is between brackets, or before the only colon, or all of the text. */
static int split_port(const char *text, const char **address, size_t *length, const char **port)
{
    const char *end;

    if (*text == '[') {
        end = strchr(text, ']');
        if (!end || end == text + 1 || (end[1] && end[1] != ':'))
            return -EINVAL;
        *address = text + 1;
        *length = (size_t)(end - text) - 1;
        *port = end[1] ? end + 2 : NULL;
        return 0;
    }
    end = strchr(text, ':');
    if (end && strchr(end + 1, ':'))
        end = NULL; /* IPv6 without brackets has no port */
    *address = text;
    *length = end ? (size_t)(end - text) : strlen(text);
    *port = end ? end + 1 : NULL;
    return 0;
}

int conntrack_nat(const char *text, struct conntrack_nat *nat)
{
    struct conntrack_nat result = {.has_address = false};
    const char *address, *port;
    uint64_t number = 0;
    size_t length;

    if (split_port(text, &address, &length, &port) < 0)
        return -EINVAL;
    result.has_address = length || !port;
    result.has_port = port;
    if (result.has_address && parse_address(address, length, &result.address) < 0)
        return -EINVAL;
    if (port && conntrack_number(port, UINT16_MAX, &number) < 0)
        return -EINVAL;
    result.port = (uint16_t)number;
    *nat = result;
    return 0;
}

/* --- Names ------------------------------------------------------------------------------------ */

int conntrack_protocol(const char *text, uint8_t *protocol)
{
    const int known = flow_protocol_number(text, strlen(text));
    uint64_t number = (uint64_t)known;

    if (known < 0 && conntrack_number(text, UINT8_MAX, &number) < 0) {
        /* with rights lent by the program's file, nothing that nsswitch.conf(5) names may run */
        const struct protoent *entry = rights_elevated() ? NULL : getprotobyname(text);
        if (!entry || entry->p_proto < 0 || entry->p_proto > UINT8_MAX)
            return -EINVAL;
        number = (uint64_t)entry->p_proto;
    }
    *protocol = (uint8_t)number;
    return 0;
}

int conntrack_state(const char *text, uint8_t protocol, uint8_t *state)
{
    /* the name of SYN_SENT2 before Linux 2.6.31 */
    const bool listen = protocol == IPPROTO_TCP && strcasecmp(text, "LISTEN") == 0;
    const char *name = listen ? "SYN_SENT2" : text;
    const int number = flow_state_number(protocol, name, strlen(name));

    if (number < 0)
        return -EINVAL;
    *state = (uint8_t)number;
    return 0;
}

int conntrack_mark(const char *text, uint32_t *mark, uint32_t *mask)
{
    char copy[32];
    const size_t length = strcspn(text, "/");
    uint64_t value, bits = UINT32_MAX;

    if (length >= sizeof copy)
        return -EINVAL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (conntrack_number(copy, UINT32_MAX, &value) < 0 ||
        (text[length] && conntrack_number(text + length + 1, UINT32_MAX, &bits) < 0))
        return -EINVAL;
    *mark = (uint32_t)value;
    *mask = (uint32_t)bits;
    return 0;
}

int conntrack_status(const char *word, size_t length, uint32_t *bit)
{
    /* of the kernel's bits those that conntrack's -u takes, and UNSET */
    static const uint32_t taken = IPS_EXPECTED | IPS_SEEN_REPLY | IPS_ASSURED | IPS_SRC_NAT |
                                  IPS_DST_NAT | IPS_FIXED_TIMEOUT | IPS_OFFLOAD | IPS_HW_OFFLOAD;
    static const char *const unset = "UNSET";

    for (size_t i = 0; i < flow_status_names.count; i++)
        if (taken >> i & 1 && find_word(&flow_status_names.names[i], 1, word, length) == 0) {
            *bit = UINT32_C(1) << i;
            return 0;
        }
    if (find_word(&unset, 1, word, length) < 0)
        return -EINVAL;
    *bit = 0;
    return 0;
}

int conntrack_event(const char *word, size_t length, void *kinds)
{
    enum { NEW = 1 << FLOW_NEW, UPDATE = 1 << FLOW_UPDATE, DESTROY = 1 << FLOW_DESTROY };
    static const char *const words[] = {"ALL", "NEW", "UPDATES", "DESTROY"};
    static const unsigned bits[] = {NEW | UPDATE | DESTROY, NEW, UPDATE, DESTROY};
    const int found = find_word(words, COUNT(words), word, length);

    if (found < 0)
        return -EINVAL;
    *(unsigned *)kinds |= bits[found];
    return 0;
}

int conntrack_output(const char *word, size_t length, void *arg)
{
    struct conntrack_layout *layout = arg;
    static const char *const words[] = {"xml",        "extended", "timestamp", "id",
                                        "ktimestamp", "labels",   "userspace", "save"};
    bool ignored = false; /* userspace: the sender of a change is always shown */
    bool *const flags[] = {&layout->xml, &layout->extended,   &layout->timestamp,
                           &layout->id,  &layout->ktimestamp, &layout->labels,
                           &ignored,     &layout->save};
    const int found = find_word(words, COUNT(words), word, length);

    if (found < 0)
        return -EINVAL;
    *flags[found] = true;
    return 0;
}

int conntrack_table(const char *text, enum conntrack_table *table)
{
    static const char *const names[] = {"expect", "conntrack", "dying", "unconfirmed"};
    static const enum conntrack_table tables[] = {TABLE_EXPECT, TABLE_CONNTRACK, TABLE_DYING,
                                                  TABLE_UNCONFIRMED};

    for (size_t i = 0; i < COUNT(names); i++)
        if (strncmp(names[i], text, strlen(text)) == 0) {
            *table = tables[i];
            return 0;
        }
    return -EINVAL;
}
