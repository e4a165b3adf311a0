/* SPDX-License-Identifier: MIT */
/* Takes two readings, and tries the rules on them. */
#include "fastnet/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "doctor/dns.h"
#include "doctor/rules.h"
#include "fastnet/clock.h"
#include "fastnet/connect_failures.h"
#include "fastnet/engine.h"
#include "fastnet/kernel_types.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/netns_store.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"
#include "fastnet/scan_probe.h"
#include "fastnet/tracking.h"

/* A network namespace, and its readings. */
struct examined_netns {
    struct netns_entry entry; /* entry.is_read: it was read after doctor_begin() */
    struct reading readings[2];
    unsigned latest; /* index of the reading that was taken last */
    uint64_t done;   /* bit n: doctor_examine_first() passed on findings of rules[n] */
    struct neighbour_watch *watch; /* NULL: neighbours are not compared */
};

struct doctor {
    const struct doctor_options *options;
    struct engine *engine;
    struct netns_store namespaces;
    uint64_t own_netns;       /* rules about the whole machine are tried in this netns only */
    uint64_t began;           /* when the first readings began; 0: they did not */
    bool has_waited;          /* for the second readings */
    bool examined_first;      /* doctor_examine_first() was called */
    bool has_leaks;           /* in the first readings, a process holds many unlisted sockets */
    int error;                /* first readings: 0 or -errno */
    struct report losses;     /* rows that the first readings lack */
    struct drop_probe *drops; /* NULL: drops are not seen */
    struct scan_probe *scans; /* NULL: scans are not seen */
    struct connect_failures *failures; /* NULL: calls of connect(2) are not seen */
    struct connects *sends;            /* who sends on UDP sockets; NULL: not needed */
    struct neighbour_watcher watcher;  /* netlink NULL: only tables of neighbours are seen */
    struct dns_probe *queries;         /* NULL: queries of DNS are not seen */
    struct hash_table dns;             /* servers of DNS */
    struct doctor_summary summary;
};

struct doctor *doctor_create(const struct doctor_options *options)
{
    struct doctor *doctor = calloc(1, sizeof *doctor);

    if (!doctor)
        return NULL;
    doctor->options = options;
    doctor->namespaces.size = sizeof(struct examined_netns);
    doctor->own_netns = options->all_netns ? namespace_own_cookie() : 0;
    doctor->engine = engine_create(netlink_create(NULL));
    if (doctor->engine)
        return doctor;
    doctor_destroy(doctor);
    return NULL;
}

static void examined_netns_finish(void *entry)
{
    struct examined_netns *examined = entry;

    reading_finish(&examined->readings[0]);
    reading_finish(&examined->readings[1]);
    neighbour_watch_destroy(examined->watch);
}

void doctor_destroy(struct doctor *doctor)
{
    if (!doctor)
        return;
    netns_store_finish(&doctor->namespaces, examined_netns_finish);
    scan_probe_destroy(doctor->scans);
    drop_probe_destroy(doctor->drops);
    connect_failures_destroy(doctor->failures);
    connects_destroy(doctor->sends);
    netlink_destroy(doctor->watcher.netlink);
    dns_probe_destroy(doctor->queries);
    hash_table_finish(&doctor->dns);
    engine_destroy(doctor->engine);
    free(doctor);
}

static void doctor_end_scans(struct doctor *doctor)
{
    scan_probe_destroy(doctor->scans);
    doctor->scans = NULL;
}

/* Takes drops and scans. If that fails, the probe ends, so that no rule says that nothing was
 * dropped. */
static void doctor_take_drops(struct doctor *doctor)
{
    if (doctor->scans && scan_probe_take(doctor->scans) < 0)
        doctor_end_scans(doctor);
    if (doctor->drops && drop_probe_take(doctor->drops) < 0) {
        drop_probe_destroy(doctor->drops);
        doctor->drops = NULL;
        doctor_end_scans(doctor);
    }
}

/* Begins to note the answers of DNS, if a query was noted, or `now` is set. If that fails, queries
 * are not seen. */
static void doctor_see_answers(struct doctor *doctor, bool now)
{
    struct dns_probe *probe = doctor->queries;

    if (!probe || dns_probe_sees_answers(probe) || !(now || dns_probe_has_queries(probe)) ||
        dns_see_answers(probe, doctor->options) == 0)
        return;
    dns_probe_destroy(probe);
    doctor->queries = NULL;
}

/* Counts the queries of DNS. If queries without an answer would be a finding, first waits until
 * that is certain, at most DNS_WAIT_LONE. After ctrl-C, forgets them instead. */
static void doctor_take_queries(struct doctor *doctor)
{
    const uint64_t marked = clock_nanoseconds(CLOCK_MONOTONIC);
    struct dns_waiters waiters = {.netns = 0};

    hash_table_finish(&doctor->dns);
    doctor_see_answers(doctor, false);
    if (!doctor->queries || dns_probe_mark(doctor->queries) < 0)
        return;
    for (;;) {
        const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC), next = now + CLOCK_SECOND / 5;
        if (dns_servers_take(&doctor->dns, doctor->queries, &waiters) < 0)
            break;
        const uint64_t due = dns_servers_due(&doctor->dns, marked);
        if (due < now ||
            dns_waiters_take(&waiters, doctor->queries, doctor->engine, doctor->options) < 0)
            break;
        clock_wait_shown(due < next ? due : next, doctor->options->progress);
        hash_table_finish(&doctor->dns);
        if (clock_interrupted())
            break;
    }
    dns_waiters_finish(&waiters);
}

void doctor_begin(void *maker)
{
    struct doctor *doctor = maker;

    netns_store_next(&doctor->namespaces, examined_netns_finish);
    if (doctor->examined_first)
        return; /* the second readings belong to the same examination */
    doctor->summary = (struct doctor_summary){.rules = 0};
    doctor_take_queries(doctor);
    doctor_take_drops(doctor);
}

const struct doctor_summary *doctor_summary(const struct doctor *doctor)
{
    return &doctor->summary;
}

/* --- Readings --------------------------------------------------------------------------------- */

/* Returns whether the rule is tried in this network namespace. */
static bool is_chosen(const struct doctor *doctor, size_t rule, uint64_t netns)
{
    return doctor->options->rules >> rule & 1 &&
           (!(rules[rule].needs & READS_MACHINE) || netns == doctor->own_netns);
}

/* Returns the needs of all rules that are tried in the network namespace. */
static unsigned needs_of(const struct doctor *doctor, uint64_t netns)
{
    unsigned needs = 0;

    for (size_t i = 0; i < rule_count; i++)
        if (is_chosen(doctor, i, netns))
            needs |= rules[i].needs;
    return needs;
}

/* Returns the element of this thread's netns; NULL: memory is short. May move other elements. */
static struct examined_netns *find_examined_netns(struct doctor *doctor)
{
    return netns_store_add(&doctor->namespaces,
                           doctor->options->all_netns ? namespace_own_cookie() : 0);
}

/* Takes a reading of this thread's network namespace, which becomes its latest reading. Sets
 * *found to the element of the namespace: another search may not find it, because it needs a
 * descriptor. */
static int doctor_read_netns(struct doctor *doctor, struct examined_netns **found,
                             struct report *report)
{
    struct examined_netns *examined = *found = find_examined_netns(doctor);
    const bool compares = doctor->options->milliseconds || doctor->options->repeats;

    if (!examined)
        return -ENOMEM;
    if (doctor->options->all_netns)
        engine_change_netns(doctor->engine);
    const struct reading *before = &examined->readings[examined->latest];
    examined->latest = !examined->latest;
    examined->entry.is_read = true;
    struct reading *now = &examined->readings[examined->latest];
    reading_finish(now);
    if (compares && proc_tree_is_own(doctor->options->proc_root) && !examined->watch)
        examined->watch = neighbour_watch_create(&doctor->watcher);
    const int error =
        reading_take(now, before->at ? before : NULL, doctor->engine, doctor->options,
                     needs_of(doctor, examined->entry.cookie), examined->watch, report);
    if (!error && (!before->at || doctor->options->repeats))
        reading_note_listener(now, doctor->options);
    return error;
}

struct doctor_ahead {
    struct doctor *doctor;
    unsigned again; /* READS_UDP: read again the sockets that ask DNS: they may be new. READS_HELD:
                     * processes that hold many unlisted sockets. 0: read all. */
    struct report *report;
};

/* Takes a reading that only serves for comparison with the next reading. */
static int read_ahead(void *arg)
{
    const struct doctor_ahead *ahead = arg;
    struct doctor *doctor = ahead->doctor;
    struct examined_netns *examined = ahead->again ? find_examined_netns(doctor) : NULL;
    const int error = ahead->again ? 0 : doctor_read_netns(doctor, &examined, ahead->report);

    if (!examined || error)
        return examined ? error : -ENOMEM;
    struct reading *reading = &examined->readings[examined->latest];
    if (!ahead->again) {
        doctor->has_leaks |= reading->leaks.count > 0;
        reading_trim(reading);
        return 0;
    }
    if (doctor->options->all_netns)
        engine_change_netns(doctor->engine);
    if (ahead->again & READS_HELD)
        (void)leaks_take_again(&reading->leaks, doctor->engine, doctor->options, ahead->report);
    if (!(ahead->again & READS_UDP))
        return 0;
    return reading_add(reading, READS_UDP, NULL, doctor->engine, doctor->options, ahead->report);
}

/* Takes the first readings of all network namespaces. Namespaces that cannot be entered are
 * reported by the second readings. */
static int read_all_netns(struct doctor *doctor, unsigned again, struct report *report)
{
    struct doctor_ahead ahead = {doctor, again, report};
    bool whole;

    return doctor->options->all_netns ? namespaces_each(read_ahead, &ahead, &whole)
                                      : read_ahead(&ahead);
}

/* Called now and then while the doctor waits. Reads events of neighbours, so that no socket
 * overflows. */
static void doctor_pause(void *arg)
{
    struct doctor *doctor = arg;

    for (size_t i = 0; i < doctor->namespaces.count; i++) {
        const struct examined_netns *examined = netns_store_at(&doctor->namespaces, i);
        if (examined->watch)
            neighbour_watch_drain(examined->watch);
    }
    doctor_see_answers(doctor, false);
}

static void doctor_wait_quietly(struct doctor *doctor, uint64_t until)
{
    const uint64_t pause = 10 * CLOCK_SECOND;
    uint64_t now;

    while (!clock_interrupted() && (now = clock_nanoseconds(CLOCK_MONOTONIC)) + pause < until) {
        clock_wait_shown(now + pause, doctor->options->progress);
        doctor_pause(doctor);
    }
    clock_wait_shown(until, doctor->options->progress);
}

/* Waits. Meanwhile reads events of refused connections, if there is only one network namespace. If
 * the kernel loses events, all are discarded: lost events may be of the worst address. If the wait
 * ends late, because this program did not run, events of this time may not be read. */
static void doctor_wait(struct doctor *doctor, uint64_t until)
{
    const struct itimerspec time = {.it_value = {.tv_sec = (time_t)(until / CLOCK_SECOND),
                                                 .tv_nsec = (long)(until % CLOCK_SECOND)}};
    const bool listens =
        !doctor->options->all_netns && needs_of(doctor, doctor->own_netns) & READS_REFUSED;
    struct examined_netns *examined = listens ? find_examined_netns(doctor) : NULL;
    const struct reading_wait wait = {
        .timer = examined ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) : -1,
        .progress = doctor->options->progress,
        .pause = doctor_pause,
        .arg = doctor};
    struct report losses = {.partial = false};
    const uint64_t late = CLOCK_SECOND / 10;

    doctor_see_answers(doctor, examined && examined->readings[examined->latest].sockets.may_ask);
    if (wait.timer >= 0 && timerfd_settime(wait.timer, TFD_TIMER_ABSTIME, &time, NULL) == 0) {
        struct reading *now = &examined->readings[examined->latest];
        if (reading_add(now, READS_REFUSED, &wait, doctor->engine, doctor->options, &losses) < 0 ||
            losses.partial) {
            memset(now->sockets.refused, 0, sizeof now->sockets.refused);
            memset(now->sockets.failed, 0, sizeof now->sockets.failed);
            memset(&now->sockets.ended, 0, sizeof now->sockets.ended);
            memset(&now->sockets.attempts, 0, sizeof now->sockets.attempts);
            now->sockets.paths.is_wanted = false;
        }
        now->sockets.paths.knows_ended = now->sockets.paths.is_wanted;
        now->sockets.ended.missed |=
            losses.partial || clock_nanoseconds(CLOCK_MONOTONIC) > until + late;
    }
    close(wait.timer);
    doctor_wait_quietly(doctor, until);
}

/* --- Rules ------------------------------------------------------------------------------------ */

/* Rules that were not tried, or only partly, for a line of the report. */
struct rule_names {
    const char *how; /* "not tried, because their data is missing" */
    bool is_usual;   /* does not change the exit status */
    char text[REPORT_LENGTH - 80];
};

/* Names the rules that lacked data, because silence must not look like health. */
static void rule_names_report(struct rule_names *names, struct report *report)
{
    if (*names->text)
        report_add(report, names->is_usual ? REPORT_NOTE : REPORT_LOSS, "these rules were %s: %s",
                   names->how, names->text);
    *names->text = '\0';
}

/* Adds a rule, and what it lacks (""  if it lacks all). Begins a new line if the line is full. */
static void rule_names_add(struct rule_names *names, const char *rule, const char *missing,
                           struct report *report)
{
    char text[sizeof names->text];

    snprintf(text, sizeof text, *missing ? "%s (%s)" : "%s", rule, missing);
    if (text_list(names->text, sizeof names->text, ", ", as_text(text)))
        return;
    rule_names_report(names, report);
    (void)text_list(names->text, sizeof names->text, ", ", as_text(text));
}

/* If only rules about flows are tried, but no flow is tracked, says why: then silence is no sign of
 * health. */
static void report_untracked(const struct doctor *doctor, const struct examination *examination,
                             uint64_t netns)
{
    const struct kernel_counts *counts = &examination->now->counts;
    char names[REPORT_LENGTH - 128] = "";
    struct netlink *netlink;
    enum tracking tracking;

    for (size_t i = 0; i < rule_count; i++)
        if (is_chosen(doctor, i, netns)) {
            if (!(rules[i].needs & READS_FLOWS) || rules[i].parts)
                return;
            (void)text_list(names, sizeof names, ", ", as_text(rules[i].text.name));
        }
    if (!counts->known[FLOWS_TRACKED] || counts->numbers[FLOWS_TRACKED] || examination->is_first ||
        doctor->options->all_netns || !proc_tree_is_own(doctor->options->proc_root))
        return;
    netlink = netlink_create(NULL);
    tracking = netlink ? tracking_find(netlink, doctor->options->proc_root) : TRACKING_USED;
    netlink_destroy(netlink);
    if (tracking != TRACKING_USED)
        report_note(examination->report,
                    "%s: no flow is tracked, %s no rule of this network namespace uses connection "
                    "tracking",
                    names, tracking == TRACKING_UNUSED ? "because" : "maybe because");
}

/* Returns whether the rule needs dropped packets, which were not seen between two readings. */
static bool lacks_drops(const struct examination *examination)
{
    const struct rule_part *parts = examination->rule->parts;

    return parts && parts->needs == READS_DROPS && !examination->drops && examination->before->at;
}

/* Tries each part of each rule with the readings that exist; an unknown number is not a fault.
 * On the own machine, some parts need a right (BPF, raw sockets) that most users do not have. */
static void try_rules(const struct doctor *doctor, struct examination *examination, uint64_t netns)
{
    struct rule_names untried = {.how = "not tried, because their data is missing"};
    struct rule_names partly = {.how = "tried only partly, because their data is missing",
                                .is_usual = !examination->is_captured};
    struct rule_names comparing = {.how = "not tried, because they compare two readings"};
    struct rule_names without_bpf = {.how = "not tried, because they need BPF", .is_usual = true};
    struct report *report = examination->report;
    uint64_t tried = 0;

    for (size_t i = 0; i < rule_count && !examination->error; i++) {
        const char *name = rules[i].text.name;
        if (!is_chosen(doctor, i, netns) || (examination->is_first && !rules[i].at_once))
            continue;
        examination->rule = &rules[i];
        parts_check(examination);
        if (!examination->lacking)
            rules[i].evaluate(examination);
        const bool has_one = rules[i].compares && !examination->before->at;
        const bool lacks_bpf = lacks_drops(examination);
        if (examination->lacking)
            rule_names_add(&untried, name, "", report);
        else if (has_one && examination->is_captured)
            rule_names_add(&comparing, name, "", report);
        else if (lacks_bpf)
            rule_names_add(&without_bpf, name, "", report);
        else if (*examination->missing)
            rule_names_add(&partly, name, examination->missing, report);
        tried += !examination->lacking && !has_one && !lacks_bpf;
    }
    if (tried > examination->summary->rules)
        examination->summary->rules = tried;
    rule_names_report(&untried, report);
    rule_names_report(&partly, report);
    rule_names_report(&comparing, report);
    rule_names_report(&without_bpf, report);
    report_untracked(doctor, examination, netns);
}

static void doctor_report_owners(const struct examination *examination,
                                 const struct owners_summary *summary)
{
    if (summary->error)
        report_note(examination->report, "some owners are unknown: %s", strerror(summary->error));
    if (summary->denied && examination->lacks_owner) {
        char denied[OWNERS_DENIED_TEXT];
        report_note(examination->report, "owners: %s%s", owners_denied_text(denied, summary),
                    rights_advice());
    }
}

static int doctor_examine_netns(struct doctor *doctor, struct examined_netns *examined,
                                bool is_first, struct report *report, record_fn fn, void *arg)
{
    struct examination examination = {
        .options = doctor->options,
        .before = &examined->readings[!examined->latest],
        .done = &examined->done,
        .is_first = is_first,
        .follows_first = doctor->examined_first && !is_first,
        .now = &examined->readings[examined->latest],
        .is_other_netns = examined->entry.cookie != doctor->own_netns,
        .is_captured = !proc_tree_is_own(doctor->options->proc_root),
        .engine = doctor->engine,
        .drops = doctor->drops,
        .scans = doctor->scans ? scan_probe_list(doctor->scans) : NULL,
        .scan_count = doctor->scans ? scan_probe_count(doctor->scans) : 0,
        .failures = doctor->failures,
        .sends = doctor->sends,
        .dns = &doctor->dns,
        .sees_dns = doctor->queries,
        .summary = &doctor->summary,
        .report = report,
        .fn = fn,
        .arg = arg,
    };

    try_rules(doctor, &examination, examined->entry.cookie);
    if (examination.owners)
        doctor_report_owners(&examination, owners_summary(examination.owners));
    owners_destroy(examination.owners);
    owners_program_destroy(examination.program);
    return examination.error;
}

/* Starts the probes that the rules need, if rights allow it. Refusals are not reported. The probes
 * share the types of the kernel, because each probe would read them for 2 ms. */
static void doctor_begin_probes(struct doctor *doctor)
{
    const unsigned needs = needs_of(doctor, doctor->own_netns);
    const bool all_netns = doctor->options->all_netns;
    const bool notes_calls = doctor->options->owners != OWNERS_PROC;
    struct kernel_types types;

    (void)kernel_types_init(&types);
    if (needs & READS_SCANS)
        doctor->scans = scan_probe_create();
    if (needs & READS_DROPS)
        doctor->drops = drop_probe_create(scan_probe_map(doctor->scans), true, NULL);
    if (!drop_probe_sees_scans(doctor->drops))
        doctor_end_scans(doctor);
    if (needs & READS_CHANGES)
        doctor->watcher.netlink = netlink_create(NULL);
    if (needs & READS_REFUSED && notes_calls && !all_netns)
        doctor->failures = connect_failures_begin(namespace_own_id(), NULL);
    if (needs & (READS_SCANS | READS_ARP) && notes_calls)
        doctor->sends = connects_create();
    if (needs & READS_DNS && notes_calls)
        doctor->queries = dns_probe_begin(all_netns ? 0 : namespace_own_id(),
                                          all_netns ? NULL : doctor->sends, NULL);
    doctor_see_answers(doctor, all_netns || doctor->options->repeats);
    if (doctor->sends)
        (void)connects_begin(doctor->sends, NOTE_SENDS, namespace_own_id(), NULL);
    kernel_types_finish(&types);
}

/* Starts what must be there before the first readings, if there will be second readings. */
static void doctor_start(struct doctor *doctor)
{
    const struct doctor_options *options = doctor->options;

    doctor->began = clock_nanoseconds(CLOCK_MONOTONIC);
    if (!options->milliseconds && !options->repeats)
        return;
    if (options->once)
        clock_catch_interrupt();
    if (options->progress)
        options->progress->show(options->progress, false);
    if (proc_tree_is_own(options->proc_root) && options->backend == BACKEND_AUTO)
        doctor_begin_probes(doctor);
    doctor->began = clock_nanoseconds(CLOCK_MONOTONIC); /* probes may take long to load */
}

/* After ctrl-C, the second readings are taken at least this long after the first readings: over a
 * shorter time a short burst would look like a fault. */
enum { LEAST_MS = 1000 };

static void wait_after_interrupt(const struct doctor *doctor)
{
    const unsigned milliseconds =
        doctor->options->milliseconds < LEAST_MS ? doctor->options->milliseconds : LEAST_MS;
    const uint64_t until = doctor->began + milliseconds * CLOCK_MILLISECOND;
    const struct timespec time = {.tv_sec = (time_t)(until / CLOCK_SECOND),
                                  .tv_nsec = (long)(until % CLOCK_SECOND)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        continue;
}

/* Waits until the second readings. Reads sockets that ask DNS again QUERIES_MS earlier: most
 * resolvers wait for 5 s, the usual time between readings, so their first queries end before. Then,
 * or after half of the time, also counts unlisted sockets again, if a process has many: the
 * rule about them compares two intervals. */
static int doctor_wait_for_second(struct doctor *doctor)
{
    enum { QUERIES_MS = 2000 };
    const unsigned milliseconds = doctor->options->milliseconds;
    const unsigned queries =
        milliseconds >= 2 * QUERIES_MS ? needs_of(doctor, doctor->own_netns) & READS_UDP : 0;
    const unsigned again = queries | (doctor->has_leaks ? READS_HELD : 0);
    const unsigned earlier = queries ? QUERIES_MS : milliseconds / 2;
    int error = doctor->error;

    doctor->has_waited = true;
    if (!milliseconds)
        return 0;
    if (!error && again) {
        doctor_wait(doctor, doctor->began + (milliseconds - earlier) * CLOCK_MILLISECOND);
        if (!clock_interrupted())
            error = read_all_netns(doctor, again, &doctor->losses);
    }
    doctor_wait(doctor, doctor->began + milliseconds * CLOCK_MILLISECOND);
    if (clock_interrupted())
        wait_after_interrupt(doctor);
    doctor_take_queries(doctor);
    doctor_take_drops(doctor);
    return error;
}

int doctor_examine_first(void *maker, const struct query *query, record_fn fn, void *arg)
{
    struct report unused = {.partial = false}; /* doctor_examine() reports the same problems */
    struct doctor *doctor = maker;
    struct examined_netns *examined = NULL;

    (void)query;
    if (!doctor->began)
        doctor_start(doctor);
    doctor->examined_first = true;
    if (!doctor->error)
        doctor->error = doctor_read_netns(doctor, &examined, &doctor->losses);
    if (doctor->options->progress)
        doctor->options->progress->show(doctor->options->progress, true);
    examined = doctor->error ? NULL : examined;
    doctor->has_leaks |= examined && examined->readings[examined->latest].leaks.count;
    const int error = examined ? doctor_examine_netns(doctor, examined, true, &unused, fn, arg) : 0;
    if (examined)
        reading_trim(&examined->readings[examined->latest]);
    return error;
}

int doctor_examine(void *maker, const struct query *query, record_fn fn, void *arg)
{
    struct report *report = query->report;
    struct doctor *doctor = maker;
    uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    struct examined_netns *examined = NULL;
    int error = 0;

    if (!doctor->began) {
        doctor_start(doctor);
        if (doctor->options->milliseconds)
            doctor->error = read_all_netns(doctor, 0, &doctor->losses);
    }
    if (!doctor->has_waited) {
        error = doctor_wait_for_second(doctor);
        report_hand_on(report, &doctor->losses);
    }
    if (!error)
        error = doctor_read_netns(doctor, &examined, report);
    if (examined && !error) {
        const uint64_t before = examined->readings[!examined->latest].at;
        error = doctor_examine_netns(doctor, examined, false, report, fn, arg);
        reading_trim(&examined->readings[examined->latest]);
        began = before ? before : began;
    }
    doctor->summary.partial |= error || report->partial;
    const uint64_t took = (clock_nanoseconds(CLOCK_MONOTONIC) - began) / CLOCK_MILLISECOND;
    if (took > doctor->summary.milliseconds)
        doctor->summary.milliseconds = took;
    return error;
}
