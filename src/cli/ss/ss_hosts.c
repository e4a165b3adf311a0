/* SPDX-License-Identifier: MIT */
/* Addresses and ports in the filters of ss, for every family. A family before an address limits the
 * whole listing, and is the family of all later addresses, as in ss. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/form.h"
#include "cli/ss/ss_parser.h"
#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/layouts.h"
#include "fastnet/services.h"

enum { PORTS_MAX = 8, ADDRESSES_MAX = 64 };

/* The ports of a service, or one number. Count 0: any port. If sockets of other families are
 * listed, too, a number may be larger than a port, or negative. */
struct ports {
    int64_t ports[PORTS_MAX];
    size_t count;
};

static const struct {
    const char *prefix;
    uint8_t family;
} families[] = {
    {"inet:", AF_INET},   {"inet6:", AF_INET6},     {"unix:", AF_UNIX},
    {"link:", AF_PACKET}, {"netlink:", AF_NETLINK}, {"vsock:", AF_VSOCK},
};

/* Removes a family from the beginning of the text, and limits the listing to it. If the text names
 * no family, the last option for a family decides; -4 and -6 together mean both. */
static uint8_t ss_hosts_take_family(const struct ss_parser *parser, char **text)
{
    struct ss_selection *selection = parser->filter->selection;
    const uint64_t inet = ss_family(AF_INET) | ss_family(AF_INET6);
    uint8_t family = selection->families == inet ? AF_UNSPEC : selection->preferred;

    for (size_t i = 0; i < COUNT(families); i++) {
        const size_t length = strlen(families[i].prefix);
        if (strncmp(*text, families[i].prefix, length) == 0) {
            *text += length;
            family = families[i].family;
            break;
        }
    }
    if (family != AF_UNSPEC) {
        selection->families = ss_family(family);
        selection->preferred = family;
    }
    return family;
}

static const char one_port[] = "< <= > >= compare with one port only";

static bool is_inet(uint8_t family)
{
    return family == AF_UNSPEC || family == AF_INET || family == AF_INET6;
}

static bool is_any(const char *text)
{
    return !*text || strcmp(text, "*") == 0;
}

static const struct field *column(enum ss_end end, const char *local, const char *remote)
{
    return field_named(&kind_socket, end == SS_LOCAL ? local : remote);
}

/* Joins two conditions by and. If one is NULL, returns the other; if both are NULL, a condition
 * that is always true. Returns NULL after an error. */
static struct predicate *both(struct ss_parser *parser, struct predicate *one,
                              struct predicate *other)
{
    if (parser->filter->failed)
        return NULL;
    if (one && other)
        return parser_join(&parser->memory, PREDICATE_AND, one, other);
    if (!one && !other)
        return ss_constant(parser, true);
    return one ? one : other;
}

/* --- Ports of IP ------------------------------------------------------------------------------ */

static bool ss_hosts_compares(int64_t left, enum ss_token comparison, int64_t right)
{
    return comparison == SS_LESS       ? left < right
           : comparison == SS_AT_MOST  ? left <= right
           : comparison == SS_GREATER  ? left > right
           : comparison == SS_AT_LEAST ? left >= right
                                       : left == right;
}

/* Compares a number that a socket may lack; ss takes a missing number as 0. */
static struct predicate *ss_hosts_compare_signed(struct ss_parser *parser,
                                                 const struct field *field,
                                                 enum ss_token comparison, int64_t number)
{
    struct predicate *known = parser_add(&parser->memory, predicate_known(field));
    struct predicate *compared =
        number < 0 ? ss_constant(parser, ss_hosts_compares(0, comparison, number))
                   : ss_compare_number(parser, field, comparison, (uint64_t)number);

    if (number < 0 || !ss_hosts_compares(0, comparison, number))
        return compared;
    return parser_join(&parser->memory, PREDICATE_OR, compared,
                       parser_negate(&parser->memory, known));
}

/* Compares port numbers of netlink. Numbers from 2^31 on are negative, as they are shown. */
static struct predicate *compare_portid(struct ss_parser *parser, enum ss_token comparison,
                                        int64_t number)
{
    const struct field *field = field_named(&kind_socket, "portid");
    const bool less = comparison == SS_LESS || comparison == SS_AT_MOST;
    struct predicate *ordered, *sign;

    if (number < INT32_MIN || number > INT32_MAX)
        return ss_constant(parser, ss_hosts_compares(0, comparison, number));
    ordered = ss_compare_number(parser, field, comparison, (uint32_t)number);
    if (comparison == SS_EQUAL)
        return ordered;
    sign = ss_compare_number(parser, field, less ? SS_GREATER : SS_AT_MOST, INT32_MAX);
    return parser_join(&parser->memory, less == (number < 0) ? PREDICATE_AND : PREDICATE_OR,
                       ordered, sign);
}

/* The number that ss compares instead of a port. A field that is NULL: always 0 (netlink: -1). */
static const struct other_port {
    const char *name;
    uint8_t family;
    const char *fields[2]; /* local, remote */
} other_ports[] = {
    {"unix", AF_UNIX, {"inode", "peer_inode"}}, {"packet", AF_PACKET, {"interface", NULL}},
    {"netlink", AF_NETLINK, {"portid", NULL}},  {"vsock", AF_VSOCK, {"vsock_port", "peer_port"}},
    {"xdp", AF_XDP, {"queue_id", NULL}},
};

static struct predicate *compare_other(struct ss_parser *parser, const struct other_port *other,
                                       enum ss_end end, enum ss_token comparison, int64_t number)
{
    const bool netlink = other->family == AF_NETLINK;

    if (!other->fields[end])
        return ss_constant(parser, ss_hosts_compares(netlink ? -1 : 0, comparison, number));
    if (netlink)
        return compare_portid(parser, comparison, number);
    return ss_hosts_compare_signed(parser, field_named(&kind_socket, other->fields[end]),
                                   comparison, number);
}

/* Compares one port. As in ss, the listed sockets of other families are compared, too. */
static struct predicate *is_one_port(struct ss_parser *parser, enum ss_end end,
                                     enum ss_token comparison, int64_t number)
{
    const struct field *field = column(end, "local_port", "remote_port"),
                       *family = field_named(&kind_socket, "family");
    struct predicate *all = NULL;

    if (number >= 0)
        all = ss_compare_number(parser, field, comparison, (uint64_t)number);
    else if (ss_hosts_compares(0, comparison, number))
        all = parser_add(&parser->memory, predicate_known(field));
    for (size_t i = 0; i < COUNT(other_ports); i++) {
        const struct other_port *other = &other_ports[i];
        struct predicate *one;
        if (!(parser->filter->selection->families & ss_family(other->family)))
            continue;
        one = parser_join(&parser->memory, PREDICATE_AND,
                          parser_add(&parser->memory, predicate_text(family, other->name)),
                          compare_other(parser, other, end, comparison, number));
        all = all ? parser_join(&parser->memory, PREDICATE_OR, all, one) : one;
    }
    return all ? all : ss_constant(parser, false);
}

static bool ss_hosts_take_number(struct ss_parser *parser, const char *text, struct ports *ports)
{
    const bool others = parser->others || ss_lists_others(parser), negative = *text == '-';
    uint64_t number;

    if (!form_is_number(text + (others && negative), UINT64_MAX, &number))
        return false;
    if (number > (others ? UINT32_MAX : UINT16_MAX))
        ss_fail_value(parser, others ? "a port or an inode is a number below 2^32"
                                     : "a port is a number from 0 to 65535");
    else
        ports->ports[ports->count++] = negative ? -(int64_t)number : (int64_t)number;
    return true;
}

static bool parse_ports(struct ss_parser *parser, const char *text, struct ports *ports)
{
    const struct ss_selection *selection = parser->filter->selection;
    const bool tcp = ss_selects(selection, 1 << SS_TCP), udp = ss_selects(selection, 1 << SS_UDP);
    uint16_t found[PORTS_MAX];

    ports->count = 0;
    if (is_any(text))
        return true;
    if (ss_hosts_take_number(parser, text, ports))
        return ports->count > 0;
    /* only TCP and UDP have services, so without their tables no name is a service */
    ports->count = services_ports(NULL, text,
                                  tcp && udp ? "tcp udp"
                                  : tcp      ? "tcp"
                                  : udp      ? "udp"
                                             : "",
                                  found, COUNT(found));
    for (size_t i = 0; i < ports->count; i++)
        ports->ports[i] = found[i];
    if (!ports->count)
        ss_fail_value(parser, "no such port or service");
    return ports->count > 0;
}

/* Accepts each of these ports. Returns NULL for any port (also -1, as in ss), or without memory. */
static struct predicate *is_port(struct ss_parser *parser, enum ss_end end,
                                 const struct ports *ports)
{
    struct predicate *all = NULL;

    for (size_t i = 0; i < ports->count && ports->ports[i] != -1; i++) {
        struct predicate *one = is_one_port(parser, end, SS_EQUAL, ports->ports[i]);
        all = all ? parser_join(&parser->memory, PREDICATE_OR, all, one) : one;
    }
    return all;
}

static struct predicate *inet_port(struct ss_parser *parser, enum ss_end end,
                                   enum ss_token comparison, const char *text)
{
    struct ports ports;

    if (!parse_ports(parser, text, &ports))
        return NULL;
    if (comparison == SS_EQUAL)
        return both(parser, is_port(parser, end, &ports), NULL);
    if (!ports.count)
        return ss_fail_value(parser, one_port);
    if (ports.count > 1)
        return ss_fail_value(parser, "this service has several ports: type one of the numbers");
    return is_one_port(parser, end, comparison, ports.ports[0]);
}

/* --- Addresses of IP -------------------------------------------------------------------------- */

static const struct field *address_field(enum ss_end end)
{
    return column(end, "local_address", "remote_address");
}

/* Numbers, also hexadecimal numbers, are not names, even if a resolver accepts them. */
static bool may_be_name(const char *text)
{
    struct in_addr address;

    return text[strspn(text, "0123456789.")] && !strpbrk(text, "/:[]*") &&
           !inet_aton(text, &address);
}

/* Accepts each address of a host in the first family that has any, as in ss: IPv4 before IPv6. */
static struct predicate *is_host(struct ss_parser *parser, enum ss_end end, const char *name,
                                 uint8_t family)
{
    const struct ss_filter *filter = parser->filter;
    const uint8_t tried[] = {family == AF_UNSPEC ? AF_INET : family, AF_INET6};
    const size_t tries = family == AF_UNSPEC ? 2 : 1;
    struct address addresses[ADDRESSES_MAX];
    struct predicate *all = NULL;
    int count = -ENOENT;

    for (size_t i = 0; i < tries && may_be_name(name) && count <= 0 && count != -ETIMEDOUT; i++)
        count = filter->resolve(name, tried[i], filter->own_netns, HOSTS_MILLISECONDS, addresses,
                                COUNT(addresses));
    if (count == -ETIMEDOUT)
        return ss_fail_value(parser, "no name server answers");
    if (count <= 0)
        return ss_fail_value(parser,
                             family == AF_INET ? "not an IPv4 address, network or host name"
                             : family == AF_INET6
                                 ? "not an IPv6 address, network or host name"
                                 : "not an address, network or host name (IPv6 in brackets)");
    for (int i = 0; i < count; i++) {
        const struct network network = {addresses[i], (uint8_t)(8 * address_size(&addresses[i]))};
        struct predicate *one = ss_compare(parser, predicate_within(address_field(end), &network));
        all = all ? parser_join(&parser->memory, PREDICATE_OR, all, one) : one;
    }
    return all;
}

/* Parses an address or a host. Returns NULL for a text that means any address, or on error. */
static struct predicate *inet_address(struct ss_parser *parser, enum ss_end end, char *text,
                                      uint8_t family)
{
    struct predicate within;

    if (is_any(text) || text_among("default any all", text))
        return NULL;
    if (form_network(text, FORM_OF_SS, address_field(end), &within) &&
        (family == AF_UNSPEC || family == within.constant.address.family))
        return ss_compare(parser, within);
    return is_host(parser, end, text, family);
}

/* Cuts the port off the text: it comes after a ']', a '*' or the last colon; in a network the colon
 * must come after the slash. Returns the port, perhaps empty; NULL: a bracket is not closed. */
static char *cut_port(char **text)
{
    char *port = *text, *slash;

    if (*port == '[') {
        ++*text;
        port = strchr(*text, ']');
        if (!port)
            return NULL;
        *port++ = '\0';
        return port + (*port == ':');
    }
    if (*port == '*') {
        *port++ = '\0';
        return port + (*port == ':');
    }
    slash = strchr(port, '/');
    port = strrchr(slash ? slash : port, ':');
    if (!port)
        return *text + strlen(*text);
    *port = '\0';
    return port + 1;
}

/* Parses an address with its device, as ss shows it, although ss itself does not accept it. */
static struct predicate *host_with_device(struct ss_parser *parser, enum ss_end end,
                                          const char *text, uint8_t family)
{
    struct predicate *address, *device;
    struct form_end parts;
    struct ports ports;

    if (!form_end(text, &parts))
        return ss_fail_value(parser, "not an address, network or host name (IPv6 in brackets)");
    if (!parse_ports(parser, parts.port ? parts.port : "", &ports))
        return NULL;
    address = inet_address(parser, end, parts.address, family);
    device = parser->filter->failed ? NULL : ss_device(parser, parts.interface);
    return both(parser, both(parser, address, device), is_port(parser, end, &ports));
}

static struct predicate *inet_host(struct ss_parser *parser, enum ss_end end, char *text,
                                   uint8_t family)
{
    struct predicate *address, *port;
    struct ports ports;

    if (strchr(text, '%'))
        return host_with_device(parser, end, text, family);
    char *rest = cut_port(&text);
    if (!rest)
        return ss_fail_value(parser, "the bracket is not closed");
    if (!parse_ports(parser, rest, &ports))
        return NULL;
    address = inet_address(parser, end, text, family);
    port = is_port(parser, end, &ports);
    return both(parser, address, port);
}

/* --- Other families --------------------------------------------------------------------------- */

/* Compares the name of a unix socket. As in ss, the other end's name counts as empty. */
static struct predicate *ss_hosts_unix_name(struct ss_parser *parser, enum ss_end end,
                                            const char *pattern)
{
    struct predicate glob = predicate_text(field_named(&kind_socket, "path"), pattern);

    if (end == SS_REMOTE)
        return ss_constant(parser, !pattern[strspn(pattern, "*")]);
    glob.operation = PREDICATE_GLOB;
    return ss_compare(parser, glob);
}

/* Compares the interface of a packet socket; 0: no interface. As in ss, the other end has 0. */
static struct predicate *link_port(struct ss_parser *parser, enum ss_end end,
                                   enum ss_token comparison, const char *text)
{
    const struct field *field = field_named(&kind_socket, "interface");
    uint64_t number;
    uint32_t index;

    if (end == SS_LOCAL && comparison == SS_EQUAL && parser->filter->foreign &&
        !form_is_number(text, UINT32_MAX, &number))
        return ss_compare(parser, predicate_text(field, text));
    if (!ss_interface(parser, text, &index))
        return NULL;
    if (end == SS_REMOTE)
        return ss_constant(parser, ss_hosts_compares(0, comparison, index));
    return ss_hosts_compare_signed(parser, field, comparison, index);
}

/* Compares ports of netlink. As in ss, the other end has port -1, and -1 means any port. */
static struct predicate *netlink_port(struct ss_parser *parser, enum ss_end end,
                                      enum ss_token comparison, const char *text)
{
    uint32_t port = 0;
    const char *rest = ss_signed_number(text, &port);

    if (strcmp(text, "kernel") != 0 && (!rest || *rest))
        return ss_fail_value(parser, "a netlink port is a number or kernel");
    if (comparison == SS_EQUAL && *text == '-' && port == UINT32_MAX)
        return NULL;
    if (end == SS_REMOTE)
        return ss_constant(parser, ss_hosts_compares(-1, comparison, (int32_t)port));
    return compare_portid(parser, comparison, (int32_t)port);
}

static const char no_protocol[] = "there is no such protocol";
static const char no_vsock[] = "a vsock address is CID:PORT, two numbers";

static struct predicate *vsock_port(struct ss_parser *parser, enum ss_end end,
                                    enum ss_token comparison, const char *text)
{
    uint64_t number;

    if (!form_is_number(text, UINT32_MAX, &number))
        return ss_fail_value(parser, no_vsock);
    return ss_compare_number(parser, column(end, "vsock_port", "peer_port"), comparison, number);
}

/* Addresses with two parts: a protocol or the CID of a vsock, and a port. */
static const struct two_parts {
    uint8_t family;
    const char *first[2];           /* columns, local and remote; NULL: always 0, as in ss */
    int (*named)(const char *name); /* returns the number of a name, or -1; may be NULL */
    uint64_t most;
    const char *wrong; /* message about a wrong first part */
    struct predicate *(*port)(struct ss_parser *parser, enum ss_end end, enum ss_token comparison,
                              const char *text);
} two_parts[] = {
    {AF_PACKET, {"ether_protocol"}, ss_ether_protocol, UINT16_MAX, no_protocol, link_port},
    {AF_NETLINK, {"netlink_protocol"}, ss_netlink_protocol, UINT8_MAX, no_protocol, netlink_port},
    {AF_VSOCK, {"cid", "peer_cid"}, NULL, UINT32_MAX, no_vsock, vsock_port},
};

/* Returns NULL, after a message, if sockets of the family cannot be compared by addresses. */
static const struct two_parts *find_parts(struct ss_parser *parser, uint8_t family)
{
    for (size_t i = 0; i < COUNT(two_parts); i++)
        if (two_parts[i].family == family)
            return &two_parts[i];
    ss_fail_value(parser, "XDP and TIPC sockets cannot be compared by addresses");
    return NULL;
}

/* Parses the first part. Returns NULL for a text that means any value, or after an error. */
static struct predicate *first_part(struct ss_parser *parser, enum ss_end end,
                                    const struct two_parts *parts, const char *text)
{
    uint64_t number;

    if (is_any(text))
        return NULL;
    const int named = parts->named ? parts->named(text) : -1;
    if (named < 0 && !form_is_number(text, parts->most, &number))
        return ss_fail_value(parser, parts->wrong);
    number = named < 0 ? number : (uint64_t)named;
    if (!parts->first[end])
        return ss_constant(parser, number == 0);
    return ss_compare_number(parser, field_named(&kind_socket, parts->first[end]), SS_EQUAL,
                             number);
}

/* Parses the port. Returns NULL for a text that means any port, or after an error. */
static struct predicate *second_part(struct ss_parser *parser, enum ss_end end,
                                     const struct two_parts *parts, enum ss_token comparison,
                                     const char *text)
{
    if (!is_any(text))
        return parts->port(parser, end, comparison, text);
    return comparison == SS_EQUAL ? NULL : ss_fail_value(parser, one_port);
}

/* --- Conditions ------------------------------------------------------------------------------- */

struct predicate *ss_host(struct ss_parser *parser, enum ss_end end, char *text)
{
    const uint8_t family = ss_hosts_take_family(parser, &text);
    const struct two_parts *parts;
    struct predicate *second;

    if (is_inet(family))
        return inet_host(parser, end, text, family);
    if (family == AF_UNIX)
        return ss_hosts_unix_name(parser, end, text);
    parts = find_parts(parser, family);
    if (!parts)
        return NULL;
    char *rest = text + strcspn(text, ":");
    if (*rest)
        *rest++ = '\0';
    second = second_part(parser, end, parts, SS_EQUAL, rest);
    return both(parser, first_part(parser, end, parts, text), second);
}

struct predicate *ss_port(struct ss_parser *parser, enum ss_end end, enum ss_token comparison,
                          char *text)
{
    const uint8_t family = ss_hosts_take_family(parser, &text);
    const struct two_parts *parts;

    text += *text == ':';
    if (is_inet(family))
        return inet_port(parser, end, comparison, text);
    if (family == AF_UNIX && comparison == SS_EQUAL) /* in ss, this compares names */
        return ss_hosts_unix_name(parser, end, text);
    if (family == AF_UNIX)
        return ss_fail_value(parser, "unix sockets have no ports (src compares their names)");
    parts = find_parts(parser, family);
    return parts ? both(parser, second_part(parser, end, parts, comparison, text), NULL) : NULL;
}
