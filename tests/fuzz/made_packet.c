/* SPDX-License-Identifier: MIT */
#include "made_packet.h"

#include <arpa/inet.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fuzz.h"

/* --- Packets ---------------------------------------------------------------------------------- */

static const char *const addresses[][8] = {
    {"10.0.0.1", "10.0.0.2", "10.0.1.1", "192.0.2.1", "0.0.0.0", "255.255.255.255", "10.255.0.1",
     "11.0.0.1"},
    {"2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "fe80::1", "::", "::ffff:10.0.0.1",
     "::ffff:192.0.2.1", "ff02::1"},
};
static const uint16_t ports[] = {53, 443, 0, 65535, 1024, 32768, 444, 442};
static const uint8_t protocols[] = {IPPROTO_TCP,     IPPROTO_UDP,    IPPROTO_SCTP, IPPROTO_DCCP,
                                    IPPROTO_UDPLITE, IPPROTO_ICMP,   IPPROTO_GRE,  IPPROTO_ESP,
                                    IPPROTO_IPIP,    IPPROTO_ICMPV6, 0xff,         IPPROTO_IGMP};
static const uint16_t links[] = {ARPHRD_ETHER, ARPHRD_LOOPBACK, ARPHRD_NONE,
                                 ARPHRD_PPP,   ARPHRD_RAWIP,    ARPHRD_IPGRE};

static struct address take_address(struct bytes *bytes, bool ipv4)
{
    struct address taken = {.family = ipv4 ? AF_INET : AF_INET6};

    require(inet_pton(taken.family, addresses[!ipv4][bytes_u8(bytes) % 8], taken.bytes) == 1);
    return taken;
}

static uint8_t *put16(uint8_t *at, uint16_t number)
{
    *at++ = (uint8_t)(number >> 8);
    *at++ = (uint8_t)number;
    return at;
}

enum { LATER_FRAGMENT = 1, FIRST_FRAGMENT = 2, EXTENDED = 4 };

/* A header of IPv4, with options if it is extended. */
static uint8_t *put_ipv4(uint8_t *at, const struct traffic_record *tuple, uint8_t flags)
{
    const size_t length = flags & EXTENDED ? 32 : 20;

    at[0] = (uint8_t)(0x40 | length / 4);
    put16(at + 2, (uint16_t)(length + 8));
    put16(at + 6, flags & LATER_FRAGMENT ? 0x00b9 : flags & FIRST_FRAGMENT ? 0x2000 : 0x4000);
    at[9] = (uint8_t)tuple->protocol;
    memcpy(at + 12, tuple->src.bytes, 4);
    memcpy(at + 16, tuple->dst.bytes, 4);
    return at + length;
}

/* A header of IPv6, with one more behind it if it is a fragment or extended. */
static uint8_t *put_ipv6(uint8_t *at, const struct traffic_record *tuple, uint8_t flags)
{
    const bool more = flags & (LATER_FRAGMENT | FIRST_FRAGMENT | EXTENDED);

    at[0] = 0x60;
    put16(at + 4, more ? 16 : 8);
    at[6] = !more              ? (uint8_t)tuple->protocol
            : flags & EXTENDED ? IPPROTO_DSTOPTS
                               : IPPROTO_FRAGMENT;
    memcpy(at + 8, tuple->src.bytes, 16);
    memcpy(at + 24, tuple->dst.bytes, 16);
    if (!more)
        return at + 40;
    at[40] = (uint8_t)tuple->protocol;
    put16(at + 42, flags & EXTENDED ? 0 : flags & LATER_FRAGMENT ? 0x00b8 : 1);
    return at + 48;
}

/* What a packet of IP is counted as that ends there. */
static void count_ip(struct made_packet *made, const struct traffic_record *tuple,
                     const uint8_t *transport)
{
    struct record *record = &made->record;
    const uint8_t *end = made->bytes + made->packet.length;

    if (end < transport) {
        made->certain = false;
        return; /* not known as IP */
    }
    record->has |= TRAFFIC_ADDRESSES;
    record->traffic = *tuple;
    if (!flow_has_ports((uint8_t)tuple->protocol))
        return;
    if (end >= transport + 4)
        record->has |= TRAFFIC_PORTS;
    else
        made->certain = false;
}

static void make_ip(struct made_packet *made, uint8_t *at, bool ipv4, struct bytes *bytes)
{
    const uint8_t flags = bytes_u8(bytes), cut = bytes_u8(bytes);
    struct traffic_record made_tuple = made->record.traffic, *tuple = &made_tuple;
    uint8_t *transport;
    size_t left;

    tuple->src = take_address(bytes, ipv4);
    tuple->dst = take_address(bytes, ipv4);
    tuple->protocol = protocols[bytes_u8(bytes) % COUNT(protocols)];
    tuple->sport = ports[bytes_u8(bytes) % COUNT(ports)];
    tuple->dport = ports[bytes_u8(bytes) % COUNT(ports)];
    transport = (ipv4 ? put_ipv4 : put_ipv6)(at, tuple, flags);
    if (flags & LATER_FRAGMENT && !(!ipv4 && flags & EXTENDED)) /* its row has the first one's */
        memset(transport, 0xa5, 8);
    else
        put16(put16(transport, tuple->sport), tuple->dport);
    left = (size_t)(transport + 8 - at);
    made->packet.length = (size_t)(transport + 8 - made->bytes) - (cut > left ? 0 : cut);
    made->certain &= !(flags & LATER_FRAGMENT) && (ipv4 || !flags);
    count_ip(made, tuple, transport);
}

void made_packet_init(struct made_packet *made, struct bytes *bytes)
{
    static const uint16_t ethertypes[] = {ETH_P_IP,  ETH_P_IPV6,  ETH_P_IP,     ETH_P_IPV6,
                                          ETH_P_ARP, ETH_P_8021Q, ETH_P_8021AD, 0x0026};
    const uint16_t link = links[bytes_u8(bytes) % COUNT(links)];
    const uint16_t outer = ethertypes[bytes_u8(bytes) % COUNT(ethertypes)];
    const bool tagged = outer == ETH_P_8021Q || outer == ETH_P_8021AD;
    const bool ethernet = link == ARPHRD_ETHER || link == ARPHRD_LOOPBACK;
    const uint16_t ethertype = !tagged ? outer : ethertypes[bytes_u8(bytes) % 5];
    uint8_t *at;

    memset(made, 0, sizeof *made);
    at = made->bytes;
    made->record.kind = &kind_traffic;
    made->record.traffic.ethertype = made->record.traffic.protocol = ethertype;
    made->certain = !tagged && ethertype >= 0x600 && link != ARPHRD_IPGRE;
    if (ethernet)
        at = put16(at + 12, outer);
    if (tagged)
        at = put16(at + 2, ethertype);
    made->packet =
        (struct kernel_packet){made->bytes, (size_t)(at - made->bytes) + 46, link, outer};
    if (ethertype == ETH_P_IP || ethertype == ETH_P_IPV6)
        make_ip(made, at, ethertype == ETH_P_IP, bytes);
}

/* --- Expressions ------------------------------------------------------------------------------ */

struct expression {
    char *text;
    size_t length;
    struct bytes *bytes;
    bool judged;
};

__attribute__((format(printf, 2, 3))) static void put(struct expression *expression,
                                                      const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    expression->length += (size_t)vsnprintf(expression->text + expression->length,
                                            MADE_TEXT_MAX - expression->length, format, arguments);
    va_end(arguments);
    require(expression->length < MADE_TEXT_MAX);
}

static void put_address(struct expression *expression, const char *column)
{
    const uint8_t choice = bytes_u8(expression->bytes), prefix = bytes_u8(expression->bytes);
    const uint8_t which = bytes_u8(expression->bytes) % 16;
    const char *const text = addresses[which / 8][which % 8];

    if (choice % 5 == 4) {
        expression->judged = false;
        put(expression, choice & 0x80 ? "%s = null" : "%s != null", column);
        return;
    }
    put(expression, "%s %s %s", column,
        (const char *const[]){"=", "!=", "in", "not in"}[choice % 5], text);
    if (choice % 5 >= 2)
        put(expression, "/%u", prefix % (which / 8 ? 129U : 33U));
}

static void put_number(struct expression *expression, const char *column, bool port)
{
    static const char *const operators[] = {"=", "!=", "<", "<=", ">", ">="};
    const uint8_t choice = bytes_u8(expression->bytes), value = bytes_u8(expression->bytes);
    const uint8_t other = bytes_u8(expression->bytes);
    const unsigned constant = port ? ports[value % COUNT(ports)] : value;

    if (choice % 8 < COUNT(operators)) {
        /* words have no order */
        put(expression, "%s %s %u", column, operators[choice % (port ? 8 : 2)], constant);
    } else if (choice % 8 == 6) {
        put(expression, "%s %sin %u,%u-%u", column, choice & 0x80 ? "not " : "", constant,
            constant < 60000 ? constant + 3 : constant,
            constant < 60000 ? constant + 3U + other : constant);
    } else {
        expression->judged = false;
        put(expression, choice & 0x80 ? "%s = null" : "%s != null", column);
    }
}

static void put_comparison(struct expression *expression)
{
    switch (bytes_u8(expression->bytes) % 8) {
    case 0:
        put_address(expression, "src");
        break;
    case 1:
        put_address(expression, "dst");
        break;
    case 2:
        put_number(expression, "sport", true);
        break;
    case 3:
        put_number(expression, "dport", true);
        break;
    case 4:
        put(expression, "protocol %s %s", bytes_u8(expression->bytes) & 1 ? "=" : "!=",
            (const char *const[]){"tcp", "udp", "icmp", "gre"}[bytes_u8(expression->bytes) % 4]);
        break;
    case 5:
        put_number(expression, "ethertype", false);
        break;
    case 6:
        put(expression, "ethertype %s %u", bytes_u8(expression->bytes) & 1 ? "=" : "!=",
            (const unsigned[]){ETH_P_IP, ETH_P_IPV6, ETH_P_ARP}[bytes_u8(expression->bytes) % 3]);
        break;
    default:
        expression->judged = false;
        put(expression, "frames < %u", bytes_u8(expression->bytes) & 1);
    }
}

/* At most eight comparisons. */
static void put_any(struct expression *expression, unsigned depth)
{
    const uint8_t choice = bytes_u8(expression->bytes);

    if (choice & 1)
        put(expression, "not ");
    if (!depth || !(choice & 6)) {
        put(expression, "(");
        put_comparison(expression);
        put(expression, ")");
        return;
    }
    put(expression, "(");
    put_any(expression, depth - 1);
    put(expression, choice & 2 ? " and " : " or ");
    put_any(expression, depth - 1);
    put(expression, ")");
}

void made_packet_where(char text[MADE_TEXT_MAX], struct bytes *bytes, bool *judged)
{
    struct expression expression = {.text = text, .bytes = bytes, .judged = true};

    text[0] = 0;
    put_any(&expression, 3);
    *judged = expression.judged;
}
