#include "cli/conntrack/conntrack_values.h"

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

/* The first word that begins so, whatever the case; -1 when there is none. */
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
static int parse_address(const char *text, size_t length, uint8_t *family, uint8_t address[16])
{
    char copy[ADDRESS_TEXT_MAX];
    struct in_addr ipv4;

    if (length >= sizeof copy)
        return -EINVAL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    memset(address, 0, 16);
    if (length && !strpbrk(copy, " \t") && inet_aton(copy, &ipv4)) {
        memcpy(address, &ipv4, sizeof ipv4);
        *family = AF_INET;
        return 0;
    }
    if (inet_pton(AF_INET6, copy, address) != 1)
        return -EINVAL;
    *family = AF_INET6;
    return 0;
}

static void set_mask(struct flow_network *network, unsigned prefix)
{
    for (size_t i = 0; i < sizeof network->mask; i++) {
        const unsigned bits = prefix > 8 ? 8 : prefix;
        network->mask[i] = (uint8_t)(0xff00 >> bits);
        network->network[i] &= network->mask[i];
        prefix -= bits;
    }
}

/* Decimal, whatever it begins with. */
static int parse_prefix(const char *text, uint64_t most, uint64_t *prefix)
{
    while (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        text++;
    return strpbrk(text, "xX") ? -EINVAL : conntrack_number(text, most, prefix);
}

int conntrack_network(const char *text, uint8_t *family, struct flow_network *network)
{
    const size_t length = strcspn(text, "/");
    struct flow_network result;
    uint8_t result_family;
    uint64_t prefix, most;

    if (parse_address(text, length, &result_family, result.network) < 0)
        return -EINVAL;
    prefix = most = result_family == AF_INET ? 32 : 128;
    if (text[length] && parse_prefix(text + length + 1, most, &prefix) < 0)
        return -EINVAL;
    set_mask(&result, (unsigned)prefix);
    *family = result_family;
    *network = result;
    return 0;
}

/* What stands before the port: between brackets, up to the only colon, or all of it. */
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

int conntrack_nat(const char *text, uint8_t *family, struct flow_nat *nat)
{
    struct flow_nat result = {0};
    const char *address, *port;
    uint8_t result_family = *family;
    uint64_t number = 0;
    size_t length;

    if (split_port(text, &address, &length, &port) < 0)
        return -EINVAL;
    result.has_address = length || !port;
    result.has_port = port;
    if (result.has_address && parse_address(address, length, &result_family, result.address) < 0)
        return -EINVAL;
    if (port && conntrack_number(port, UINT16_MAX, &number) < 0)
        return -EINVAL;
    result.port = (uint16_t)number;
    *family = result_family;
    *nat = result;
    return 0;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* Whoever was lent rights by the program's file shall not run what nsswitch.conf(5) names. */
static int protocol_by_name(const char *text, uint8_t *protocol)
{
    const struct protoent *entry = rights_elevated() ? NULL : getprotobyname(text);

    if (!entry || entry->p_proto < 0 || entry->p_proto > UINT8_MAX)
        return -EINVAL;
    *protocol = (uint8_t)entry->p_proto;
    return 0;
}

int conntrack_protocol(const char *text, uint8_t *protocol)
{
    uint64_t number;

    for (unsigned i = 0; i <= UINT8_MAX; i++) {
        const struct text name = flow_protocol_name((uint8_t)i);
        if (name.data && strlen(text) == name.length &&
            strncasecmp(text, name.data, name.length) == 0) {
            *protocol = (uint8_t)i;
            return 0;
        }
    }
    if (conntrack_number(text, UINT8_MAX, &number) == 0) {
        *protocol = (uint8_t)number;
        return 0;
    }
    return protocol_by_name(text, protocol);
}

int conntrack_state(const char *text, uint8_t protocol, uint8_t *state)
{
    for (unsigned i = 0; i < UINT8_MAX; i++) {
        const struct text name = flow_state_name(protocol, (uint8_t)i);
        if (name.data && strlen(text) == name.length &&
            strncasecmp(text, name.data, name.length) == 0) {
            *state = (uint8_t)i;
            return 0;
        }
    }
    /* what SYN_SENT2 was before Linux 2.6.31 */
    return protocol == IPPROTO_TCP && strcasecmp(text, "LISTEN") == 0
               ? conntrack_state("SYN_SENT2", protocol, state)
               : -EINVAL;
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
    static const char *const words[] = {"ASSURED",       "SEEN_REPLY", "UNSET",
                                        "FIXED_TIMEOUT", "EXPECTED",   "OFFLOAD",
                                        "HW_OFFLOAD",    "SRC_NAT",    "DST_NAT"};
    static const uint32_t bits[] = {IPS_ASSURED,       IPS_SEEN_REPLY, 0,
                                    IPS_FIXED_TIMEOUT, IPS_EXPECTED,   IPS_OFFLOAD,
                                    IPS_HW_OFFLOAD,    IPS_SRC_NAT,    IPS_DST_NAT};
    const int found = find_word(words, COUNT(words), word, length);

    if (found < 0)
        return -EINVAL;
    *bit = bits[found];
    return 0;
}

int conntrack_event(const char *word, size_t length, unsigned *kinds)
{
    enum { NEW = 1 << FLOW_NEW, UPDATE = 1 << FLOW_UPDATE, DESTROY = 1 << FLOW_DESTROY };
    static const char *const words[] = {"ALL", "NEW", "UPDATES", "DESTROY"};
    static const unsigned bits[] = {NEW | UPDATE | DESTROY, NEW, UPDATE, DESTROY};
    const int found = find_word(words, COUNT(words), word, length);

    if (found < 0)
        return -EINVAL;
    *kinds |= bits[found];
    return 0;
}

int conntrack_output(const char *word, size_t length, struct conntrack_layout *layout)
{
    static const char *const words[] = {"xml",        "extended", "timestamp", "id",
                                        "ktimestamp", "labels",   "userspace", "save"};
    bool ignored = false; /* who made a change is always shown */
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
