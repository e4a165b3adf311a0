/*
 * Addresses and ports in filters, of every family. In front of an address its family may stand,
 * which then limits the whole listing and is that of the addresses behind it, as in ss.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "cli/ss/ss_parser.h"
#include "fastnet/array.h"
#include "fastnet/lookup.h"

enum { PORTS_MAX = 8, ADDRESSES_MAX = 64 };

/* Ports of a service, or one number. None: any port. */
struct ports {
    uint16_t ports[PORTS_MAX];
    size_t count;
};

static const struct family {
    const char *prefix;
    uint8_t family;
} families[] = {
    {"inet:", AF_INET},   {"inet6:", AF_INET6},     {"unix:", AF_UNIX},
    {"link:", AF_PACKET}, {"netlink:", AF_NETLINK}, {"vsock:", AF_VSOCK},
};

/* Takes the family away from the text; without one it is that of the option that came last. */
static uint8_t take_family(const struct ss_parser *parser, char **text)
{
    for (size_t i = 0; i < COUNT(families); i++) {
        const size_t length = strlen(families[i].prefix);
        if (strncmp(*text, families[i].prefix, length) == 0) {
            *text += length;
            return families[i].family;
        }
    }
    return parser->filter->selection->preferred;
}

static bool is_any(const char *text)
{
    return !*text || strcmp(text, "*") == 0;
}

/* A number of C, all of the text. */
static bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoul(text, &end, 0);
    return !errno && !*end && *number <= max;
}

/* Both must hold; NULL is a part that is not asked for, unless something went wrong. */
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

/* Services are those of TCP and UDP: without these tables there are none. */
static const char *protocols_of(const struct ss_parser *parser)
{
    const struct ss_selection *selection = parser->filter->selection;
    const bool tcp = ss_selects(selection, 1 << SS_TCP), udp = ss_selects(selection, 1 << SS_UDP);

    return tcp && udp ? "tcp udp" : tcp ? "tcp" : udp ? "udp" : "";
}

static bool parse_ports(struct ss_parser *parser, const char *text, struct ports *ports)
{
    uint64_t number;

    ports->count = 0;
    if (is_any(text))
        return true;
    if (parse_number(text, UINT64_MAX, &number)) {
        if (number > UINT16_MAX) {
            ss_fail_value(parser, "a port is a number from 0 to 65535");
            return false;
        }
        ports->ports[ports->count++] = (uint16_t)number;
        return true;
    }
    ports->count =
        services_ports(NULL, text, protocols_of(parser), ports->ports, COUNT(ports->ports));
    if (!ports->count)
        ss_fail_value(parser, "no such port or service");
    return ports->count > 0;
}

static const struct field *port_field(struct ss_parser *parser, enum ss_end end)
{
    return ss_column(parser, end == SS_LOCAL ? "local_port" : "remote_port");
}

/* One of them; NULL: any, or out of memory. */
static struct predicate *is_port(struct ss_parser *parser, enum ss_end end,
                                 const struct ports *ports)
{
    const struct field *field = port_field(parser, end);
    struct predicate *all = NULL;

    for (size_t i = 0; i < ports->count && field; i++) {
        struct predicate *one = ss_compare(parser, predicate_number(field, ports->ports[i]));
        all = all ? parser_join(&parser->memory, PREDICATE_OR, all, one) : one;
    }
    return all;
}

/* At or above is the opposite of below. Where there is no port, neither holds. */
static struct predicate *compare_port(struct ss_parser *parser, enum ss_end end,
                                      enum ss_token comparison, uint16_t port)
{
    const struct field *field = port_field(parser, end);
    struct predicate order;

    if (!field)
        return NULL;
    order = predicate_number(field, port);
    order.operation =
        comparison == SS_LESS || comparison == SS_AT_LEAST ? PREDICATE_BELOW : PREDICATE_ABOVE;
    if (comparison == SS_LESS || comparison == SS_GREATER)
        return ss_compare(parser, order);
    return ss_of_known(parser, field,
                       parser_negate(&parser->memory, parser_add(&parser->memory, order)));
}

static struct predicate *inet_port(struct ss_parser *parser, enum ss_end end,
                                   enum ss_token comparison, const char *text)
{
    struct ports ports;

    if (!parse_ports(parser, text, &ports))
        return NULL;
    if (comparison == SS_EQUAL || comparison == SS_NOT_EQUAL) {
        struct predicate *port = is_port(parser, end, &ports);
        return both(parser, port, NULL);
    }
    if (!ports.count)
        return ss_fail_value(parser, "only one port can be compared by order");
    if (ports.count > 1)
        return ss_fail_value(parser, "this service has several ports");
    return compare_port(parser, end, comparison, ports.ports[0]);
}

/* --- Addresses of IP -------------------------------------------------------------------------- */

/* One to four parts, each a number of C; what is missing is 0. */
static bool parse_ipv4(const char *text, uint8_t bytes[4])
{
    memset(bytes, 0, 4);
    for (size_t i = 0; i < 4; i++) {
        unsigned long part;
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        part = strtoul(text, &end, 0);
        if (part > UINT8_MAX)
            return false;
        bytes[i] = (uint8_t)part;
        if (!*end)
            return true;
        if (*end != '.')
            return false;
        text = end + 1;
    }
    return false;
}

/* A length, or for IPv4 a mask of leading ones. */
static bool parse_prefix(const char *text, uint64_t bits, uint8_t *prefix)
{
    uint64_t number;
    uint8_t mask[4];

    if (parse_number(text, UINT64_MAX, &number)) {
        *prefix = (uint8_t)number;
        return number <= bits;
    }
    if (!parse_ipv4(text, mask))
        return false;
    for (*prefix = 0; *prefix < 32 && mask[*prefix / 8] & 0x80 >> *prefix % 8;)
        ++*prefix;
    for (unsigned bit = *prefix; bit < 32; bit++)
        if (mask[bit / 8] & 0x80 >> bit % 8)
            return false;
    return true;
}

/* ADDRESS or ADDRESS/PREFIX. */
static bool parse_network(char *text, uint8_t family, struct network *network)
{
    char *slash = strchr(text, '/');
    uint8_t bytes[16];
    bool known;

    if (slash)
        *slash = '\0';
    network->address.family = strchr(text, ':') ? AF_INET6 : AF_INET;
    known = network->address.family == AF_INET ? parse_ipv4(text, bytes)
                                               : inet_pton(AF_INET6, text, bytes) == 1;
    if (slash)
        *slash = '/';
    if (!known || (family != AF_UNSPEC && family != network->address.family))
        return false;
    network->address = address_make(network->address.family, bytes);
    network->prefix = (uint8_t)(8 * address_size(&network->address));
    return !slash || parse_prefix(slash + 1, network->prefix, &network->prefix);
}

/* Bits of the address behind the length do not count. */
static struct predicate within(const struct field *field, const struct network *network)
{
    struct predicate within = {.operation = PREDICATE_WITHIN,
                               .field = field,
                               .constant = {.type = VALUE_ADDRESS, .address = network->address}};
    struct address *address = &within.constant.address;

    for (size_t i = 0; i < address_size(address); i++) {
        const size_t bits = network->prefix > 8 * i ? network->prefix - 8 * i : 0;
        within.mask.address[i] = bits >= 8 ? 0xff : (uint8_t)(0xff00 >> bits);
        address->bytes[i] &= within.mask.address[i];
    }
    return within;
}

static struct predicate *is_within(struct ss_parser *parser, enum ss_end end,
                                   const struct network *network)
{
    const struct field *field =
        ss_column(parser, end == SS_LOCAL ? "local_address" : "remote_address");

    return field ? ss_compare(parser, within(field, network)) : NULL;
}

/* Digits and dots are no name, whatever a resolver makes of them. */
static bool may_be_name(const char *text)
{
    return text[strspn(text, "0123456789.")] && !strpbrk(text, "/:[]*");
}

static struct predicate *is_host(struct ss_parser *parser, enum ss_end end, const char *name,
                                 uint8_t family)
{
    struct address addresses[ADDRESSES_MAX];
    struct predicate *all = NULL;
    int count = -ENOENT;

    if (may_be_name(name))
        count =
            parser->filter->resolve(name, family, HOSTS_MILLISECONDS, addresses, COUNT(addresses));
    if (count == -ETIMEDOUT)
        return ss_fail_value(parser, "no name server answers");
    if (count <= 0)
        return ss_fail_value(parser, family == AF_INET    ? "no IPv4 address, network or host"
                                     : family == AF_INET6 ? "no IPv6 address, network or host"
                                                          : "no address, network or host "
                                                            "(IPv6 in brackets)");
    for (int i = 0; i < count; i++) {
        const struct network network = {addresses[i], (uint8_t)(8 * address_size(&addresses[i]))};
        struct predicate *one = is_within(parser, end, &network);
        all = all ? parser_join(&parser->memory, PREDICATE_OR, all, one) : one;
    }
    return all;
}

/* Any address: NULL. */
static struct predicate *inet_address(struct ss_parser *parser, enum ss_end end, char *text,
                                      uint8_t family)
{
    static const char *const anys[] = {"", "default", "any", "all"};
    struct network network;

    for (size_t i = 0; i < COUNT(anys); i++)
        if (strcmp(text, anys[i]) == 0)
            return NULL;
    if (parse_network(text, family, &network))
        return is_within(parser, end, &network);
    return is_host(parser, end, text, family);
}

/*
 * Cuts the port from the text. It stands behind a ], behind a *, or behind the last colon, but of a
 * network behind its slash. Returns the port, maybe empty; NULL: a bracket is not closed.
 */
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

static struct predicate *inet_host(struct ss_parser *parser, enum ss_end end, char *text,
                                   uint8_t family)
{
    struct predicate *address, *port;
    struct ports ports;
    char *behind = cut_port(&text);

    if (!behind)
        return ss_fail_value(parser, "the bracket is not closed");
    if (!parse_ports(parser, behind, &ports))
        return NULL;
    address = inet_address(parser, end, text, family);
    port = is_port(parser, end, &ports);
    return both(parser, address, port);
}

/* --- Other families --------------------------------------------------------------------------- */

/* The kernel does not tell the name of the other end, so it is empty there, as in ss. */
static struct predicate *unix_name(struct ss_parser *parser, enum ss_end end, const char *pattern)
{
    const struct field *field = ss_column(parser, "path");
    struct predicate glob;

    if (!field)
        return NULL;
    if (end == SS_REMOTE)
        return ss_constant(parser, !pattern[strspn(pattern, "*")]);
    glob = predicate_text(field, pattern);
    glob.operation = PREDICATE_GLOB;
    return ss_compare(parser, glob);
}

/* A number in a column; NULL: any. */
static struct predicate *is_number(struct ss_parser *parser, const char *column, uint64_t number)
{
    const struct field *field = ss_column(parser, column);

    return field ? ss_compare(parser, predicate_number(field, number)) : NULL;
}

/* Cuts "FIRST:SECOND" in two. Returns the second part, empty if there is none. */
static char *cut_second(char *text)
{
    char *colon = strchr(text, ':');

    if (!colon)
        return text + strlen(text);
    *colon = '\0';
    return colon + 1;
}

static struct predicate *vsock_end(struct ss_parser *parser, enum ss_end end, const char *cid,
                                   const char *port)
{
    struct predicate *of_cid = NULL, *of_port = NULL;
    uint64_t number;

    if (!is_any(cid)) {
        if (!parse_number(cid, UINT32_MAX, &number))
            return ss_fail_value(parser, "a vsock address is CID:PORT");
        of_cid = is_number(parser, end == SS_LOCAL ? "cid" : "peer_cid", number);
    }
    if (!is_any(port)) {
        if (!parse_number(port, UINT32_MAX, &number))
            return ss_fail_value(parser, "a vsock port is a number");
        of_port = is_number(parser, end == SS_LOCAL ? "vsock_port" : "vsock_peer_port", number);
    }
    return both(parser, of_cid, of_port);
}

/* --- Whole conditions ------------------------------------------------------------------------- */

static struct predicate *host_of_family(struct ss_parser *parser, enum ss_end end, char *text,
                                        uint8_t family)
{
    switch (family) {
    case AF_UNSPEC:
    case AF_INET:
    case AF_INET6:
        return inet_host(parser, end, text, family);
    case AF_UNIX:
        return unix_name(parser, end, text);
    case AF_VSOCK: {
        char *port = cut_second(text);
        return vsock_end(parser, end, text, port);
    }
    default:
        return ss_fail_value(parser, "this version cannot compare addresses of this family");
    }
}

static struct predicate *port_of_family(struct ss_parser *parser, enum ss_end end,
                                        enum ss_token comparison, char *text, uint8_t family)
{
    switch (family) {
    case AF_UNSPEC:
    case AF_INET:
    case AF_INET6:
        return inet_port(parser, end, comparison, text);
    case AF_UNIX:
        return ss_fail_value(parser, "unix sockets have no ports (src compares their names)");
    case AF_VSOCK:
        return vsock_end(parser, end, "", text);
    default:
        return ss_fail_value(parser, "this version cannot compare ports of this family");
    }
}

struct predicate *ss_host(struct ss_parser *parser, enum ss_end end, char *text)
{
    const uint8_t family = take_family(parser, &text);
    struct predicate *result;

    if (family != AF_UNSPEC)
        ss_select_only_family(parser->filter->selection, family);
    result = host_of_family(parser, end, text, family);
    return result;
}

struct predicate *ss_port(struct ss_parser *parser, enum ss_end end, enum ss_token comparison,
                          char *text)
{
    const uint8_t family = take_family(parser, &text);

    if (family != AF_UNSPEC)
        ss_select_only_family(parser->filter->selection, family);
    return port_of_family(parser, end, comparison, text + (*text == ':'), family);
}
