/* SPDX-License-Identifier: MIT */
/*
 * The filter language of ss: which sockets each filter lists, and what is said of those that are
 * wrong. Each socket of the scene has a letter.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/ss/ss.h"
#include "cli/ss/ss_filter.h"
#include "fastnet/predicate.h"
#include "kit.h"

/* --- The scene -------------------------------------------------------------------------------- */

struct made {
    char letter;
    uint8_t family;
    uint16_t local_port, remote_port;
    uint32_t interface;
    const char *local, *remote;
    const char *path; /* of a unix socket; '@' in front for NUL */
    /* Of unix sockets the inodes are second. Of the other families: a packet socket's protocol, a
     * netlink socket's or a vsock's ends. */
    uint32_t first, second, peer_first, peer_second;
};

static const struct made scene[] = {
    {'a', AF_INET, 22, 40000, 0, "10.0.0.1", "192.168.1.5", .path = NULL},
    {'b', AF_INET, 443, 50000, 7, "10.0.0.2", "203.0.113.7", .path = NULL},
    {'c', AF_INET6, 22, 33000, 0, "2001:db8::1", "2001:db8::2", .path = NULL},
    {'d', AF_INET6, 22, 40001, 0, "::ffff:10.0.0.1", "::ffff:192.168.1.5", .path = NULL},
    {'e', AF_INET, 22, 0, 0, "0.0.0.0", "0.0.0.0", .path = NULL},
    {'f', AF_INET6, 80, 0, 0, "::", "::", .path = NULL},
    {'g', AF_INET, 53, 0, 1, "127.0.0.1", "0.0.0.0", .path = NULL},
    {'h', AF_INET6, 546, 0, 2, "fe80::1", "::", .path = NULL},
    {'u', AF_UNIX, 0, 0, 0, NULL, NULL, .path = "/run/Docker.sock", .second = 3000000000},
    {'v', AF_UNIX, 0, 0, 0, NULL, NULL, .path = "@dbus-x", .second = 70000, .peer_second = 70001},
    {'w', AF_UNIX, 0, 0, 0, NULL, NULL, .path = "", .second = 70001, .peer_second = 70000},
    {'x', AF_UNIX, 0, 0, 0, NULL, NULL, .path = "/tmp/a b", .second = 70002},
    {'P', AF_PACKET, .interface = 1, .first = 0x0800},
    {'Q', AF_PACKET, .interface = 0, .first = 0x0003},
    {'R', AF_PACKET, .interface = 7, .first = 0x8100},
    {'K', AF_NETLINK, .first = 0, .second = 0},
    {'L', AF_NETLINK, .first = 16, .second = 777},
    {'M', AF_NETLINK, .first = 12, .second = 0x80000005},
    {'V', AF_VSOCK, .first = 3, .second = 1024, .peer_first = 2, .peer_second = 5000},
    {'W', AF_VSOCK, .first = 2, .second = 22, .peer_first = UINT32_MAX, .peer_second = UINT32_MAX},
};

static void fill_other(struct record *record, const struct made *made)
{
    struct socket_record *sock = &record->socket;

    if (made->family == AF_PACKET) {
        record->has |= SOCKET_ETHER | SOCKET_INTERFACE;
        sock->ether_protocol = (uint16_t)made->first;
        sock->interface = made->interface;
    } else if (made->family == AF_NETLINK) {
        record->has |= SOCKET_NETLINK;
        sock->netlink_protocol = (uint8_t)made->first;
        sock->portid = made->second;
    } else {
        record->has |= SOCKET_VSOCK;
        sock->cid = made->first;
        sock->vsock_port = made->second;
        sock->peer_cid = made->peer_first;
        sock->peer_port = made->peer_second;
    }
}

static struct record record_of(const struct made *made)
{
    static char path[SOCKET_PATH_MAX];
    struct record record = {.kind = &kind_socket, .has = SOCKET_STATE};
    struct socket_record *sock = &record.socket;

    sock->family = made->family;
    sock->protocol = made->path ? 0 : IPPROTO_TCP;
    sock->state = TCP_ESTABLISHED;
    if (made->path) {
        record.has |= SOCKET_PATH | SOCKET_INODE | (made->peer_second ? SOCKET_PEER : 0);
        sock->inode = made->second;
        sock->peer = made->peer_second;
        sock->path = (struct text){path, strlen(made->path)};
        memcpy(path, made->path, sock->path.length);
        path[0] = path[0] == '@' ? '\0' : path[0];
        return record;
    }
    if (!made->local) {
        fill_other(&record, made);
        return record;
    }
    record.has |= SOCKET_ADDRESSES | SOCKET_INTERFACE;
    sock->interface = made->interface;
    if (made->letter == 'a') {
        record.has |= SOCKET_MARK;
        sock->mark = 0x10;
    }
    sock->local = (struct endpoint){ip(made->local), made->local_port};
    sock->remote = (struct endpoint){ip(made->remote), made->remote_port};
    return record;
}

enum { HOME = 99 }; /* stands in for a descriptor */

/* "host" has two addresses. */
static int resolve(const char *name, uint8_t family, int own_netns, unsigned milliseconds,
                   struct address addresses[], size_t most)
{
    int count = 0;

    assert_int_equal(own_netns, HOME);
    assert_in_range(milliseconds, 1, 60000);
    assert_true(most >= 2);
    if (strcmp(name, "late") == 0)
        return -ETIMEDOUT;
    if (strcmp(name, "host") != 0 && strcmp(name, "host6") != 0)
        return -ENOENT;
    if (family != AF_INET6 && !name[4])
        addresses[count++] = ip("10.0.0.1");
    if (family != AF_INET)
        addresses[count++] = ip("2001:db8::1");
    return count;
}

/* --- Filters ---------------------------------------------------------------------------------- */

struct filtering {
    struct ss_options options;
    struct where where;
    struct ss_words words;
    struct ss_filter filter;
    const struct predicate *predicate;
};

static bool of_all_netns;

/*
 * One argument is the whole of the text, but an option in front of it. Without one, sockets of IP
 * and unix sockets are listed.
 */
static void parse(struct filtering *filtering, const char *text)
{
    static char program[] = "ss", option[32], word[512];
    char *argv[] = {program, option, word, NULL};
    struct ss_filter *filter = &filtering->filter;
    size_t length = 0;

    memset(filtering, 0, sizeof *filtering);
    if (*text == '-') {
        length = strcspn(text, " ");
        snprintf(option, sizeof option, "%.*s", (int)length, text);
        length += text[length] == ' ';
    } else {
        strcpy(option, "-Ainet,unix");
    }
    snprintf(word, sizeof word, "%s", text + length);
    assert_int_equal(ss_parse(&filtering->options, 3, argv), PARSED);
    filtering->words = (struct ss_words){.arguments = filtering->options.words,
                                         .count = filtering->options.word_count};
    *filter = (struct ss_filter){.where = &filtering->where,
                                 .selection = &filtering->options.selection,
                                 .words = &filtering->words,
                                 .resolve = resolve,
                                 .own_netns = HOME,
                                 .foreign = of_all_netns};
    filtering->predicate = ss_filter_parse(filter);
}

static void finish(struct filtering *filtering)
{
    where_finish(&filtering->where);
    ss_words_finish(&filtering->words);
    ss_options_finish(&filtering->options);
}

/* The letters of the sockets that are listed, or what is wrong; "1: " in front for status 1. */
static const char *listed(const char *text)
{
    static const struct context nothing;
    static char said[WHERE_MESSAGE + 8];
    struct filtering filtering;
    size_t length = 0;

    parse(&filtering, text);
    if (filtering.filter.failed) {
        snprintf(said, sizeof said, "%s%s", filtering.filter.wrong ? "1: " : "",
                 filtering.where.message);
        finish(&filtering);
        return said;
    }
    for (size_t i = 0; i < COUNT(scene); i++) {
        const struct record record = record_of(&scene[i]);
        if (filtering.options.selection.families & ss_family(scene[i].family) &&
            predicate_holds(filtering.predicate, &record, &nothing))
            said[length++] = scene[i].letter;
    }
    said[length] = '\0';
    finish(&filtering);
    return said;
}

struct filtered {
    const char *text, *lists;
};

static void check(const struct filtered *rows, size_t count)
{
    bool wrong = false;

    for (size_t i = 0; i < count; i++) {
        const char *said = listed(rows[i].text);
        if (strcmp(said, rows[i].lists) == 0)
            continue;
        print_error("'%s': '%s', not '%s'\n", rows[i].text, said, rows[i].lists);
        wrong = true;
    }
    assert_false(wrong);
}

#define CHECK(rows) check(rows, COUNT(rows))

#define ALL "abcdefghuvwx"

static void an_empty_filter_lists_all(void **state)
{
    static const struct filtered rows[] = {
        {"", ALL},
        {" \t ", ALL},
        {"-4", "abeg"},
        {"-x", "uvwx"},
    };

    (void)state;
    CHECK(rows);
}

static void ports_are_compared(void **state)
{
    static const struct filtered rows[] = {
        {"sport = :22", "acde"},
        {"sport = 22", "acde"},
        {"sport 22", "acde"},
        {"sport :22", "acde"},
        {"sport == :22", "acde"},
        {"sport eq :22", "acde"},
        {"sport = 0x16", "acde"},
        {"sport = 026", "acde"},
        {"sport = :0x16", "acde"},
        {"sport = :ssh", "acde"},
        {"sport = ssh", "acde"},
        {"sport SSH", "acde"},
        {"sport = :https", "b"},
        {"dport = :40000", "a"},
        {"dport 40000", "a"},
        {"dport = 0", "efghux"},
        {"sport = 0", ""},
        {"sport >= 443", "bhuvwx"},
        {"sport ge 443", "bhuvwx"},
        {"sport geq 443", "bhuvwx"},
        {"sport > 443", "huvwx"},
        {"sport gt 443", "huvwx"},
        {"sport <= 53", "acdeg"},
        {"sport le :53", "acdeg"},
        {"sport leq :53", "acdeg"},
        {"sport < 53", "acde"},
        {"sport lt 53", "acde"},
        {"sport < ssh", ""},
        {"sport >= :https", "bhuvwx"},
        {"dport >= 40001", "bdvw"},
        {"dport > 65535", "vw"},
        {"dport <= 65535", "abcdefghux"},
        {"dport >= 0", "abcdefghuvwx"},
        {"dport < 0", ""},
        {"sport = *", ALL},
        {"sport = :*", ALL},
        {"sport :", ALL},
        {"sport = inet:22", "ae"},
        {"sport = inet6:22", "cd"},
        {"sport = inet::22", "ae"},
        {"dport = inet6:0", "fh"},
        {"-t sport >= 443", "bh"},
        {"-t dport <= 65535", "abcdefgh"},
    };

    (void)state;
    CHECK(rows);
}

/* What has no port has no equal one; its opposite lists all others, as in ss. */
static void opposites_list_sockets_without_ports(void **state)
{
    static const struct filtered rows[] = {
        {"sport != 22", "bfghuvwx"},
        {"sport ne 22", "bfghuvwx"},
        {"sport neq :22", "bfghuvwx"},
        {"not sport = 22", "bfghuvwx"},
        {"! sport = 22", "bfghuvwx"},
        {"not sport >= 443", "acdefg"},
        {"not sport < 443", "bhuvwx"},
        {"not not sport = 22", "acde"},
        {"-t not sport = 22", "bfgh"},
        {"-4 sport != 22", "bg"},
        {"sport != *", ""},
        {"not src 10.0.0.1", "bcefghuvwx"},
        {"not src [2001:db8::1]", "abdefghuvwx"},
        {"not dev 7", "acdefghuvwx"},
        {"dev != 7", "acdefghuvwx"},
        {"not src unix:*", ""},
        {"not src unix:*dbus*", "uwx"},
        {"dport != 0", "abcdvw"},
    };

    (void)state;
    CHECK(rows);
}

static void ipv4_addresses_may_be_short_and_match_mapped_ones(void **state)
{
    static const struct filtered rows[] = {
        {"src 10.0.0.1", "ad"},
        {"src = 10.0.0.1", "ad"},
        {"src == 10.0.0.1", "ad"},
        {"src eq 10.0.0.1", "ad"},
        {"src 10.0.0.1/32", "ad"},
        {"src 10.0.0.0/8", "abd"},
        {"src 10.0.0.0/255.0.0.0", "abd"},
        {"src 10.0.0.0/255",
         "1: filter, word 2: '10.0.0.0/255': not an address, network or host name "
         "(IPv6 in brackets)"},
        {"src 10.9.9.9/8", "abd"},
        {"src 10/8", "abd"},
        {"src 10", ""},
        {"src 0", "e"},
        {"src 0/32", "e"},
        {"src 0/0", "abdeg"},
        {"src 127/8", "g"},
        {"dst 192.168.1/24", "ad"},
        {"dst 192.168/16", "ad"},
        {"dst 192.168.1.5/31", "ad"},
        {"dst 192.168.1.6/31", ""},
        {"src 0xa.0.0.1", "ad"},
        {"src 012.0.0.2", "b"},
        {"src 10.0.0.0/0x8", "abd"},
        {"src 10.0.0.0/010", "abd"},
        {"src 10.0.0.0/30", "abd"},
        {"src 10.0.0.0/31", "ad"},
        {"src 10.0.0.1:22", "ad"},
        {"src 10.0.0.1:23", ""},
        {"src 10.0.0.1:ssh", "ad"},
        {"src 10.0.0.1:*", "ad"},
        {"src 10.0.0.1:", "ad"},
        {"src 10.0.0.0/8:443", "b"},
        {"src 10/8:https", "b"},
        {"dst 203.0.113.7:50000", "b"},
        {"dst 0.0.0.0", "eg"},
        {"src 0.0.0.0", "e"},
        {"src inet:10.0.0.1", "a"},
        {"src inet:10/8", "ab"},
        {"-4 src 10/8", "ab"},
        {"-6 src ::ffff:10.0.0.1/128", "d"},
    };

    (void)state;
    CHECK(rows);
}

static void ipv6_addresses_are_in_brackets(void **state)
{
    static const struct filtered rows[] = {
        {"src [2001:db8::1]", "c"},
        {"src [2001:db8::1]:22", "c"},
        {"src [2001:db8::1]:ssh", "c"},
        {"src [2001:db8::1]:80", ""},
        {"src [2001:db8::1]22", "c"},
        {"src [2001:db8::1]:*", "c"},
        {"src [2001:DB8::1]", "c"},
        {"src [2001:db8::/32]", "c"},
        {"src [2001:db8::/32]:22", "c"},
        {"src 2001:db8::/32", "c"},
        {"src 2001:db8::/32:22", "c"},
        {"src 2001:db8::1/128:22", "c"},
        {"src 2001:db8::1:22", "c"},
        {"src [::]", "f"},
        {"src ::/128", "f"},
        {"src ::/0", "cdfh"},
        {"src [fe80::/10]", "h"},
        {"dst [::]", "fh"},
        {"dst [::]:0", "fh"},
        {"src [::ffff:10.0.0.1]", "d"},
        {"src [::ffff:0.0.0.0/96]", "d"},
        {"src [10.0.0.1]:22", "ad"},
        {"src [10.0.0.1/8]", "abd"},
        {"src inet6:[::]", "f"},
        {"src inet6:[2001:db8::1]:22", "c"},
        {"src inet6:2001:db8::/32", "c"},
    };

    (void)state;
    CHECK(rows);
}

static void any_address_is_one_of_every_family(void **state)
{
    static const struct filtered rows[] = {
        {"src *", ALL},          {"src any", ALL},       {"src all", ALL},
        {"src default", ALL},    {"src :22", "acde"},    {"src *:22", "acde"},
        {"src *22", "acde"},     {"src any:22", "acde"}, {"src :ssh", "acde"},
        {"dst :40000", "a"},     {"dst *:*", ALL},       {"src inet:*", "abeg"},
        {"src inet6:*", "cdfh"}, {"src inet:", "abeg"},  {"src inet6::80", "f"},
        {"-4 src *", "abeg"},    {"-6 dst *:0", "fh"},   {"src unix:*", "uvwx"},
    };

    (void)state;
    CHECK(rows);
}

static void a_name_means_its_addresses_in_the_first_family_that_knows_it(void **state)
{
    static const struct filtered rows[] = {
        {"src host", "ad"},
        {"src host:22", "ad"},
        {"src host6", "c"},
        {"src host:80", ""},
        {"src inet:host", "a"},
        {"src inet6:host", "c"},
        {"-4 src host", "a"},
        {"not src host", "bcefghuvwx"},
        {"-4 src host6", "1: filter, word 2: 'host6': not an IPv4 address, network or host name"},
        {"src late", "1: filter, word 2: 'late': no name server answers"},
        {"src other",
         "1: filter, word 2: 'other': not an address, network or host name (IPv6 in brackets)"},
        {"src host/24",
         "1: filter, word 2: 'host/24': not an address, network or host name (IPv6 in brackets)"},
    };

    (void)state;
    CHECK(rows);
}

static void names_of_unix_sockets_are_patterns_in_any_case(void **state)
{
    static const struct filtered rows[] = {
        {"src unix:/run/Docker.sock", "u"},
        {"src unix:/RUN/docker.SOCK", "u"},
        {"src unix:*docker*", "u"},
        {"src unix:*/docker.sock", "u"},
        {"src unix:@*", "v"},
        {"src unix:@dbus-?", "v"},
        {"src unix:@dbus-??", ""},
        {"src unix:@dbus-[wxy]", "v"},
        {"src unix:@dbus-[a-w]", ""},
        {"src unix:@dbus-[!a-w]", "v"},
        {"src unix:@dbus-[^a-w]", "v"},
        {"src unix:", "w"},
        {"src unix:/tmp/a\\ b", "x"},
        {"src unix:/tmp/a?b", "x"},
        {"src = unix:*sock", "u"},
        {"dst unix:*", "uvwx"},
        {"dst unix:*docker*", ""},
        {"-x src *docker*", "u"},
        {"-x src @*", "v"},
        {"-x src *docker* or src @*", "uv"},
        {"src unix:*docker* or src @*", "uv"},
        {"sport = unix:*docker*", "u"},
        {"-x sport = 22", ""},
        {"sport > unix:22",
         "1: filter, word 3: 'unix:22': unix sockets have no ports (src compares their names)"},
    };

    (void)state;
    CHECK(rows);
}

/* What ss takes for their ports, where no family is named. */
static void inodes_of_unix_sockets_are_compared_as_ports(void **state)
{
    static const struct filtered rows[] = {
        {"src :70000", "v"},
        {"dst :70000", "w"},
        {"src *:70001", "w"},
        {"sport = :70001", "w"},
        {"sport 70001", "w"},
        {"dport = 70001", "v"},
        {"not src :70000", "abcdefghuwx"},
        {"sport != 70000", "abcdefghuwx"},
        {"sport > 70000", "uwx"},
        {"sport <= 70000 and sport >= 70000", "v"},
        {"src :3000000000", "u"},
        {"sport > :2147483648", "u"},
        {"src :4294967295", ""},
        {"src :4294967296",
         "1: filter, word 2: ':4294967296': a port or an inode is a number below 2^32"},
        {"src :-1", ALL},
        {"src :-2", ""},
        {"sport > -2", ALL},
        {"sport < -2", ""},
        {"src 10.0.0.1:70000", ""},
        {"-Apacket,tcp sport = 7", "R"},
        {"-Apacket,tcp dport = 0", "efghPQR"},
        {"-Apacket,tcp sport = 0", "Q"},
        {"-Anetlink,tcp sport = 777", "L"},
        {"-Anetlink,tcp sport = 0", "K"},
        {"-Anetlink,tcp sport < 0", "M"},
        {"-Anetlink,tcp sport > 500", "hL"},
        {"-Anetlink,tcp dport < 0", "KLM"},
        {"-Avsock,tcp sport = 1024", "V"},
        {"-Avsock,tcp dport = 5000", "V"},
    };

    (void)state;
    CHECK(rows);
}

static void packet_sockets_have_a_protocol_and_an_interface(void **state)
{
    static const struct filtered rows[] = {
        {"src link:ip", "P"},
        {"src link:IPv4", "P"},
        {"src link:0x800", "P"},
        {"src link:2048:lo", "P"},
        {"src link:ip:7", ""},
        {"src link:all", "Q"},
        {"src link:802.1Q:7", "R"},
        {"src link:*:7", "R"},
        {"src link::lo", "P"},
        {"src link::0", "Q"},
        {"src link:*", "PQR"},
        {"src link:", "PQR"},
        {"not src link::lo", "QR"},
        {"-0 src ip or sport 7", "PR"},
        {"-0 sport = lo", "P"},
        {"-0 sport = link:lo", "P"},
        {"-0 sport != lo", "QR"},
        {"-0 sport = 0", "Q"},
        {"-0 sport != 0", "PR"},
        {"-0 sport > 0", "PR"},
        {"-0 sport >= 0", "PQR"},
        {"-0 sport < 7", "PQ"},
        {"-0 sport <= 7", "PQR"},
        {"-0 sport < 0", ""},
        {"-0 sport <= 0", "Q"},
        {"-0 sport > lo", "R"},
        {"-0 sport >= 7", "R"},
        {"-0 sport *", "PQR"},
        {"-0 dev 7", "R"},
        {"dst link:ip", ""},
        {"dst link:0", "PQR"},
        {"dst link::0", "PQR"},
        {"dst link::lo", ""},
        {"dport < link:lo", "PQR"},
        {"dport > link:0", ""},
        {"src link:genl", "1: filter, word 2: 'link:genl': there is no such protocol"},
        {"src link:65536", "1: filter, word 2: 'link:65536': there is no such protocol"},
        {"src link:ip:nowhere", "1: filter, word 2: 'link:ip:nowhere': there is no such interface"},
        {"-0 sport > *", "1: filter, word 3: '*': < <= > >= compare with one port only"},
    };

    (void)state;
    CHECK(rows);
}

static void netlink_sockets_have_a_protocol_and_a_signed_port(void **state)
{
    static const struct filtered rows[] = {
        {"src netlink:rtnl", "K"},
        {"src netlink:genl", "L"},
        {"src netlink:0x10:777", "L"},
        {"src netlink:genl:778", ""},
        {"src netlink:*:kernel", "K"},
        {"src netlink::777", "L"},
        {"src netlink::-2147483643", "M"},
        {"src netlink::2147483653", "M"},
        {"src netlink:*", "KLM"},
        {"src netlink:genl:-1", "L"},
        {"src netlink::-0x1", "KLM"},
        {"src netlink::4294967295", ""},
        {"sport != netlink:-1", ""},
        {"sport > netlink:-1", "KL"},
        {"dst netlink::-1", "KLM"},
        {"not src netlink:genl", "KM"},
        {"-fnetlink src genl or sport kernel", "KL"},
        {"sport = netlink:777", "L"},
        {"sport != netlink:777", "KM"},
        {"sport > netlink:0", "L"},
        {"sport >= netlink:0", "KL"},
        {"sport < netlink:0", "M"},
        {"sport <= netlink:0", "KM"},
        {"sport < netlink:777", "KM"},
        {"sport <= netlink:777", "KLM"},
        {"sport > netlink:777", ""},
        {"sport > netlink:-2147483643", "KL"},
        {"sport >= netlink:-2147483643", "KLM"},
        {"sport < netlink:-2147483643", ""},
        {"sport <= netlink:-2147483643", "M"},
        {"not sport > netlink:0", "KM"},
        {"dst netlink:rtnl", "KLM"},
        {"dst netlink:genl", ""},
        {"dst netlink::0", ""},
        {"dport < netlink:0", "KLM"},
        {"dport >= netlink:0", ""},
        {"src netlink:RTNL", "1: filter, word 2: 'netlink:RTNL': there is no such protocol"},
        {"src netlink:256", "1: filter, word 2: 'netlink:256': there is no such protocol"},
        {"sport = netlink:ssh", "1: filter, word 3: 'netlink:ssh': a netlink port is a number or "
                                "kernel"},
    };

    (void)state;
    CHECK(rows);
}

static void vsocks_have_two_numbers_at_each_end(void **state)
{
    static const struct filtered rows[] = {
        {"src vsock:3", "V"},
        {"src vsock:3:1024", "V"},
        {"src vsock:3:22", ""},
        {"src vsock:*:22", "W"},
        {"src vsock:*", "VW"},
        {"dst vsock:2", "V"},
        {"dst vsock:2:5000", "V"},
        {"dst vsock::0x1388", "V"},
        {"dst vsock:2:5001", ""},
        {"dst vsock:4294967295", "W"},
        {"sport = vsock:22", "W"},
        {"sport != vsock:22", "V"},
        {"sport > vsock:22", "V"},
        {"sport <= vsock:22", "W"},
        {"dport = vsock:5000", "V"},
        {"dport < vsock:5001", "V"},
        {"--vsock sport ge 1024", "V"},
        {"sport = vsock:ssh", "1: filter, word 3: 'vsock:ssh': a vsock address is CID:PORT, two "
                              "numbers"},
        {"src vsock:4294967296",
         "1: filter, word 2: 'vsock:4294967296': a vsock address is CID:PORT, two numbers"},
    };

    (void)state;
    CHECK(rows);
}

static void xdp_and_tipc_sockets_are_not_compared_by_address(void **state)
{
    static const struct filtered rows[] = {
        {"--xdp src *", "1: filter, word 2: '*': XDP and TIPC sockets cannot be compared by "
                        "addresses"},
        {"--tipc sport = 1", "1: filter, word 3: '1': XDP and TIPC sockets cannot be compared by "
                             "addresses"},
    };

    (void)state;
    CHECK(rows);
}

/* -4 and -6 together list both, so the address says which. */
static void both_families_of_ip_are_one(void **state)
{
    static const struct filtered rows[] = {
        {"-46", "abcdefgh"},
        {"-46 sport = 22", "acde"},
        {"-64 src 10.0.0.1", "ad"},
        {"-46 src [2001:db8::1]", "c"},
        {"-46 src inet:10.0.0.1", "a"},
    };

    (void)state;
    CHECK(rows);
}

static void a_family_limits_the_listing_and_what_follows(void **state)
{
    static const struct filtered rows[] = {
        {"src inet:10/8 or src unix:*", "uvwx"},
        {"src unix:* or src inet:10/8", "ab"},
        {"src inet:10.0.0.1 or sport = 443", "ab"},
        {"sport = 443 or src inet6:[::]", "f"},
        {"-4 sport = inet6:22", "cd"},
        {"src inet6:* and dst 10.0.0.1",
         "1: filter, word 5: '10.0.0.1': not an IPv6 address, network or host name"},
        {"-t not sport = 22 or src unix:@*", "uvwx"},
        {"-4 src [::1]", "1: filter, word 2: '[::1]': not an IPv4 address, network or host name"},
    };

    (void)state;
    CHECK(rows);
}

static void interfaces_have_names_or_numbers(void **state)
{
    static const struct filtered rows[] = {
        {"dev lo", "g"},
        {"dev = lo", "g"},
        {"dev == lo", "g"},
        {"dev 7", "b"},
        {"dev 0x7", "b"},
        {"dev 0", "acdefuvwx"},
        {"dev != 0", "bgh"},
        {"-t dev 0", "acdef"},
        {"-t dev != 7", "acdefgh"},
        {"-t not dev lo", "abcdefh"},
        {"dev ne lo", "abcdefhuvwx"},
        {"dev 7 or dev lo", "bg"},
        {"dev nonsense", "1: filter, word 2: 'nonsense': there is no such interface"},
        {"dev 4294967296", "1: filter, word 2: '4294967296': there is no such interface"},
        {"dev > lo", "filter, word 2: expected = or !=, not '>'"},
    };

    (void)state;
    CHECK(rows);
}

/* Without its right a process sees no marks: such sockets have none. Of other families it is 0. */
static void marks_are_compared_under_a_mask(void **state)
{
    static const struct filtered rows[] = {
        {"fwmark 16", "a"},
        {"fwmark = 0x10", "a"},
        {"fwmark 020", "a"},
        {"fwmark 0x10/0xf0", "a"},
        {"-t fwmark 0/0xf", "a"},
        {"fwmark 0/0xf", "auvwx"},
        {"fwmark 0", "uvwx"},
        {"fwmark != 0", "abcdefgh"},
        {"fwmark 0x13/0xf0", ""},
        {"fwmark 17", ""},
        {"fwmark -1", ""},
        {"fwmark != 16", "bcdefghuvwx"},
        {"-t not fwmark 16", "bcdefgh"},
        {"fwmark != 17", ALL},
        {"fwmark x", "1: filter, word 2: 'x': a mark is NUMBER or NUMBER/MASK, such as 0x10/0xff"},
        {"fwmark 1/",
         "1: filter, word 2: '1/': a mark is NUMBER or NUMBER/MASK, such as 0x10/0xff"},
        {"fwmark 1/2/3",
         "1: filter, word 2: '1/2/3': a mark is NUMBER or NUMBER/MASK, such as 0x10/0xff"},
        {"fwmark 0x100000000",
         "1: filter, word 2: '0x100000000': a mark is NUMBER or NUMBER/MASK, such as 0x10/0xff"},
        {"fwmark > 1", "filter, word 2: expected = or !=, not '>'"},
        {"cgroup /nonexistent/group",
         "1: filter, word 2: '/nonexistent/group': there is no such control group"},
        {"cgroup", "filter, at the end: expected the path of a control group"},
    };

    (void)state;
    CHECK(rows);
}

static void operators_are_read_from_left_to_right(void **state)
{
    static const struct filtered rows[] = {
        {"sport 22 and dst 192.168.1.5", "ad"},
        {"sport 22 & dst 192.168.1.5", "ad"},
        {"sport 22 && dst 192.168.1.5", "ad"},
        {"sport 22 dst 192.168.1.5", "ad"},
        {"sport 443 or sport 53", "bg"},
        {"sport 443 | sport 53", "bg"},
        {"sport 443 || sport 53", "bg"},
        {"sport 443 or sport 22 and dst 192.168.1.5", "ad"},
        {"sport 443 or ( sport 22 and dst 192.168.1.5 )", "abd"},
        {"sport 22 and dst 192.168.1.5 or sport 443", "abd"},
        {"sport 443 or sport 22 dst 192.168.1.5", "ad"},
        {"( sport 443 or sport 22 ) dst 192.168.1.5", "ad"},
        {"not sport 443 and not sport 22", "fghuvwx"},
        {"not sport 443 sport 22", "acde"},
        {"not ( sport 443 or sport 22 )", "fghuvwx"},
        {"! ( sport 443 | sport 22 )", "fghuvwx"},
        {"sport 443 or not sport 22", "bfghuvwx"},
        {"( ( sport 443 ) )", "b"},
        {"sport 443 or sport 53 or sport 80 or sport 546", "bfgh"},
        {"sport 22 sport 22 sport 22", "acde"},
        {"\tsport\t=  :443 ", "b"},
        {"sport\\ = 22", "1: filter, word 1: 'sport =' is not a condition: put spaces around '='"},
        {"s\\port = 2\\2", "acde"},
    };

    (void)state;
    CHECK(rows);
}

/* Only where it differs from what `and` usually means. */
static void an_and_after_an_or_is_noticed(void **state)
{
    static const struct {
        const char *text;
        bool mixed;
    } rows[] = {
        {"sport 1 or sport 2 and sport 3", true},
        {"sport 1 or sport 2 sport 3", true},
        {"( sport 1 or sport 2 and sport 3 )", true},
        {"sport 1 and sport 2 or sport 3", false},
        {"sport 1 or ( sport 2 and sport 3 )", false},
        {"( sport 1 or sport 2 ) and sport 3", false},
        {"sport 1 or sport 2 or sport 3", false},
        {"sport 1", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct filtering filtering;
        parse(&filtering, rows[i].text);
        assert_false(filtering.filter.failed);
        assert_int_equal(filtering.filter.mixed, rows[i].mixed);
        finish(&filtering);
    }
}

/* --- What is wrong ---------------------------------------------------------------------------- */

static void mistakes_name_their_position_and_the_right_words(void **state)
{
    static const struct filtered rows[] = {
        {"nonsense", "1: filter, word 1: expected src, dst, sport, dport, dev, fwmark, cgroup, "
                     "autobound, not or (, not 'nonsense'"},
        {"sprt = 22", "1: filter, word 1: 'sprt' is not a condition; did you mean sport?"},
        {"sport = 22 or dsst 10/8",
         "1: filter, word 5: 'dsst' is not a condition; did you mean dst?"},
        {"established", "1: filter, word 1: 'established' is not a condition; did you mean state "
                        "established?"},
        {"sport 22 state listening",
         "1: filter, word 3: state must come before the other conditions"},
        {"sport", "filter, at the end: expected a port"},
        {"sport =", "filter, at the end: expected a port"},
        {"src", "filter, at the end: expected an address"},
        {"dev =", "filter, at the end: expected an interface"},
        {"src = src", "filter, word 3: expected an address, not 'src'"},
        {"sport and 22", "filter, word 2: expected a port, not 'and'"},
        {"src != 10.0.0.1", "filter, word 2: expected = or an address (instead of !=, type: "
                            "not src ADDRESS), not '!='"},
        {"src > 10.0.0.1", "filter, word 2: expected = or an address (instead of !=, type: "
                           "not src ADDRESS), not '>'"},
        {"sport = = 22", "filter, word 3: expected a port, not '='"},
        {"( sport 22", "filter, at the end: expected 'and', 'or', a condition or ')'"},
        {"sport 22 )", "filter, word 3: expected 'and', 'or', a condition or the end, not ')'"},
        {"( )", "filter, word 2: expected src, dst, sport, dport, dev, fwmark, cgroup, autobound, "
                "not or (, not ')'"},
        {"(sport 22)", "1: filter, word 1: '(sport' is not a condition: put a space after '('"},
        {"sport(22", "1: filter, word 1: 'sport(22' is not a condition: put spaces around '('"},
        {"not", "filter, at the end: expected src, dst, sport, dport, dev, fwmark, cgroup, "
                "autobound, not or ("},
        {"sport 22 and", "filter, at the end: expected src, dst, sport, dport, dev, fwmark, "
                         "cgroup, autobound, not or ("},
        {"or sport 22", "filter, word 1: expected src, dst, sport, dport, dev, fwmark, cgroup, "
                        "autobound, not or (, not 'or'"},
        {"sport 22 or or sport 23", "filter, word 4: expected src, dst, sport, dport, dev, fwmark, "
                                    "cgroup, autobound, not or (, not 'or'"},
        {"sport 22 23", "filter, word 3: expected src, dst, sport, dport, dev, fwmark, cgroup, "
                        "autobound, not or (, not '23'"},
        {"= 22", "filter, word 1: expected src, dst, sport, dport, dev, fwmark, cgroup, autobound, "
                 "not or (, not '='"},
        {"sport = \033[m", "1: filter, word 3: '\\x1b[m': no such port or service"},
    };

    (void)state;
    CHECK(rows);
}

static void wrong_values_are_distinguished_from_wrong_filters(void **state)
{
    static const struct filtered rows[] = {
        {"sport = nonsense", "1: filter, word 3: 'nonsense': no such port or service"},
        {"-t sport = 65536", "1: filter, word 3: '65536': a port is a number from 0 to 65535"},
        {"-t sport = -1", "1: filter, word 3: '-1': no such port or service"},
        {"sport > *", "1: filter, word 3: '*': < <= > >= compare with one port only"},
        {"sport = 22x", "1: filter, word 3: '22x': no such port or service"},
        {"src 10.0.0.1:nonsense",
         "1: filter, word 2: '10.0.0.1:nonsense': no such port or service"},
        {"src 1.2.3.4.5",
         "1: filter, word 2: '1.2.3.4.5': not an address, network or host name (IPv6 in brackets)"},
        {"src 300.1.1.1",
         "1: filter, word 2: '300.1.1.1': not an address, network or host name (IPv6 in brackets)"},
        {"src 10.0.0.0/33", "1: filter, word 2: '10.0.0.0/33': not an address, network or host "
                            "name (IPv6 in brackets)"},
        {"src 10.0.0.0/255.0.255.0", "1: filter, word 2: '10.0.0.0/255.0.255.0': not an address, "
                                     "network or host name (IPv6 in brackets)"},
        {"src [::1", "1: filter, word 2: '[::1': the bracket is not closed"},
        {"src [::1/129]",
         "1: filter, word 2: '[::1/129]': not an address, network or host name (IPv6 in brackets)"},
        {"-w sport = ssh", "1: filter, word 3: 'ssh': no such port or service"},
    };

    (void)state;
    CHECK(rows);
}

static void deep_and_long_filters_end_in_a_message(void **state)
{
    enum { DEEP = 70 };
    char text[2 * DEEP + 1] = "";

    (void)state;
    for (size_t i = 0; i < DEEP; i++)
        memcpy(&text[2 * i], "( ", sizeof "( ");
    assert_string_equal(listed(text), "filter, word 65: the filter is nested more than 64 deep");
}

static void services_are_those_of_the_listed_protocols(void **state)
{
    (void)state;
    assert_string_equal(listed("-t sport = ssh"), "acde");
    assert_string_equal(listed("-u sport = ssh"),
                        "1: filter, word 3: 'ssh': no such port or service");
    assert_string_equal(listed("-tu sport = ssh"), "acde");
}

/* --- Words ------------------------------------------------------------------------------------ */

static int read_file(struct ss_words *words, const char *lines, size_t size)
{
    char path[] = "/tmp/test_ss_filter.XXXXXX";
    const int fd = mkstemp(path);
    int error;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, lines, size), size);
    close(fd);
    error = ss_words_read(words, path);
    unlink(path);
    return error;
}

static void arguments_come_first_and_then_the_lines_of_the_file(void **state)
{
    static const char lines[] = "# sport 1\n0 sport 2\n  or dport 50000\n\nor\tsport 53";
    static const char *const arguments[] = {"sport", "= 80"};
    struct ss_words words = {.arguments = arguments, .count = COUNT(arguments)};
    struct text word;
    char all[256] = "";

    (void)state;
    assert_int_equal(read_file(&words, lines, sizeof lines - 1), 0);
    while (ss_words_next(&words, &word))
        snprintf(all + strlen(all), sizeof all - strlen(all), "%.*s;", (int)word.length, word.data);
    assert_string_equal(all, "sport;=;80;or;dport;50000;or;sport;53;");
    ss_words_finish(&words);
}

static void a_file_that_is_not_read_to_its_end_is_no_filter(void **state)
{
    static const char zero[] = "sport 1\0or sport 2\n";
    struct ss_words words = {0};

    (void)state;
    assert_int_equal(ss_words_read(&words, "/nonexistent/filter"), -ENOENT);
    assert_int_equal(read_file(&words, zero, sizeof zero - 1), -EILSEQ);
    ss_words_finish(&words);
    assert_int_equal(ss_words_read(&words, "/dev/zero"), -EFBIG);
    ss_words_finish(&words);
}

/* ss refuses such addresses, though it shows them. */
static void an_address_may_have_its_device(void **state)
{
    static const struct filtered rows[] = {
        {"src 10.0.0.0/8%7", "b"},
        {"src 10.0.0.0%7/8", "b"},
        {"src *%7", "b"},
        {"src [::]%7", ""},
        {"src [fe80::1%7]:22", ""},
        {"src 10.0.0.0/8%8", ""},
        {"src [fe80::1]%5g0", "1: filter, word 2: '[fe80::1]%5g0': there is no such interface"},
        {"src fe80::1%", "1: filter, word 2: 'fe80::1%': not an address, network or host name "
                         "(IPv6 in brackets)"},
        {"src [fe80::1%lo",
         "1: filter, word 2: '[fe80::1%lo': not an address, network or host name "
         "(IPv6 in brackets)"},
        {"src fe80::1%lo:nonsense",
         "1: filter, word 2: 'fe80::1%lo:nonsense': no such port or service"},
    };

    (void)state;
    CHECK(rows);
}

/* In other namespaces there may be an interface of that name, and numbers mean others. */
static void with_all_namespaces_a_device_is_a_number_or_a_name(void **state)
{
    (void)state;
    of_all_netns = true;
    assert_string_equal(listed("dev 5g0"), "");
    assert_string_equal(listed("dev 7"), "b");
    of_all_netns = false;
    assert_string_equal(listed("dev 5g0"), "1: filter, word 2: '5g0': there is no such interface");
}

/* The words are alone, or behind a condition that needs one: then it is the end that is wrong. */
static void words_that_are_offered_are_understood(void **state)
{
    static const struct {
        const char *before, *beside; /* beside: offered words that can follow something only */
    } places[] = {{"state", ""},
                  {"sport", ""},
                  {"dev", ""},
                  {"fwmark", ""},
                  {"", "state exclude excl and or"}};

    (void)state;
    for (size_t i = 0; i < COUNT(places); i++) {
        const char *words = ss_operands[i].words;
        for (struct text word; text_next(&words, ' ', &word);) {
            char name[32], text[80];
            snprintf(name, sizeof name, "%.*s", (int)word.length, word.data);
            snprintf(text, sizeof text, "%s %s %s", places[i].before, name,
                     i == 1   ? ":22"
                     : i == 2 ? "5"
                     : i == 3 ? "7"
                              : "");
            if (i > 0 && !text_has_word(places[i].beside, name))
                assert_null(strstr(listed(text), "filter, word"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_are_offered_are_understood),
        cmocka_unit_test(an_address_may_have_its_device),
        cmocka_unit_test(with_all_namespaces_a_device_is_a_number_or_a_name),
        cmocka_unit_test(an_empty_filter_lists_all),
        cmocka_unit_test(ports_are_compared),
        cmocka_unit_test(opposites_list_sockets_without_ports),
        cmocka_unit_test(ipv4_addresses_may_be_short_and_match_mapped_ones),
        cmocka_unit_test(ipv6_addresses_are_in_brackets),
        cmocka_unit_test(any_address_is_one_of_every_family),
        cmocka_unit_test(a_name_means_its_addresses_in_the_first_family_that_knows_it),
        cmocka_unit_test(names_of_unix_sockets_are_patterns_in_any_case),
        cmocka_unit_test(inodes_of_unix_sockets_are_compared_as_ports),
        cmocka_unit_test(packet_sockets_have_a_protocol_and_an_interface),
        cmocka_unit_test(netlink_sockets_have_a_protocol_and_a_signed_port),
        cmocka_unit_test(vsocks_have_two_numbers_at_each_end),
        cmocka_unit_test(xdp_and_tipc_sockets_are_not_compared_by_address),
        cmocka_unit_test(both_families_of_ip_are_one),
        cmocka_unit_test(a_family_limits_the_listing_and_what_follows),
        cmocka_unit_test(interfaces_have_names_or_numbers),
        cmocka_unit_test(marks_are_compared_under_a_mask),
        cmocka_unit_test(operators_are_read_from_left_to_right),
        cmocka_unit_test(an_and_after_an_or_is_noticed),
        cmocka_unit_test(mistakes_name_their_position_and_the_right_words),
        cmocka_unit_test(wrong_values_are_distinguished_from_wrong_filters),
        cmocka_unit_test(deep_and_long_filters_end_in_a_message),
        cmocka_unit_test(services_are_those_of_the_listed_protocols),
        cmocka_unit_test(arguments_come_first_and_then_the_lines_of_the_file),
        cmocka_unit_test(a_file_that_is_not_read_to_its_end_is_no_filter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
