/* SPDX-License-Identifier: MIT */
/* Two machines with one IP address, and addresses that no machine has. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/arp_filters.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/netlink.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/sysctl.h"

enum { MAC_TEXT = 3 * MAC_SIZE };

static const char *mac_text(char text[MAC_TEXT], const uint8_t *mac)
{
    *text_lladdr(text, mac, MAC_SIZE) = '\0';
    return text;
}

static const char other_advice[] =
    "find the other machine by its MAC address (in the tables of the switch), and give one of the "
    "machines another IP address";

/* --- Neighbours with several MAC addresses ---------------------------------------------------- */

static void emit_flap(struct examination *examination, const struct neighbour_flap *flap)
{
    const struct reading *now = examination->now;
    char address[ENDPOINT_TEXT], mac[MAC_TEXT], command[128];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  address_text(address, &flap->address));
    finding_summary(&finding,
                    "the MAC address of %s on %s changed %" PRIu32
                    " times in %.7g s, and is %s again: two machines, or two interfaces of a "
                    "machine, have this address%s%s",
                    address, interface_name(now, flap->interface), flap->changes,
                    seconds_between(examination), mac_text(mac, flap->macs[flap->again]),
                    flap->address.family == AF_INET
                        ? ", or a machine sends by several cards (bonding, balance-alb)"
                        : "",
                    flap->changes == 2 ? ", or a spare machine had it for a moment" : "");
    for (size_t i = 0; i < flap->mac_count; i++)
        finding_evidence(&finding, "it had %s", mac_text(mac, flap->macs[i]));
    if (now->neighbours.flap_count > 1)
        finding_evidence(&finding, "%zu addresses changed in this way", now->neighbours.flap_count);
    if (flap->address.family == AF_INET6) /* the advice of the rule names a sysctl of IPv4 */
        finding.record.finding.advice = as_text(other_advice);
    snprintf(command, sizeof command, "fastnet neigh --where 'address = %s'", address);
    finding.record.finding.command = as_text(command);
    finding_emit(&finding, examination, flap->changes, ABSENT, flap->changes);
}

/* --- Machines with an address of this machine ------------------------------------------------- */

static bool is_own_mac(const struct reading *reading, const uint8_t *mac)
{
    for (size_t i = 0; i < reading->interface_count; i++)
        if (memcmp(reading->interfaces[i].mac, mac, MAC_SIZE) == 0)
            return true;
    return false;
}

/* Returns whether another machine has the address of the claim, which this machine had in both
 * readings. Interfaces of this machine in one network receive the ARP of each other. */
static bool claim_holds(const struct examination *examination, const struct neighbour_claim *claim)
{
    const struct reading *both[] = {examination->before, examination->now};

    for (size_t i = 0; i < COUNT(both); i++)
        if (!own_ipv4_has(both[i]->neighbours.own, both[i]->neighbours.own_count,
                          &claim->claim.to) ||
            is_own_mac(both[i], claim->claim.mac))
            return false;
    return true;
}

/* Returns whether the interface answers no ARP packet (arp_ignore in ip-sysctl of the kernel). */
static bool ignores_arp(const struct examination *examination, uint32_t interface)
{
    enum { IGNORES_ALL = 8 };
    const char *const names[] = {"all", interface_name(examination->now, interface)};

    for (size_t i = 0; i < COUNT(names); i++) {
        char path[64];
        uint64_t number;
        snprintf(path, sizeof path, "net/ipv4/conf/%s/arp_ignore", names[i]);
        if (sysctl_number(examination->options->proc_root, path, &number) == 0 &&
            number == IGNORES_ALL)
            return true;
    }
    return false;
}

/* Returns whether the machine may share its addresses on purpose: the servers of a load balancer
 * (LVS, direct routing) have its address, and must not answer ARP for it. */
static bool hides_addresses(const struct examination *examination, uint32_t interface)
{
    const char *proc_root = examination->options->proc_root;
    struct netlink *netlink;
    bool filters;

    if (!proc_tree_is_own(proc_root))
        return false;
    netlink = netlink_create(NULL);
    filters = netlink && arp_filters_exist(netlink, proc_root);
    netlink_destroy(netlink);
    return filters || ignores_arp(examination, interface);
}

/* A single packet may be the last of a machine that has given up the address. */
static void emit_claim(struct examination *examination, const struct neighbour_claim *claim)
{
    const struct reading *now = examination->now;
    const struct address own = address_make(AF_INET, claim->claim.to.bytes);
    char address[ENDPOINT_TEXT], mac[MAC_TEXT];
    struct finding finding;

    finding_begin(&finding, examination, claim->count > 1 ? SEVERITY_FAULT : SEVERITY_WARNING, "%s",
                  address_text(address, &own));
    finding_summary(&finding,
                    "another machine with the MAC address %s has the address %s of %s, too: "
                    "%" PRIu32 " ARP packet%s in %.7g s",
                    mac_text(mac, claim->claim.mac), address,
                    interface_name(now, claim->claim.to.interface), claim->count,
                    claim->count == 1 ? "" : "s", seconds_between(examination));
    finding_evidence(&finding, "ARP from %s gives %s as its own address", mac, address);
    finding.record.finding.advice = as_text(other_advice);
    finding.record.finding.command =
        as_text("fastnet netstat -i --columns interface,lladdr,addresses");
    finding_emit(&finding, examination, claim->count, ABSENT, claim->count);
}

/* --- Addresses that no machine has ------------------------------------------------------------ */

/* Machines go away, so a few addresses are always asked for in vain. */
enum { NEW_LEAST = 64, ASKED_LEAST = 128 };

/* Addresses of an interface that were asked for between the readings, and that no machine has. */
struct asked_neighbours {
    const struct reading *now;
    uint32_t interface;
    uint64_t window; /* milliseconds */
    size_t count, new_count;
    const struct silent_neighbour *example;
    struct connect sent; /* a process that asks; pid 0: unknown */
};

/* Many neighbours whose answers are on the way are no fault: a machine that starts asks for all of
 * its neighbours at once. */
static bool is_asked(const struct asked_neighbours *asked, const struct silent_neighbour *silent)
{
    return silent->interface == asked->interface && silent->is_unknown &&
           silent->used_ms <= asked->window &&
           asked->now->at >= silent->since + ASKED_MS * CLOCK_MILLISECOND;
}

static bool is_asked_address(const struct asked_neighbours *asked, const struct address *address)
{
    const struct address plain = address_unmapped(address);

    for (size_t i = 0; i < asked->now->silent_count; i++)
        if (is_asked(asked, &asked->now->silent[i]) &&
            address_equal(&asked->now->silent[i].address, &plain))
            return true;
    return false;
}

static void asked_take_send(const struct connect *sent, void *arg)
{
    struct asked_neighbours *asked = arg;

    if (sent->pid && sent->time > asked->sent.time && is_asked_address(asked, &sent->remote))
        asked->sent = *sent;
}

/* Writes the process that asks: it has a connection in SYN_SENT, or has sent a datagram. Leaves the
 * text empty if the process is unknown. */
static void asker_text(char text[PROCESS_TEXT], struct asked_neighbours *asked,
                       struct examination *examination, struct finding *finding)
{
    const struct doctor_socket *connecting = examination->now->sockets.connecting;

    *text = '\0';
    for (size_t i = 0; i < CONNECTING_SLOTS; i++)
        if (connecting[i].inode && is_asked_address(asked, &connecting[i].end.address)) {
            const struct owner *owner = owner_of(examination, connecting[i].inode);
            if (!owner)
                continue;
            finding_process(finding, text, owner->process->name, (uint32_t)owner->process->pid);
            return;
        }
    if (examination->sends)
        connects_each_send(examination->sends, asked_take_send, asked);
    if (asked->sent.pid)
        finding_process(finding, text, asked->sent.name, (uint32_t)asked->sent.pid);
}

static void emit_asked(struct examination *examination, struct asked_neighbours *asked)
{
    const char *interface = interface_name(asked->now, asked->interface);
    char process[PROCESS_TEXT], address[ENDPOINT_TEXT];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", interface);
    asker_text(process, asked, examination, &finding);
    finding_summary(&finding, "%s asks for %zu addresses on %s that no machine has",
                    *process ? process : "this machine, or a machine that it forwards for,",
                    asked->count, interface);
    finding_evidence(&finding, "%zu neighbour entries are INCOMPLETE or FAILED, such as %s",
                     asked->count, address_text(address, &asked->example->address));
    finding_evidence(&finding, "%zu of them are new", asked->new_count);
    finding.record.finding.advice =
        as_text("see whether the program may scan this network; if nobody of this machine does, "
                "see whose packets it forwards there (fastnet traffic)");
    finding_emit(&finding, examination, asked->count, ABSENT, asked->new_count);
}

static void find_asked(struct examination *examination)
{
    const struct reading *now = examination->now;
    const uint64_t window = (now->at - examination->before->at) / CLOCK_MILLISECOND;

    for (size_t i = 0; i < now->interface_count && now->silent_count >= NEW_LEAST; i++) {
        struct asked_neighbours asked = {
            .now = now, .interface = now->interfaces[i].index, .window = window};
        for (size_t j = 0; j < now->silent_count; j++)
            if (is_asked(&asked, &now->silent[j])) {
                asked.example = &now->silent[j];
                asked.count++;
                asked.new_count += now->silent[j].is_new;
            }
        if (asked.new_count >= NEW_LEAST || asked.count >= ASKED_LEAST)
            emit_asked(examination, &asked);
    }
}

void rule_neighbour_flap(struct examination *examination)
{
    const struct neighbours_reading *neighbours = &examination->now->neighbours;

    if (!examination->before->at)
        return;
    for (size_t i = 0; i < neighbours->flap_count && i < FLAPS_KEPT; i++)
        emit_flap(examination, &neighbours->flaps[i]);
    for (size_t i = 0; i < neighbours->claim_count; i++)
        if (claim_holds(examination, &neighbours->claims[i]) &&
            !hides_addresses(examination, neighbours->claims[i].claim.to.interface))
            emit_claim(examination, &neighbours->claims[i]);
    find_asked(examination);
    if (neighbours->unwatched)
        report_note(examination->report, "%s: ARP is watched in %d network namespaces at most",
                    examination->rule->text.name, WATCHED_MAX);
}
