/* SPDX-License-Identifier: MIT */
/* The values of --where that are addresses. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "cli/where/constant.h"
#include "fastnet/array.h"
#include "fastnet/interfaces.h"

bool where_read_address(const struct field *field, const char *text, struct value *value)
{
    (void)field;
    value->type = VALUE_ADDRESS;
    return form_address(text, strlen(text), FORM_OF_WHERE, &value->address);
}

/* Compares with two addresses. */
static struct predicate *parse_either(const struct constant *constant,
                                      const struct address addresses[2])
{
    struct predicate *all[2];

    for (size_t i = 0; i < COUNT(all); i++)
        all[i] = parser_add(constant->parser, predicate_address(constant->field, &addresses[i]));
    return parser_join(constant->parser, PREDICATE_OR, all[0], all[1]);
}

/* Parses an address, a network, a range of addresses, or localhost, which is not looked up. Returns
 * NULL for other texts. */
static struct predicate *parse_plain_addresses(const struct constant *constant)
{
    static const struct address loopback[] = {{AF_INET, {127, [3] = 1}}, {AF_INET6, {[15] = 1}}};
    struct address masked = where_mapped.address;
    struct predicate within, *made;

    if (strcasecmp(constant->text, "localhost") == 0)
        return parse_either(constant, loopback);
    if (!form_network(constant->text, FORM_OF_WHERE, constant->field, &within))
        return where_parse_range(constant, where_read_address, &made) ? made : NULL;
    made = parser_add(constant->parser, within);
    for (size_t i = 0; i < sizeof masked.bytes; i++)
        masked.bytes[i] &= within.mask.address[i];
    const bool has_mapped = address_equal(&masked, &within.constant.address);
    return has_mapped ? where_without_mapped(constant, made) : made;
}

/* The column with the port that belongs to an address, or NULL. */
static const struct field *where_port_of(const struct kind *kind, const char *address)
{
    static const char *const ends[][2] = {
        {"_address", "_port"}, {"src", "sport"}, {"dst", "dport"}};
    char name[64];

    for (size_t i = 0; i < COUNT(ends); i++) {
        const size_t length = strlen(address), tail = strlen(ends[i][0]);
        if (length < tail || strcmp(address + length - tail, ends[i][0]) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s%s", (int)(length - tail), address, ends[i][1]);
        return field_named(kind, name);
    }
    return NULL;
}

/* Compares the interface of the row. Without an interface the comparison is false, not unknown. */
static struct predicate *parse_interface(const struct constant *constant, const char *name)
{
    struct where_parser *parser = constant->parser;
    struct constant interface = *constant;
    struct predicate *made;
    uint64_t number;
    uint32_t index;

    interface.field = field_named(parser->kind, "interface");
    if (!interface.field)
        return parser_fail(parser, &constant->token, "%s have no column interface: %s",
                           parser->kind->name, "type the address without '%'");
    const bool digits = form_digits(name, &number), own = parser->where->interfaces_are_own;
    const bool missing = own && interfaces_find(name, &index) < 0;
    if (missing && !digits)
        return parser_fail(parser, &constant->token, "no interface has the name '%s'", TYPED(name));
    interface.text = parser_keep(parser, name, strlen(name));
    interface.length = strlen(name);
    if (!interface.text)
        return NULL;
    made =
        missing ? NULL : where_compare(&interface, where_a_text(interface.text, interface.length));
    if (digits) { /* an interface without a name is shown by its number */
        struct predicate *numbered = where_compare(&interface, where_a_number(number));
        made = made ? parser_join(parser, PREDICATE_OR, made, numbered) : numbered;
    }
    return parser_join(parser, PREDICATE_AND, parser_add(parser, predicate_known(interface.field)),
                       made);
}

/* Compares the port of the end whose address the column has. Tables show port 0 as *. */
static struct predicate *parse_port(const struct constant *constant, const char *text)
{
    struct constant port = *constant;

    port.field = where_port_of(constant->parser->kind, constant->field->name);
    if (!port.field)
        return parser_fail(constant->parser, &constant->token, "%s has no port: '%s'",
                           constant->field->name, TOKEN_TYPED(&constant->token));
    port.text = strcmp(text, "*") == 0 ? "0" : text;
    port.length = strlen(port.text);
    return where_parse_numbers(&port);
}

const struct field *where_shows_paths(const struct where_parser *parser, const struct field *field)
{
    return parser->viewed && strcmp(field->name, "local_address") == 0
               ? field_named(parser->kind, "path")
               : NULL;
}

/* Parses a name of a unix socket. Returns NULL for an address with a mistake. */
static struct predicate *parse_path(const struct constant *constant)
{
    const char *text = constant->text;
    struct constant path = *constant;
    const bool is_name =
        *text == '@' || *text == '/' ||
        (text[strspn(text, "0123456789abcdefABCDEF:.-[]/*")] && !strchr(text, '%'));

    path.field = where_shows_paths(constant->parser, constant->field);
    return path.field && is_name ? where_parse_socket_name(&path) : NULL;
}

/* Parses an address with its interface or port, as tables show them, or an address alone. */
struct predicate *where_parse_addresses(const struct constant *constant)
{
    struct constant address = *constant;
    struct predicate *made = parse_plain_addresses(constant);
    static const struct address any[] = {{.family = AF_INET}, {.family = AF_INET6}};
    struct form_end end;

    if (made || constant->parser->where->message[0])
        return made;
    if (constant->comparison == TOKEN_EQUAL && form_end(constant->text, &end)) {
        address.text = end.address;
        address.length = strlen(end.address);
        /* tables show :: and 0.0.0.0 as * */
        made = strcmp(end.address, "*") == 0 ? parse_either(constant, any)
                                             : parse_plain_addresses(&address);
    }
    if (!made && (made = parse_path(constant)))
        return made;
    if (!made)
        return constant_refuse(
            constant, "addresses, such as 192.0.2.1, 10.0.0.0/8, 2001:db8::/32 or fe80::1%eth0");
    if (*end.interface)
        made = parser_join(constant->parser, PREDICATE_AND, made,
                           parse_interface(constant, end.interface));
    return end.port
               ? parser_join(constant->parser, PREDICATE_AND, made, parse_port(constant, end.port))
               : made;
}

/* Parses a MAC address. For a tunnel, it is an IP address. */
struct predicate *where_parse_lladdr(const struct constant *constant)
{
    uint8_t bytes[LLADDR_MAX];
    size_t count = form_lladdr(constant->text, bytes);
    struct value ip;
    char *kept;

    if (!count && where_read_address(constant->field, constant->text, &ip)) {
        count = address_size(&ip.address);
        memcpy(bytes, ip.address.bytes, count);
    }
    if (!count)
        return constant_refuse(constant, "MAC addresses, such as 02:00:5e:10:00:ff");
    kept = parser_keep(constant->parser, (const char *)bytes, count);
    return kept ? where_compare(constant,
                                (struct value){.type = VALUE_LLADDR, .text = {kept, count}})
                : NULL;
}
