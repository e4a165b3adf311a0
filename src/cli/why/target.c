/* SPDX-License-Identifier: MIT */
#include "cli/why/target.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "cli/form.h"
#include "fastnet/array.h"
#include "fastnet/services.h"
#include "fastnet/text.h"

enum { TARGET_PORT_MAX = 65535 };

struct target_parser {
    struct why_target *target;
    const char *services, *protocol;
    char *wrong;
    struct text scheme, host, port; /* length 0: it was not typed */
    bool has_port;                  /* a ':' was typed after the host */
};

#define TARGET_TYPED(text) TYPED_BYTES((text).data, (text).length)

/* Writes the message. Returns -EINVAL, which the caller can return. */
#define target_refuse(parser, ...) (message_format((parser)->wrong, __VA_ARGS__), -EINVAL)

static bool target_is_number(struct text text)
{
    size_t digits = 0;

    while (digits < text.length && isdigit((unsigned char)text.data[digits]))
        digits++;
    return digits && digits == text.length;
}

/* True if the text is an address of this family. An IPv6 address may have a zone: fe80::1%eth0. */
static bool target_is_address(int family, struct text text)
{
    char address[INET6_ADDRSTRLEN];
    uint8_t bytes[16];
    size_t length = 0;

    while (length < text.length && text.data[length] != '%')
        length++;
    if (length >= sizeof address || (family == AF_INET && length < text.length))
        return false;
    memcpy(address, text.data, length);
    address[length] = '\0';
    return inet_pton(family, address, bytes) == 1;
}

/* --- The port --------------------------------------------------------------------------------- */

/* Finds the port of a service. Returns 0 if the service is unknown. */
static uint16_t target_service_port(const struct target_parser *parser, const char *name)
{
    static const struct {
        const char *names;
        uint16_t port;
    } schemes[] = {{"http ws", 80}, {"https wss", 443}, {"postgres", 5432}, {"rediss", 6379}};
    uint16_t port = 0;

    if (services_ports(parser->services, name, parser->protocol, &port, 1))
        return port;
    for (size_t i = 0; i < COUNT(schemes); i++)
        if (text_among(schemes[i].names, name))
            port = schemes[i].port;
    return port;
}

/* Stores the port that `text` names. Returns false if it is neither a port nor a service. */
static bool target_take_port(struct target_parser *parser, struct text text)
{
    char name[TARGET_SERVICE];
    uint64_t number;

    if (!text.length || text.length >= sizeof name || memchr(text.data, '\0', text.length))
        return false;
    memcpy(name, text.data, text.length);
    name[text.length] = '\0';
    if (target_is_number(text)) {
        if (!form_digits(name, &number) || !number || number > TARGET_PORT_MAX)
            return false;
        parser->target->port = (uint16_t)number;
        return true;
    }
    parser->target->port = target_service_port(parser, name);
    memcpy(parser->target->service, name, text.length + 1);
    return parser->target->port;
}

static int target_refuse_port(struct target_parser *parser, struct text text)
{
    const bool several =
        text.length && strspn(text.data, "0123456789,-") >= text.length && !target_is_number(text);

    if (several)
        return target_refuse(parser, "'%s' is more than one port: type one port",
                             TARGET_TYPED(text));
    if (text.length && (isdigit((unsigned char)*text.data) || *text.data == '-'))
        return target_refuse(parser, "'%s' is not a port: type a number from 1 to 65535",
                             TARGET_TYPED(text));
    return target_refuse(parser, "'%s' is neither a port nor a service of /etc/services",
                         TARGET_TYPED(text));
}

/* --- The host --------------------------------------------------------------------------------- */

/* True if programs write this host for "any address" of this machine, as in 0.0.0.0:80. */
static bool target_is_any(struct text host)
{
    return !host.length || text_is(host, "*") || text_is(host, "0.0.0.0") || text_is(host, "::");
}

static int target_take_host(struct target_parser *parser)
{
    const struct text host = parser->host;
    bool dotted = true;

    if (target_is_any(host))
        return 0;
    if (host.length >= TARGET_HOST)
        return target_refuse(parser, "'%s' is too long for the name of a host", TARGET_TYPED(host));
    for (size_t i = 0; i < host.length; i++) {
        const unsigned char byte = (unsigned char)host.data[i];
        if (!isalnum(byte) && !strchr("._-:%", byte) && byte < 0x80)
            return target_refuse(parser, "'%s' is not the name of a host: type HOST:PORT",
                                 TARGET_TYPED(host));
        dotted &= isdigit(byte) || byte == '.';
    }
    if (memchr(host.data, '%', host.length) &&
        (!target_is_address(AF_INET6, host) || host.data[host.length - 1] == '%'))
        return target_refuse(parser,
                             "'%s': '%%' is for an IPv6 address with an interface, such as "
                             "[fe80::1%%eth0]:80",
                             TARGET_TYPED(host));
    if (dotted && !target_is_address(AF_INET, host))
        return target_refuse(parser, "'%s' is not an IPv4 address", TARGET_TYPED(host));
    memcpy(parser->target->host, host.data, host.length);
    parser->target->host[host.length] = '\0';
    return 0;
}

/* --- Words ------------------------------------------------------------------------------------ */

/* Removes all but host and port from a URL: https://user:password@db.example:8443/path. The word
 * may also have only a user, as for ssh(1): user@db.example. */
static struct text target_authority(struct target_parser *parser, const char *word)
{
    const char *slashes = strstr(word, "://"), *at;
    struct text rest = as_text(word);

    if (slashes) {
        const char *scheme = slashes;
        while (scheme > word && scheme[-1] != ':') /* jdbc:postgresql://db/x */
            scheme--;
        parser->scheme = (struct text){scheme, (size_t)(slashes - scheme)};
        rest = as_text(slashes + 3);
        rest.length = strcspn(rest.data, "/?#");
    }
    at = rest.length ? memrchr(rest.data, '@', rest.length) : NULL;
    return at ? (struct text){at + 1, rest.length - (size_t)(at + 1 - rest.data)} : rest;
}

/* Explains what to type instead of an IPv6 address without brackets, or of another text with
 * several colons. */
static int target_refuse_colons(struct target_parser *parser, struct text text)
{
    const char *const colon = memrchr(text.data, ':', text.length);
    const struct text before = {text.data, (size_t)(colon - text.data)};
    const struct text after = {colon + 1, text.length - before.length - 1};
    const bool is_address = target_is_address(AF_INET6, text);

    if (!target_is_address(AF_INET6, before) || !after.length)
        return is_address ? target_refuse(parser, "'%s' has no port: type [%s]:PORT",
                                          TARGET_TYPED(text), TARGET_TYPED(text))
                          : target_refuse(parser,
                                          "'%s' is not an IPv6 address, and a host has one ':' "
                                          "before its port: type HOST:PORT or [ADDRESS]:PORT",
                                          TARGET_TYPED(text));
    if (!is_address)
        return target_refuse(parser, "'%s' needs brackets: type [%s]:%s", TARGET_TYPED(text),
                             TARGET_TYPED(before), TARGET_TYPED(after));
    return target_refuse(
        parser, "'%s' is an address, or an address with a port: type [%s]:%s or [%s]:PORT",
        TARGET_TYPED(text), TARGET_TYPED(before), TARGET_TYPED(after), TARGET_TYPED(text));
}

/* Splits [ADDRESS]:PORT. */
static int target_split_brackets(struct target_parser *parser, struct text text)
{
    const char *const end = memchr(text.data, ']', text.length);
    const size_t length = end ? (size_t)(end - text.data) : 0;

    if (end)
        parser->host = (struct text){text.data + 1, length - 1};
    if (!end || !target_is_address(AF_INET6, parser->host))
        return target_refuse(parser, "'%s' is not an IPv6 address in brackets: type [ADDRESS]:PORT",
                             TARGET_TYPED(text));
    parser->port = (struct text){end + 1, text.length - length - 1};
    parser->has_port = parser->port.length && *parser->port.data == ':';
    if (parser->port.length && !parser->has_port)
        return target_refuse(parser, "'%s': type ':' between the address and the port",
                             TARGET_TYPED(text));
    if (parser->has_port)
        parser->port = (struct text){end + 2, parser->port.length - 1};
    return 0;
}

/* Splits a word into host and port. alone: it is the only word, so it has the port, too. */
static int target_split(struct target_parser *parser, const char *word, bool alone)
{
    const struct text text = target_authority(parser, word);
    const size_t digits = strspn(word, "0123456789");
    const char *const colon = text.length ? memchr(text.data, ':', text.length) : NULL;

    if (digits && word[digits] == '/')
        return target_refuse(parser, "'%s': type only the port, and -u for UDP",
                             TARGET_TYPED(text));
    if (text.length && memchr(text.data, '/', text.length))
        return target_refuse(parser,
                             "'%s' has a '/': type HOST:PORT, or a URL such as "
                             "https://db.example/x",
                             TARGET_TYPED(text));
    if (text.length && *text.data == '[')
        return target_split_brackets(parser, text);
    if (colon && memchr(colon + 1, ':', text.length - (size_t)(colon + 1 - text.data)) &&
        (alone || !target_is_address(AF_INET6, text)))
        return target_refuse_colons(parser, text);
    parser->host = text;
    if (!colon || target_is_address(AF_INET6, text))
        return 0;
    parser->has_port = true;
    parser->host.length = (size_t)(colon - text.data);
    parser->port = (struct text){colon + 1, text.length - parser->host.length - 1};
    return 0;
}

static int target_refuse_portless(struct target_parser *parser, bool brackets)
{
    const struct text host = parser->host;

    if (!host.length)
        return target_refuse(parser, "a word is empty: type HOST:PORT");
    if (brackets)
        return target_refuse(parser, "'%s' has no port: type [%s]:PORT", TARGET_TYPED(host),
                             TARGET_TYPED(host));
    return target_refuse(parser, "'%s' has no port%s: type %s:PORT", TARGET_TYPED(host),
                         parser->has_port ? "" : ", and is not a service of /etc/services",
                         TARGET_TYPED(host));
}

static int target_take_one(struct target_parser *parser, const char *word)
{
    int error = target_split(parser, word, true);

    if (error)
        return error;
    if (parser->scheme.length && !parser->host.length)
        return target_refuse(parser, "the URL has no host: type HOST:PORT");
    if (!parser->has_port && parser->scheme.length) {
        if (!target_take_port(parser, parser->scheme))
            return target_refuse(parser, "the port of '%s' is not known: type %s:PORT",
                                 TARGET_TYPED(parser->scheme), TARGET_TYPED(parser->host));
        return target_take_host(parser);
    }
    if (!parser->has_port && *word != '[') { /* a port of this machine */
        if (target_take_port(parser, parser->host))
            return 0;
        if (strspn(parser->host.data, "0123456789,-") >= parser->host.length && parser->host.length)
            return target_refuse_port(parser, parser->host);
    }
    if (!parser->port.length)
        return target_refuse_portless(parser, *word == '[');
    return target_take_port(parser, parser->port) ? target_take_host(parser)
                                                  : target_refuse_port(parser, parser->port);
}

static int target_take_two(struct target_parser *parser, const char *word, const char *next)
{
    const struct text port = as_text(next);
    int error = target_split(parser, word, false);

    if (error)
        return error;
    if (parser->has_port || strpbrk(next, ".:/"))
        return target_refuse(parser, "one host at a time: type HOST:PORT or HOST PORT");
    if (target_is_number(parser->host) && !target_is_number(port))
        return target_refuse(parser, "the host comes first: type %s:%s", TYPED(next),
                             TARGET_TYPED(parser->host));
    return target_take_port(parser, port) ? target_take_host(parser)
                                          : target_refuse_port(parser, port);
}

int target_parse(struct why_target *target, const char *const words[], size_t count,
                 const char *services, const char *protocol, char wrong[MESSAGE_TEXT_MAX])
{
    static const char tools[] =
        "nc ncat netcat telnet curl wget ssh ping nmap traceroute tracepath";
    struct target_parser parser = {
        .target = target, .services = services, .protocol = protocol, .wrong = wrong};

    *target = (struct why_target){.port = 0};
    if (!count)
        return target_refuse(&parser, "a host and a port are missing: type HOST:PORT, or PORT for "
                                      "a port of this machine");
    if (count > 1 && text_among(tools, words[0]))
        return target_refuse(&parser, "type only the host and the port, without '%s'", words[0]);
    if (count > 2)
        return target_refuse(&parser, "one host at a time: type HOST:PORT or HOST PORT");
    return count == 1 ? target_take_one(&parser, words[0])
                      : target_take_two(&parser, words[0], words[1]);
}
