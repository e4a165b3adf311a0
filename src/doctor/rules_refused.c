/* SPDX-License-Identifier: MIT */
/* Connections that fail: another machine refuses them, or this machine does. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/connect_failures.h"

/* Health checks, and programs that try IPv6 first, are refused now and then. */
enum { REFUSED_LEAST = 50, REFUSED_PERCENT = 10 };

static bool refused_are_many(uint64_t failed, uint64_t attempts)
{
    return failed >= REFUSED_LEAST && reaches(failed, REFUSED_PERCENT, attempts);
}

/* --- Refused ---------------------------------------------------------------------------------- */

/* Returns whether the firewall of this machine dropped at least half of the packets to the address.
 * If so, the finding advises about the firewall. */
static bool is_own_firewall(struct finding *finding, const struct examination *examination,
                            const char *address, uint64_t refused)
{
    const uint64_t dropped = drops_of(examination, "NETFILTER_DROP", address);

    if (!dropped || dropped < refused / 2)
        return false;
    finding->record.finding.advice =
        as_text("see which rule of this machine's firewall rejects them (nft list ruleset, "
                "iptables -S), and if it should");
    finding->record.finding.command = as_text("fastnet drops --where 'reason = NETFILTER_DROP'");
    return true;
}

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
    endpoint_text(address, &(struct endpoint){most->key.remote, most->key.port});
    snprintf(finding->subject, sizeof finding->subject, "%s", address);
    snprintf(finding->summary + length, sizeof finding->summary - length,
             ", at least %" PRIu64 " of them to %s%s", most->count, address,
             is_own_firewall(finding, examination, address, most->count)
                 ? ", which the firewall of this machine rejects"
                 : "");
    whose = &sockets->refused_processes[most - slots];
    if (!whose->pid)
        return;
    finding_process(finding, process, whose->process, whose->pid);
    finding_evidence(finding, "%s tried last", process);
}

/* `uncounted`: attempts that AttemptFails lacks, because the program had closed the socket. */
static void emit_refused(struct examination *examination)
{
    const uint64_t all = counter_moved(examination, ATTEMPTS_FAILED);
    const uint64_t others = counter_moved(examination, ATTEMPTS_FAILED_INCOMING);
    const uint64_t uncounted = examination->before->sockets.uncounted;
    const uint64_t failed = (all > others ? all - others : 0) + uncounted;
    const uint64_t attempts = counter_moved(examination, ATTEMPTS);
    struct finding finding;

    if (!refused_are_many(failed, attempts))
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
static const struct cause {
    int error;
    const char *name, *meaning, *advice;
} causes[] = {
    {EINVAL, "EINVAL", "a route of type blackhole leads there, or the address is wrong",
     "see which route leads there (ip route get ADDRESS), and remove it if it is not wanted"},
    {EACCES, "EACCES", "a route of type prohibit leads there, or a security module forbids it",
     "see which route leads there (ip route get ADDRESS), and what a security module logs"},
    {EPERM, "EPERM", "a BPF program of a control group forbids it",
     "see which programs the control group of the process has (bpftool cgroup tree)"},
    {EHOSTUNREACH, "EHOSTUNREACH", "a route of type unreachable leads there",
     "see which route leads there (ip route get ADDRESS), and remove it if it is not wanted"},
    {ENETUNREACH, "ENETUNREACH", "no route leads there",
     "check whether a route is missing (ip route get ADDRESS), or the default route"},
};

static void emit_at_once(struct examination *examination, const struct cause *cause,
                         const struct connect_failure *failure, uint64_t count)
{
    char address[ENDPOINT_TEXT], process[PROCESS_TEXT];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  endpoint_text(address, &(struct endpoint){failure->remote, failure->port}));
    finding_process(&finding, process, failure->name, (uint32_t)failure->pid);
    finding_summary(&finding,
                    "%" PRIu64 " calls of connect(2) failed at once in %.7g s, the last to %s: %s",
                    count, seconds_between(examination), address, cause->meaning);
    finding_evidence(&finding, "the error is %s", cause->name);
    finding_evidence(&finding, "%s called last", process);
    finding.record.finding.advice = as_text(cause->advice);
    finding.record.finding.command = as_text("fastnet netstat -rn");
    finding_emit(&finding, examination, count, ABSENT, count);
}

/* Calls that waited for an answer are subtracted, because AttemptFails counts them. */
static void emit_causes(struct examination *examination)
{
    const struct sockets_reading *sockets = &examination->before->sockets;

    for (size_t i = 0; i < COUNT(causes); i++) {
        const struct connect_failure failure =
            connect_failures_take(examination->failures, causes[i].error);
        const uint64_t waited = sockets->failed[causes[i].error];
        const uint64_t count = failure.count > waited ? failure.count - waited : 0;
        if (refused_are_many(count, counter_moved(examination, ATTEMPTS) + count))
            emit_at_once(examination, &causes[i], &failure, count);
    }
}

void rule_refused(struct examination *examination)
{
    emit_refused(examination);
    if (examination->failures)
        emit_causes(examination);
}
