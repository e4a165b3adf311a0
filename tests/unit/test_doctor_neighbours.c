/* SPDX-License-Identifier: MIT */
/* What the doctor concludes about neighbours, from made events, packets and rows. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>

#include "../fuzz/kernel_filter.h"
#include "backend/neighbour/decode.h"
#include "doctor/rules.h"
#include "fastnet/clock.h"
#include "fastnet/neighbour_events.h"
#include "fastnet/report.h"
#include "kit.h"

enum { KEPT = 8, C0 = 3 };

/* MAC addresses, by their last byte. */
enum { MAC_A = 0x0a, MAC_B = 0x3b, MAC_C = 0x6c };

/* Two readings with the watch between them, and the findings. */
struct lan {
    struct neighbour_watch *watch;
    struct reading before, now;
    struct interface_reading interfaces[2];
    size_t count;
    uint8_t severity[KEPT];
    char summaries[KEPT][512], subjects[KEPT][192];
};

static int lan_keep(const struct record *record, void *arg)
{
    struct lan *lan = arg;
    const struct finding_record *finding = &record->finding;
    const size_t i = lan->count++;

    assert_in_range(i, 0, KEPT - 1);
    lan->severity[i] = finding->severity;
    snprintf(lan->summaries[i], sizeof lan->summaries[i], "%.*s", (int)finding->summary.length,
             finding->summary.data);
    snprintf(lan->subjects[i], sizeof lan->subjects[i], "%.*s", (int)finding->subject.length,
             finding->subject.data);
    return 0;
}

/* Tries the rule; returns the number of findings. */
static size_t lan_examine(struct lan *lan)
{
    static const struct doctor_options options = {.proc_root = "/nonexistent"};
    struct doctor_summary summary = {.rules = 0};
    struct report report = {.partial = false};
    uint64_t done = 0;
    size_t i = 0;

    while (strcmp(doctor_rule(i)->name, "neighbour-flap") != 0)
        i++;
    struct examination examination = {
        .options = &options,
        .before = &lan->before,
        .now = &lan->now,
        .done = &done,
        .searched_owners = true, /* there are none */
        .rule = &rules[i],
        .summary = &summary,
        .report = &report,
        .fn = lan_keep,
        .arg = lan,
    };
    lan->count = 0;
    rules[i].evaluate(&examination);
    return lan->count;
}

static struct record entry(const char *address, uint16_t state, uint8_t mac)
{
    struct record record;

    record_begin(&record, &kind_neighbour, sizeof record.neighbour);
    record.neighbour.address = ip(address);
    record.neighbour.interface = C0;
    record.neighbour.state = state;
    record.has = NEIGHBOUR_INTERFACE | NEIGHBOUR_STATE | NEIGHBOUR_FLAGS;
    if (mac) {
        memcpy(record.neighbour.lladdr, (const uint8_t[]){2, 0, 0, 0, 0, mac}, MAC_SIZE);
        record.neighbour.lladdr_length = MAC_SIZE;
        record.has |= NEIGHBOUR_LLADDR;
    }
    record.identity = neighbour_identity(&record.neighbour);
    return record;
}

static void happens(struct lan *lan, const struct record *record)
{
    neighbour_watch_take_event(record, lan->watch);
}

static void gets_mac(struct lan *lan, const char *address, uint8_t mac)
{
    const struct record record = entry(address, NUD_STALE, mac);

    happens(lan, &record);
}

/* Reads a table of one row, as the next reading does. */
static enum neighbour_past lan_read(struct lan *lan, struct reading *reading,
                                    const struct record *row)
{
    enum neighbour_past past;

    neighbour_watch_begin_table(lan->watch, &reading->neighbours);
    past = neighbour_watch_learn(lan->watch, row);
    neighbour_watch_end_table(lan->watch);
    return past;
}

static int make_lan(void **state)
{
    struct lan *lan = calloc(1, sizeof *lan);
    const struct record row = entry("10.3.0.9", NUD_REACHABLE, MAC_A);

    assert_non_null(lan);
    lan->watch = neighbour_watch_create(NULL);
    assert_non_null(lan->watch);
    lan->before.at = CLOCK_SECOND;
    lan->now.at = 6 * CLOCK_SECOND;
    lan->interfaces[0] = (struct interface_reading){C0, "c0", .mac = {2, 0, 0, 0, 0, 1}};
    lan->interfaces[1] = (struct interface_reading){C0 + 1, "c1", .mac = {2, 0, 0, 0, 0, 2}};
    lan->before.interfaces = lan->now.interfaces = lan->interfaces;
    lan->before.interface_count = lan->now.interface_count = 2;
    lan_read(lan, &lan->before, &row);
    *state = lan;
    return 0;
}

static int remove_lan(void **state)
{
    struct lan *lan = *state;

    neighbour_watch_destroy(lan->watch);
    free(lan->before.neighbours.own);
    free(lan->now.neighbours.own);
    free(lan->now.silent);
    free(lan);
    return 0;
}

/* Ends the readings with the row that the table has then. */
static size_t lan_ends(struct lan *lan)
{
    const struct record row = entry("10.3.0.9", NUD_REACHABLE, MAC_A);

    lan->now.neighbours.flap_count = lan->now.neighbours.claim_count = 0;
    lan_read(lan, &lan->now, &row);
    return lan_examine(lan);
}

/* --- MAC addresses of neighbours -------------------------------------------------------------- */

static void a_mac_address_that_returns_is_found(void **state)
{
    struct lan *lan = *state;

    gets_mac(lan, "10.3.0.9", MAC_B);
    gets_mac(lan, "10.3.0.9", MAC_A);
    assert_int_equal(lan_ends(lan), 1);
    assert_int_equal(lan->severity[0], SEVERITY_WARNING);
    assert_string_equal(lan->subjects[0], "10.3.0.9");
    assert_string_equal(lan->summaries[0],
                        "the MAC address of 10.3.0.9 on c0 changed 2 times in 5 s, and is "
                        "02:00:00:00:00:0a again: two machines, or two interfaces of a machine, "
                        "have this address, or a machine sends by several cards (bonding, "
                        "balance-alb), or a spare machine had it for a moment");
    assert_int_equal(lan_ends(lan), 0); /* the next reading has its own events */
}

static void three_machines_with_one_address_are_found(void **state)
{
    struct lan *lan = *state;

    gets_mac(lan, "10.3.0.9", MAC_B);
    gets_mac(lan, "10.3.0.9", MAC_C);
    gets_mac(lan, "10.3.0.9", MAC_B);
    assert_int_equal(lan_ends(lan), 1);
    assert_string_equal(lan->summaries[0],
                        "the MAC address of 10.3.0.9 on c0 changed 3 times in 5 s, and is "
                        "02:00:00:00:00:3b again: two machines, or two interfaces of a machine, "
                        "have this address, or a machine sends by several cards (bonding, "
                        "balance-alb)");
    gets_mac(lan, "10.3.0.9", MAC_A);
    gets_mac(lan, "10.3.0.9", MAC_C);
    gets_mac(lan, "10.3.0.9", MAC_A);
    assert_int_equal(lan_ends(lan), 1);
}

static void a_change_without_return_is_healthy(void **state)
{
    struct lan *lan = *state;

    gets_mac(lan, "10.3.0.9", MAC_A);
    gets_mac(lan, "10.3.0.9", MAC_B);
    gets_mac(lan, "10.3.0.9", MAC_B);
    assert_int_equal(lan_ends(lan), 0);
    gets_mac(lan, "10.3.0.9", MAC_C); /* a container with the address of an older container */
    gets_mac(lan, "10.3.0.9", MAC_C + 1);
    gets_mac(lan, "10.3.0.9", MAC_C + 2);
    gets_mac(lan, "10.3.0.9", MAC_C + 3);
    gets_mac(lan, "10.3.0.9", MAC_C + 4);
    assert_int_equal(lan_ends(lan), 0);
}

static void neighbours_are_not_mixed_up(void **state)
{
    struct lan *lan = *state;
    struct record other = entry("10.3.0.9", NUD_STALE, MAC_B);

    other.neighbour.interface++;
    other.identity = neighbour_identity(&other.neighbour);
    gets_mac(lan, "10.3.0.10", MAC_B);
    happens(lan, &other);
    gets_mac(lan, "10.3.0.9", MAC_A);
    gets_mac(lan, "2001:db8::9", MAC_B);
    assert_int_equal(lan_ends(lan), 0);
    gets_mac(lan, "2001:db8::9", MAC_A);
    gets_mac(lan, "2001:db8::9", MAC_B);
    assert_int_equal(lan_ends(lan), 1);
    assert_string_equal(lan->subjects[0], "2001:db8::9");
}

static void entries_that_programs_manage_are_healthy(void **state)
{
    struct lan *lan = *state;
    struct record record = entry("10.3.0.9", NUD_PERMANENT, MAC_B);

    happens(lan, &record);
    gets_mac(lan, "10.3.0.9", MAC_A);
    record = entry("10.3.0.9", NUD_REACHABLE, MAC_B);
    record.neighbour.flags = NTF_EXT_LEARNED;
    happens(lan, &record);
    gets_mac(lan, "10.3.0.9", MAC_A);
    record = entry("10.3.0.9", NUD_FAILED, 0);
    happens(lan, &record);
    gets_mac(lan, "10.3.0.9", MAC_A);
    assert_int_equal(lan_ends(lan), 0);
}

static void set_mac(struct record *record, uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint8_t e,
                    uint8_t f)
{
    memcpy(record->neighbour.lladdr, (const uint8_t[]){a, b, c, d, e, f}, MAC_SIZE);
}

static void virtual_routers_are_healthy(void **state)
{
    struct lan *lan = *state;
    struct record record = entry("10.3.0.9", NUD_STALE, MAC_B);

    for (uint8_t i = 0; i < 4; i++) {
        set_mac(&record, 0, 0, 0x5e, 0, 1 + i % 2, i);
        happens(lan, &record);
        set_mac(&record, 0, 7, 0xb4, 0, 1, i % 2);
        happens(lan, &record);
        gets_mac(lan, "10.3.0.9", MAC_A);
    }
    assert_int_equal(lan_ends(lan), 0);
    set_mac(&record, 0, 0, 0x5e, 0, 3, 1);
    happens(lan, &record);
    gets_mac(lan, "10.3.0.9", MAC_A);
    assert_int_equal(lan_ends(lan), 1);
}

/* Ports of a card differ by at most 3, and their addresses are those of its maker. */
static void ports_of_one_card_are_healthy(void **state)
{
    struct lan *lan = *state;
    struct record first = entry("10.3.0.10", NUD_STALE, MAC_B), second = first;

    set_mac(&first, 0x3c, 0xec, 0xef, 0x12, 0x34, 0xff);
    set_mac(&second, 0x3c, 0xec, 0xef, 0x12, 0x35, 0x02);
    for (int i = 0; i < 4; i++) {
        happens(lan, &first);
        happens(lan, &second);
    }
    assert_int_equal(lan_ends(lan), 0);
    set_mac(&second, 0x3c, 0xec, 0xef, 0x12, 0x35, 0x03);
    happens(lan, &second);
    happens(lan, &first);
    assert_int_equal(lan_ends(lan), 1);
}

/* Events that wait while the table is read may be older than its rows. */
static void events_older_than_the_table_change_nothing(void **state)
{
    struct lan *lan = *state;

    neighbour_watch_begin_table(lan->watch, &lan->now.neighbours);
    gets_mac(lan, "10.3.0.9", MAC_B);
    gets_mac(lan, "10.3.0.9", MAC_A);
    neighbour_watch_end_table(lan->watch);
    assert_int_equal(lan_ends(lan), 0);
    gets_mac(lan, "10.3.0.9", MAC_B);
    gets_mac(lan, "10.3.0.9", MAC_A);
    assert_int_equal(lan_ends(lan), 1);
}

/* --- Addresses of this machine ---------------------------------------------------------------- */

static void own(struct reading *reading, const char *address)
{
    const struct interface_address list[] = {{.local = {ip(address), 24}, .interface = C0}};
    const struct interface_record interface = {
        .index = C0, .type = ARPHRD_ETHER, .addresses = list, .address_count = 1};

    assert_int_equal(neighbours_take_interface(&reading->neighbours, &interface), 0);
}

static void claims(struct lan *lan, const char *address, uint8_t mac)
{
    struct arp_claim claim = {.to = {.interface = C0}, .mac = {2, 0, 0, 0, 0, mac}};
    const struct address parsed = ip(address);

    memcpy(claim.to.bytes, parsed.bytes, sizeof claim.to.bytes);
    neighbour_watch_take_claim(&claim, lan->watch);
}

static void an_own_address_that_another_machine_has_is_found(void **state)
{
    struct lan *lan = *state;

    own(&lan->before, "10.3.0.1");
    own(&lan->now, "10.3.0.1");
    claims(lan, "10.3.0.1", MAC_A);
    assert_int_equal(lan_ends(lan), 1);
    assert_int_equal(lan->severity[0], SEVERITY_WARNING);
    claims(lan, "10.3.0.1", MAC_A);
    claims(lan, "10.3.0.1", MAC_A);
    assert_int_equal(lan_ends(lan), 1);
    assert_int_equal(lan->severity[0], SEVERITY_FAULT);
    assert_string_equal(lan->subjects[0], "10.3.0.1");
    assert_string_equal(lan->summaries[0],
                        "another machine with the MAC address 02:00:00:00:00:0a has the address "
                        "10.3.0.1 of c0, too: 2 ARP packets in 5 s");
}

static void an_address_that_this_machine_did_not_keep_is_not_its_own(void **state)
{
    const struct interface_address removed = {.local = {ip("10.3.0.1"), 24}, .interface = C0};
    struct lan *lan = *state;

    own(&lan->before, "10.3.0.1");
    claims(lan, "10.3.0.1", MAC_A);
    assert_int_equal(lan_ends(lan), 0);
    own(&lan->now, "10.3.0.8"); /* a new address */
    claims(lan, "10.3.0.8", MAC_A);
    assert_int_equal(lan_ends(lan), 0);
    own(&lan->now, "10.3.0.1");
    claims(lan, "10.3.0.1", MAC_A);
    neighbour_watch_take_removed(&removed, lan->watch);
    assert_int_equal(lan_ends(lan), 0);
    claims(lan, "10.3.0.1", MAC_A);
    assert_int_equal(lan_ends(lan), 1);
}

/* Two interfaces of one machine are in one network. */
static void own_mac_addresses_claim_nothing(void **state)
{
    struct lan *lan = *state;

    own(&lan->before, "10.3.0.1");
    own(&lan->now, "10.3.0.1");
    claims(lan, "10.3.0.1", 1);
    claims(lan, "10.3.0.1", 2);
    assert_int_equal(lan_ends(lan), 0);
}

static void arp_is_watched_for_addresses_on_interfaces_with_arp(void **state)
{
    const struct interface_address list[] = {{.local = {ip("169.254.1.1"), 16}},
                                             {.local = {ip("2001:db8::1"), 64}},
                                             {.local = {ip("10.3.0.1"), 24}}};
    struct interface_record interface = {.index = C0, .addresses = list, .address_count = 3};
    struct lan *lan = *state;
    struct neighbours_reading *reading = &lan->now.neighbours;

    interface.type = ARPHRD_NONE;
    assert_int_equal(neighbours_take_interface(reading, &interface), 0);
    interface.type = ARPHRD_ETHER;
    interface.flags = IFF_UP | IFF_NOARP;
    assert_int_equal(neighbours_take_interface(reading, &interface), 0);
    assert_int_equal(reading->own_count, 0);
    interface.flags = IFF_UP;
    assert_int_equal(neighbours_take_interface(reading, &interface), 0);
    assert_int_equal(reading->own_count, 1);
    assert_true(
        own_ipv4_has(reading->own, reading->own_count, &(struct own_ipv4){C0, {10, 3, 0, 1}}));
    assert_false(
        own_ipv4_has(reading->own, reading->own_count, &(struct own_ipv4){C0 + 1, {10, 3, 0, 1}}));
}

/* --- ARP packets ------------------------------------------------------------------------------ */

static const uint8_t announcement[] = {0,  1, 8, 0, 6, 4, 0, 1, 2, 0, 0,  0, 0, 0xa,
                                       10, 3, 0, 1, 0, 0, 0, 0, 0, 0, 10, 3, 0, 1};

static void an_announcement_is_a_claim(void **state)
{
    uint8_t packet[sizeof announcement];
    struct arp_claim claim;

    (void)state;
    assert_true(arp_claim_decode(announcement, sizeof announcement, &claim));
    assert_memory_equal(claim.mac, announcement + 8, MAC_SIZE);
    assert_memory_equal(claim.to.bytes, announcement + 14, 4);
    assert_false(arp_claim_decode(announcement, sizeof announcement - 1, &claim));
    for (size_t i = 2; i < 6; i++) { /* another protocol, other sizes */
        memcpy(packet, announcement, sizeof packet);
        packet[i] ^= 1;
        assert_false(arp_claim_decode(packet, sizeof packet, &claim));
    }
    memcpy(packet, announcement, sizeof packet);
    packet[8] = 3; /* a group */
    assert_false(arp_claim_decode(packet, sizeof packet, &claim));
    memset(packet + 8, 0, MAC_SIZE);
    assert_false(arp_claim_decode(packet, sizeof packet, &claim));
}

static uint32_t filtered(const struct own_ipv4 *addresses, size_t count, const uint8_t *packet,
                         size_t length)
{
    static struct sock_filter code[ARP_PROGRAM_MAX];
    const struct sock_fprog program = {
        .len = (unsigned short)arp_program_make(addresses, count, code), .filter = code};
    const struct kernel_packet received = {.bytes = packet, .length = length};

    assert_in_range(program.len, 1, ARP_PROGRAM_MAX);
    assert_true(kernel_filter_ends(&program));
    return kernel_filter_run(&program, &received);
}

static void the_filter_passes_only_senders_with_own_addresses(void **state)
{
    static struct own_ipv4 many[ARP_ADDRESSES_MAX + 1];
    const struct own_ipv4 addresses[] = {{C0, {192, 0, 2, 1}}, {C0, {10, 3, 0, 1}}};
    uint8_t packet[sizeof announcement];

    (void)state;
    memcpy(packet, announcement, sizeof packet);
    assert_int_equal(filtered(addresses, 2, packet, sizeof packet), sizeof packet);
    assert_int_equal(filtered(addresses, 1, packet, sizeof packet), 0);
    assert_int_equal(filtered(addresses, 0, packet, sizeof packet), 0);
    assert_int_equal(filtered(addresses, 2, packet, 17), 0);
    packet[3] = 1;
    assert_int_equal(filtered(addresses, 2, packet, sizeof packet), 0);
    memcpy(packet, announcement, sizeof packet);
    memset(packet + 14, 0, 4); /* a probe: nobody has the address yet */
    assert_int_equal(filtered(addresses, 2, packet, sizeof packet), 0);
    many[ARP_ADDRESSES_MAX - 1] = addresses[1];
    assert_int_equal(filtered(many, COUNT(many), announcement, sizeof announcement),
                     sizeof announcement);
    many[ARP_ADDRESSES_MAX] = addresses[1];
    many[ARP_ADDRESSES_MAX - 1] = addresses[0];
    assert_int_equal(filtered(many, COUNT(many), announcement, sizeof announcement), 0);
}

/* --- Addresses that no machine has ------------------------------------------------------------ */

/* Makes `count` neighbours that do not answer, of which `new` had no entry before. */
static void set_silent(struct lan *lan, size_t count, size_t new)
{
    free(lan->now.silent);
    lan->now.silent = calloc(count, sizeof *lan->now.silent);
    assert_non_null(lan->now.silent);
    lan->now.silent_count = count;
    for (size_t i = 0; i < count; i++) {
        const uint8_t bytes[] = {10, 3, (uint8_t)(i >> 8), (uint8_t)i};
        lan->now.silent[i] = (struct silent_neighbour){.address = address_make(AF_INET, bytes),
                                                       .interface = C0,
                                                       .used_ms = 1000,
                                                       .is_new = i < new,
                                                       .is_unknown = true};
    }
}

static void many_addresses_that_no_machine_has_are_found(void **state)
{
    struct lan *lan = *state;

    set_silent(lan, 127, 63);
    assert_int_equal(lan_examine(lan), 0);
    set_silent(lan, 127, 64);
    assert_int_equal(lan_examine(lan), 1);
    assert_string_equal(lan->subjects[0], "c0");
    assert_string_equal(lan->summaries[0],
                        "this machine, or a machine that it forwards for, asks for 127 addresses "
                        "on c0 that no machine has");
    set_silent(lan, 128, 0);
    assert_int_equal(lan_examine(lan), 1);
    for (size_t i = 0; i < 65; i++) /* machines that are off now */
        lan->now.silent[i].is_unknown = false;
    assert_int_equal(lan_examine(lan), 0);
    set_silent(lan, 128, 128);
    for (size_t i = 0; i < 65; i++) /* asked before the first reading */
        lan->now.silent[i].used_ms = 5001;
    assert_int_equal(lan_examine(lan), 0);
    set_silent(lan, 128, 128);
    for (size_t i = 0; i < 65; i++)
        lan->now.silent[i].interface = C0 + 1;
    assert_int_equal(lan_examine(lan), 1);
    assert_string_equal(lan->subjects[0], "c1");
}

/* A machine that has just started asks for all of its neighbours. */
static void neighbours_whose_answer_may_be_on_the_way_are_not_found(void **state)
{
    struct lan *lan = *state;

    set_silent(lan, 1000, 1000);
    for (size_t i = 0; i < 1000; i++)
        lan->now.silent[i].since = lan->now.at - 1499 * CLOCK_MILLISECOND;
    assert_int_equal(lan_examine(lan), 0);
    for (size_t i = 0; i < 1000; i++)
        lan->now.silent[i].since = lan->now.at - 1500 * CLOCK_MILLISECOND;
    assert_int_equal(lan_examine(lan), 1);
}

static void the_past_of_a_neighbour_is_known(void **state)
{
    const struct record with_mac = entry("10.3.0.9", NUD_FAILED, 0),
                        asked = entry("10.3.0.10", NUD_INCOMPLETE, 0),
                        came = entry("10.3.0.11", NUD_FAILED, 0);
    struct lan *lan = *state;

    assert_int_equal(lan_read(lan, &lan->now, &with_mac), NEIGHBOUR_HAD_MAC);
    assert_int_equal(lan_read(lan, &lan->now, &asked), NEIGHBOUR_IS_NEW);
    assert_int_equal(lan_read(lan, &lan->now, &asked), NEIGHBOUR_HAD_ENTRY);
    gets_mac(lan, "10.3.0.11", MAC_A);
    assert_int_equal(lan_read(lan, &lan->now, &came), NEIGHBOUR_HAD_MAC);
}

static void one_reading_finds_nothing(void **state)
{
    struct lan *lan = *state;

    gets_mac(lan, "10.3.0.9", MAC_B);
    gets_mac(lan, "10.3.0.9", MAC_A);
    set_silent(lan, 500, 500);
    lan->before.at = 0;
    assert_int_equal(lan_ends(lan), 0);
}

/* --- Events ----------------------------------------------------------------------------------- */

struct heard {
    size_t changed, removed;
    uint8_t mac;
};

static void hear_change(const struct record *neighbour, void *arg)
{
    struct heard *heard = arg;

    heard->changed++;
    heard->mac = neighbour->neighbour.lladdr[5];
}

static void hear_removal(const struct interface_address *address, void *arg)
{
    struct heard *heard = arg;

    heard->removed++;
    assert_int_equal(address->local.address.bytes[3], 1);
}

static void put_neighbour(struct wire *wire, uint16_t type, uint8_t family, const uint8_t *mac)
{
    const struct ndmsg header = {
        .ndm_family = family, .ndm_ifindex = C0, .ndm_state = NUD_STALE, .ndm_type = RTN_UNICAST};

    wire_message(wire, type, 0, 0);
    wire_put(wire, &header, sizeof header);
    wire_attribute(wire, NDA_DST, "\x0a\3\0\x09", 4);
    wire_attribute(wire, NDA_LLADDR, mac, MAC_SIZE);
}

static void put_address(struct wire *wire, uint16_t type, uint8_t family)
{
    const struct ifaddrmsg header = {.ifa_family = family, .ifa_prefixlen = 24, .ifa_index = C0};

    wire_message(wire, type, 0, 0);
    wire_put(wire, &header, sizeof header);
    wire_attribute(wire, IFA_LOCAL, "\x0a\3\0\1\0\0\0\0\0\0\0\0\0\0\0\0",
                   family == AF_INET ? 4 : 16);
}

static void events_of_other_tables_are_ignored(void **state)
{
    const uint8_t mac[] = {2, 0, 0, 0, 0, MAC_B};
    struct heard heard = {.changed = 0};
    const struct neighbour_events events = {hear_change, hear_removal, &heard};
    struct stage *stage = *state;

    put_neighbour(&stage->wire, RTM_NEWNEIGH, AF_INET, mac);
    put_neighbour(&stage->wire, RTM_DELNEIGH, AF_INET, mac);
    put_neighbour(&stage->wire, RTM_NEWNEIGH, AF_BRIDGE, mac);
    put_address(&stage->wire, RTM_DELADDR, AF_INET);
    put_address(&stage->wire, RTM_NEWADDR, AF_INET);
    put_address(&stage->wire, RTM_DELADDR, AF_INET6);
    wire_message(&stage->wire, RTM_NEWNEIGH, 0, 0); /* cut short */
    stage_send(stage);
    stage->peer.last_error = -EAGAIN;
    assert_int_equal(neighbour_events_read(stage->netlink, -1, &events), 0);
    assert_int_equal(heard.changed, 1);
    assert_int_equal(heard.mac, MAC_B);
    assert_int_equal(heard.removed, 1);
}

static uint32_t event_filtered(const struct wire *wire)
{
    struct sock_filter code[NEIGHBOUR_FILTER_SIZE];
    const struct sock_fprog program = {.len = (unsigned short)neighbour_filter_make(code),
                                       .filter = code};
    const struct kernel_packet received = {.bytes = (const uint8_t *)wire->data,
                                           .length = wire->length};

    assert_true(kernel_filter_ends(&program));
    return kernel_filter_run(&program, &received);
}

static void the_kernel_leaves_out_events_without_a_new_mac_address(void **state)
{
    static const uint16_t states[] = {NUD_REACHABLE, NUD_STALE,      NUD_PROBE,     NUD_DELAY,
                                      NUD_FAILED,    NUD_INCOMPLETE, NUD_PERMANENT, NUD_NOARP};
    const uint8_t mac[] = {2, 0, 0, 0, 0, MAC_B};
    struct wire wire = {.length = 0};

    (void)state;
    for (size_t i = 0; i < COUNT(states); i++) {
        struct ndmsg *header;
        wire.length = 0;
        put_neighbour(&wire, RTM_NEWNEIGH, i % 2 ? AF_INET : AF_INET6, mac);
        header = (void *)(wire.data + NLMSG_HDRLEN);
        header->ndm_state = states[i];
        assert_int_equal(event_filtered(&wire) > 0, i < 2);
        header->ndm_state = NUD_STALE;
        header->ndm_family = AF_BRIDGE;
        assert_int_equal(event_filtered(&wire), 0);
    }
    wire.length = 0;
    put_neighbour(&wire, RTM_DELNEIGH, AF_INET, mac);
    assert_int_equal(event_filtered(&wire), 0);
    wire.length = 0;
    put_address(&wire, RTM_DELADDR, AF_INET);
    assert_true(event_filtered(&wire) >= wire.length);
    wire.length = 0;
    put_address(&wire, RTM_NEWADDR, AF_INET);
    assert_int_equal(event_filtered(&wire), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_lan, remove_lan)
    const struct CMUnitTest tests[] = {
        TEST(a_mac_address_that_returns_is_found),
        TEST(three_machines_with_one_address_are_found),
        TEST(a_change_without_return_is_healthy),
        TEST(neighbours_are_not_mixed_up),
        TEST(entries_that_programs_manage_are_healthy),
        TEST(virtual_routers_are_healthy),
        TEST(ports_of_one_card_are_healthy),
        TEST(events_older_than_the_table_change_nothing),
        TEST(an_own_address_that_another_machine_has_is_found),
        TEST(an_address_that_this_machine_did_not_keep_is_not_its_own),
        TEST(own_mac_addresses_claim_nothing),
        TEST(arp_is_watched_for_addresses_on_interfaces_with_arp),
        TEST(many_addresses_that_no_machine_has_are_found),
        TEST(neighbours_whose_answer_may_be_on_the_way_are_not_found),
        TEST(the_past_of_a_neighbour_is_known),
        TEST(one_reading_finds_nothing),
        cmocka_unit_test(an_announcement_is_a_claim),
        cmocka_unit_test(the_filter_passes_only_senders_with_own_addresses),
        cmocka_unit_test(the_kernel_leaves_out_events_without_a_new_mac_address),
        ON_STAGE(events_of_other_tables_are_ignored),
    };

    return cmocka_run_group_tests_name("doctor_neighbours", tests, NULL, NULL);
}
