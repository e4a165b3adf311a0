/* SPDX-License-Identifier: MIT */
/* Connections that fail: another machine refuses them, or this machine does. */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/connect_failures.h"
#include "fastnet/netlink.h"
#include "fastnet/routing.h"
#include "makers/local_addresses.h"

/* Health checks, and programs that try IPv6 first, are refused now and then. */
enum { REFUSED_LEAST = 50, REFUSED_PERCENT = 10 };

static bool refused_are_many(uint64_t failed, uint64_t attempts)
{
    return failed >= REFUSED_LEAST && reaches(failed, REFUSED_PERCENT, attempts);
}

/* --- Refused ---------------------------------------------------------------------------------- */

/* Names the address that refused most connections and the process that tried last, if known. */
static void add_refusing(struct finding *finding, const struct examination *examination)
{
    const struct sockets_reading *sockets = &examination->before->sockets;
    const struct busy *slots = sockets->refused, *most = slots;
    const size_t length = strlen(finding->summary);
    char address[ENDPOINT_TEXT], process[PROCESS_TEXT];
    const struct refused_process *whose;

    for (size_t i = 1; i < REFUSED_SLOTS; i++)
        if (slots[i].count > most->count)
            most = &slots[i];
    if (!most->count)
        return;
    const struct endpoint peer = {most->key.remote, most->key.port};
    const struct attempt_result attempt = {
        .state = ATTEMPT_FAILED, .error = ECONNREFUSED, .retransmits = (uint32_t)most->count - 1};
    finding_explain(finding, examination, NULL, &peer, &attempt);
    endpoint_text(address, &peer);
    snprintf(finding->subject, sizeof finding->subject, "%s", address);
    snprintf(finding->summary + length, sizeof finding->summary - length,
             ", at least %" PRIu64 " of them to %s%s%s", most->count, address,
             *finding->cause ? ": " : "", finding->cause);
    whose = &sockets->refused_processes[most - slots];
    if (!whose->pid)
        return;
    finding_process(finding, process, whose->process, whose->pid);
    finding_evidence(finding, "%s tried last", process);
}

/* Returns whether a program tries very many destinations, most of them once, as scanners, crawlers
 * and peers of file sharing do: many are always closed. If nearly all attempts fail, the program or
 * the network is wrong. */
static bool refused_by_many(const struct sockets_reading *sockets, uint64_t failed,
                            uint64_t attempts)
{
    enum { MOST_FAIL_PERCENT = 90, NOTED_PERCENT = 80 };
    const uint64_t destinations = bits_count(sockets->refusing, ANSWERED_BITS / 64);
    uint64_t noted = sockets->uncounted;

    for (size_t i = 0; i < COUNT(sockets->failed); i++)
        noted += sockets->failed[i];
    return !reaches(failed, MOST_FAIL_PERCENT, attempts) && reaches(noted, NOTED_PERCENT, failed) &&
           noted * 2 <= destinations * 3;
}

/* `uncounted`: attempts that AttemptFails lacks, because the program had closed the socket. */
static void emit_refused(struct examination *examination)
{
    const uint64_t all = counter_moved(examination, ATTEMPTS_FAILED);
    const uint64_t others = counter_moved(examination, ATTEMPTS_FAILED_INCOMING);
    const uint64_t uncounted = examination->before->sockets.uncounted;
    const uint64_t failed = (all > others ? all - others : 0) + uncounted;
    const uint64_t attempts = counter_moved(examination, ATTEMPTS);
    const bool *known = examination->now->counts.known;
    struct finding finding;

    examination->lacking |= !known[ATTEMPTS_FAILED] || !known[ATTEMPTS_FAILED_INCOMING];
    if (examination->lacking || !refused_are_many(failed, attempts) ||
        refused_by_many(&examination->before->sockets, failed, attempts))
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "TCP");
    finding_summary(&finding,
                    "TCP: %" PRIu64 " connections failed (refused, or host unreachable) in %.7g s",
                    failed, seconds_between(examination));
    finding_evidence(&finding, "AttemptFails grew by %" PRIu64, all);
    finding_evidence(&finding, "EmbryonicRsts grew by %" PRIu64, others);
    finding_evidence(&finding, "ActiveOpens grew by %" PRIu64, attempts);
    if (uncounted)
        finding_evidence(&finding, "%" PRIu64 " sockets were closed after an ICMP error",
                         uncounted);
    add_refusing(&finding, examination);
    finding_emit(&finding, examination, failed, ABSENT, failed);
}

/* --- Failed at once --------------------------------------------------------------------------- */

/* Errors of connect(2) before a packet is sent (ip_route_output_key_hash_rcu() of the kernel's
 * net/ipv4/route.c, fib_props[] of net/ipv4/fib_semantics.c, BPF_CGROUP_INET4_CONNECT). */
static const struct error_at_once {
    int number;
    const char *name, *meaning;
} errors_at_once[] = {
    {EINVAL, "EINVAL", "a route of type blackhole leads there, or the address is wrong"},
    {EACCES, "EACCES", "a route of type prohibit leads there, or a security module forbids it"},
    {EPERM, "EPERM", "a BPF program of a control group forbids it"},
    {EHOSTUNREACH, "EHOSTUNREACH", "a route of type unreachable leads there"},
    {ENETUNREACH, "ENETUNREACH", "no route leads there"},
};

const char *error_at_once_meaning(int number)
{
    for (size_t i = 0; i < COUNT(errors_at_once); i++)
        if (errors_at_once[i].number == number)
            return errors_at_once[i].meaning;
    return NULL;
}

/* Returns whether an interface other than lo has an address of the family, not only fe80::/10. */
static bool refused_has_family(const struct local_addresses *own, uint8_t family)
{
    static const struct address link_local = {AF_INET6, {0xfe, 0x80}};

    for (size_t i = 0; i < own->count; i++) {
        const struct address *address = &own->networks[i].network.address;
        if (address->family == family && !own->networks[i].is_for_all &&
            !address_is_loopback(address) && !address_is_within(address, &link_local, 10))
            return true;
    }
    return false;
}

static bool refused_by_route(struct netlink *netlink, const struct address *address, int error)
{
    const struct routing_question question = {.peer.address = *address, .protocol = IPPROTO_TCP};
    struct routing_answer answer;

    return routing_ask(netlink, &question, &answer) == 0 && answer.error == error;
}

/* Returns whether this machine refuses the whole family of the address on purpose, while the other
 * family is there. IPv4: there is no address. IPv6: routes also refuse an address that has only the
 * first three bits in common, as all of 2000::/3 have. A route for one network does not do so. */
static bool refused_is_family_off(const struct examination *examination,
                                  const struct address *address, int error)
{
    struct netlink *netlink = netlink_create(NULL);
    struct local_addresses own = {.networks = NULL};
    struct address other = *address;
    bool is_off = netlink && examination->engine &&
                  local_addresses_read(&own, examination->engine, false) == 0 &&
                  refused_by_route(netlink, address, error);

    other.bytes[0] ^= 0x1f;
    other.bytes[1] ^= 0xff;
    if (is_off && address->family == AF_INET6)
        is_off = refused_has_family(&own, AF_INET) && refused_by_route(netlink, &other, error);
    else if (is_off)
        is_off = !refused_has_family(&own, AF_INET) && refused_has_family(&own, AF_INET6);
    local_addresses_finish(&own);
    netlink_destroy(netlink);
    return is_off;
}

static void emit_at_once(struct examination *examination, const struct error_at_once *error,
                         const struct connect_failure *failure, uint64_t count)
{
    const struct attempt_result attempt = {
        .state = ATTEMPT_FAILED, .error = error->number, .at_once = true};
    const struct endpoint peer = {failure->remote, failure->port};
    char address[ENDPOINT_TEXT], process[PROCESS_TEXT];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", endpoint_text(address, &peer));
    finding_process(&finding, process, failure->name, (uint32_t)failure->pid);
    finding.record.finding.advice =
        as_text("see which route leads there (ip route get ADDRESS), and what a security module "
                "logs");
    finding.record.finding.command =
        as_text(address_unmapped(&failure->remote).family == AF_INET6 ? "fastnet netstat -rn6"
                                                                      : "fastnet netstat -rn");
    finding_explain(&finding, examination, NULL, &peer, &attempt);
    finding_summary(&finding,
                    "%" PRIu64 " calls of connect(2) failed at once in %.7g s, the last to %s: %s",
                    count, seconds_between(examination), address,
                    *finding.cause ? finding.cause : error->meaning);
    finding_evidence(&finding, "the error is %s", error->name);
    finding_evidence(&finding, "%s called last", process);
    finding_emit(&finding, examination, count, ABSENT, count);
}

/* Calls that waited for an answer are subtracted, because AttemptFails counts them. Programs that
 * try the addresses of both families of a name may fail up to four times for each connection. */
static void emit_all_at_once(struct examination *examination)
{
    const struct sockets_reading *sockets = &examination->before->sockets;

    for (size_t i = 0; i < COUNT(errors_at_once); i++) {
        const struct connect_failure failure =
            connect_failures_take(examination->failures, errors_at_once[i].number);
        const uint64_t waited = sockets->failed[errors_at_once[i].number];
        const uint64_t count = failure.count > waited ? failure.count - waited : 0;
        const uint64_t attempts = counter_moved(examination, ATTEMPTS);
        const struct address address = address_unmapped(&failure.remote);
        if (refused_are_many(count, attempts + count) &&
            !(reaches(attempts, 25, count) &&
              refused_is_family_off(examination, &address, errors_at_once[i].number)))
            emit_at_once(examination, &errors_at_once[i], &failure, count);
    }
}

void rule_refused(struct examination *examination)
{
    emit_refused(examination);
    if (examination->failures)
        emit_all_at_once(examination);
}
