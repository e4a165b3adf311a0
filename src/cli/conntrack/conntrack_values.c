/* SPDX-License-Identifier: MIT */
#include "cli/conntrack/conntrack_parsing.h"

#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#include "cli/form.h"
#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/rights.h"

int conntrack_words(const char *list, int (*fn)(const char *word, size_t length, void *arg),
                    void *arg)
{
    int result = 0;

    for (struct text word; !result && text_next(&list, ',', &word);)
        result = fn(word.data, word.length, arg);
    return result;
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
    if (result.has_address && !form_address(address, length, FORM_OF_CONNTRACK, &result.address))
        return -EINVAL;
    if (port && !form_is_number(port, UINT16_MAX, &number))
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

    if (known < 0 && !form_is_number(text, UINT8_MAX, &number)) {
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
    uint64_t value, bits = UINT32_MAX;
    const char *end = form_number(text, UINT32_MAX, &value);

    if (!end || end - text >= 32 ||
        (*end && (*end != '/' || !form_is_number(end + 1, UINT32_MAX, &bits))))
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
