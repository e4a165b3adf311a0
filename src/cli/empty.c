/* SPDX-License-Identifier: MIT */
/* Why a listing has no row: what the user may have meant instead. */
#include "cli/empty.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/known_names.h"
#include "cli/misuse.h"
#include "cli/personality.h"
#include "fastnet/array.h"
#include "fastnet/containers.h"
#include "fastnet/interfaces.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/proc_tree.h"
#include "fastnet/process_netns.h"
#include "fastnet/rights.h"
#include "fastnet/sysctl.h"
#include "fastnet/tracking.h"

/* Finds a pattern that matches only a whole text, because it has no '*'. Skips fields that ignore
 * case: for these, = is a PREDICATE_GLOB, too. */
static const struct value *whole_pattern(const struct predicate *where)
{
    const struct value *found = NULL;

    if ((where->operation == PREDICATE_LIKE ||
         (where->operation == PREDICATE_GLOB && !(where->field && where->field->any_case))) &&
        !memchr(where->constant.text.data, '*', where->constant.text.length))
        return &where->constant;
    for (const struct predicate *part = where->parts;
         part && !found && where->operation != PREDICATE_NOT; part = part->next)
        found = whole_pattern(part);
    return found;
}

/* Suggests patterns to a user at a terminal, who may have meant a part of the text. */
static void hint_at_patterns(const struct listing *listing, struct report *report)
{
    const struct value *pattern =
        isatty(STDERR_FILENO) && listing->where ? whole_pattern(listing->where) : NULL;
    const int length = pattern ? (int)pattern->text.length : 0;

    if (length)
        report_note(
            report,
            "a pattern must match the whole text; no text is '%.*s' (try '%.*s*' or '*%.*s*')",
            length, pattern->text.data, length, pattern->text.data, length, pattern->text.data);
}

/* Reports a container, pod or unit that no row has: it may have ended, its name may be mistyped, or
 * only the group of its daemon may be known. */
static void report_groups(const struct predicate *typed, struct report *report)
{
    static const struct {
        const char *field, *described;
    } groups[] = {
        {"container", "container with the name or id"},
        {"pod", "pod with the name or uid"},
        {"unit", "unit with the name"},
    };
    const struct value *constant = &typed->constant;

    for (size_t i = 0; i < COUNT(groups); i++)
        if (typed->operation == PREDICATE_EQUAL && typed->field && constant->type == VALUE_TEXT &&
            strcmp(typed->field->name, groups[i].field) == 0)
            report_note(report, "no row of this listing belongs to a %s '%.*s'",
                        groups[i].described, (int)constant->text.length, constant->text.data);
    for (const struct predicate *part = typed->parts; part && typed->operation != PREDICATE_NOT;
         part = part->next)
        report_groups(part, report);
}

/* --- Processes in other network namespaces ---------------------------------------------------- */

/* Fields that say which process a row belongs to. Filters for pid and process compare the field
 * "processes", which has all processes of a row. */
static const struct {
    const char *field;
    enum process_property property;
    bool by_name; /* compares the name of a container or pod, not its id */
} process_fields[] = {
    {"processes", PROCESS_NAME, false},
    {"unit", PROCESS_UNIT, false},
    {"container", PROCESS_CONTAINER, false},
    {"container_name", PROCESS_CONTAINER, true},
    {"pod", PROCESS_POD, false},
    {"pod_name", PROCESS_POD, true},
};

struct process_hint {
    const struct listing *listing;
    struct report *report;
    bool before; /* before the listing: which rows it will have is unknown */
    bool either; /* the comparison is part of an `or`: a row may match another part */
};

static void empty_put_process(const struct process_found *found, char text[64])
{
    if (*found->name)
        snprintf(text, 64, "process %ld (%s)", (long)found->pid, found->name);
    else
        snprintf(text, 64, "process %ld", (long)found->pid);
}

/* Reports a process whose sockets are in another network namespace. */
static void report_other_netns(const struct process_hint *hint, const struct process_found *found,
                               const char *process)
{
    const struct listing *listing = hint->listing;
    const struct netns netns = namespace_of_id(found->netns);
    char id[24], option[NAME_MAX + 16] = "--all-netns";

    snprintf(id, sizeof id, "%" PRIu64, netns.id);
    if (listing->events || listing->tables->table == &table_traffic) { /* reads only one netns */
        snprintf(option, sizeof option, "--netns=%ld", (long)found->pid);
        if (netns.named_by_ip)
            snprintf(option, sizeof option, "--netns=%s", netns.name);
    }
    report_note(hint->report, "%s is in network namespace %s: %s", process,
                *netns.name ? netns.name : id, option);
}

/* Reports a process that the filter names, but that is missing or without sockets here. */
static void report_process(const struct process_hint *hint, const struct process_wanted *wanted,
                           const struct process_found *found)
{
    char process[64];

    empty_put_process(found, process);
    if (found->is_other && !hint->listing->all_netns) {
        report_other_netns(hint, found, process);
    } else if (found->netns_hidden && *rights_advice() && !hint->listing->all_netns) {
        report_note(hint->report, "not allowed to see the network namespace of %s%s", process,
                    rights_advice());
    } else if (!found->count && wanted->property == PROCESS_PID) {
        report_note(hint->report, "there is no process %ld", (long)wanted->pid);
    } else if (!found->count && wanted->property == PROCESS_NAME && !hint->either) {
        char nearest[KNOWN_NAME] = "";
        known_process_nearest(MESSAGE_TEXT("%.*s", (int)wanted->text.length, wanted->text.data),
                              nearest);
        report_note(hint->report, "there is no process with the name '%.*s'%s%s%s",
                    (int)wanted->text.length, wanted->text.data, *nearest ? "; did you mean " : "",
                    nearest, *nearest ? "?" : "");
    } else if (found->count && !found->holds_sockets && !found->netns_hidden && !found->is_other &&
               !hint->before && !hint->either) {
        report_note(hint->report, "%s has no socket", process);
    }
}

static void search_process(const struct process_hint *hint, const struct value *constant,
                           enum process_property property, bool by_name)
{
    const struct listing *listing = hint->listing;
    const char *root = listing->processes ? listing->processes : listing->proc_root;
    struct process_wanted wanted = {.property = property, .text = constant->text};
    struct process_found found;
    struct containers *names = by_name ? containers_create(NULL) : NULL;

    if (constant->type == VALUE_NUMBER) {
        wanted = (struct process_wanted){PROCESS_PID, .pid = (pid_t)constant->number};
        if (constant->number > INT32_MAX)
            return;
    }
    wanted.names = names;
    if ((names || !by_name) && process_netns_find(root, &wanted, namespace_own_id(), &found) == 0)
        report_process(hint, &wanted, &found);
    containers_destroy(names);
}

/* True if all parts compare the same column: a list of values. */
static bool is_list(const struct predicate *where)
{
    const struct predicate *part = where->parts;

    while (part && part->field == where->parts->field)
        part = part->next;
    return !part;
}

static void search_processes(struct process_hint hint, const struct predicate *where)
{
    const struct value *constant = &where->constant;

    for (size_t i = 0; i < COUNT(process_fields); i++)
        if (where->operation == PREDICATE_EQUAL && where->field &&
            strcmp(where->field->name, process_fields[i].field) == 0 &&
            (constant->type == VALUE_TEXT || constant->type == VALUE_NUMBER))
            search_process(&hint, constant, process_fields[i].property, process_fields[i].by_name);
    hint.either |= where->operation == PREDICATE_OR && !is_list(where);
    for (const struct predicate *part = where->parts; part && where->operation != PREDICATE_NOT;
         part = part->next)
        search_processes(hint, part);
}

/* Adds hints at processes, but not if the thread left the netns of --netns to look up names. */
static void hint_at_processes(const struct listing *listing, struct report *report, bool before)
{
    const bool moved = listing->own_netns && listing->needs.lookups & NEED_NAMES;
    const struct process_hint hint = {listing, report, .before = before};

    if (listing->where && !moved && proc_tree_is_own(listing->proc_root) && !listing->diag_file &&
        isatty(STDERR_FILENO))
        search_processes(hint, listing->where);
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* A hint for filters by `interface`, which nearly all sockets lack: programs bind to addresses. */
static void hint_at_binding(const struct listing_command *command, const struct predicate *where,
                            struct report *report)
{
    const struct value *constant = &where->constant;
    const bool has_option =
        command->common->grammar != &netstat_grammar && command->common->grammar != &ss_grammar;
    const bool is_binding = where->field && where->operation == PREDICATE_EQUAL &&
                            constant->type == VALUE_TEXT &&
                            strcmp(where->field->name, "interface") == 0;
    uint32_t index;

    if (is_binding &&
        interfaces_find(MESSAGE_TEXT("%.*s", (int)constant->text.length, constant->text.data),
                        &index) == 0) /* an unknown name is reported already */
        report_note(report,
                    has_option ? "'interface' is only the interface that a socket is bound to (try "
                                 "--interface=%.*s)"
                               : "'interface' is only the interface that a socket is bound to (try "
                                 "--where 'interfaces = %.*s')",
                    (int)constant->text.length, constant->text.data);
    for (const struct predicate *part = where->parts; part && where->operation != PREDICATE_NOT;
         part = part->next)
        hint_at_binding(command, part, report);
}

/* --- Connection tracking ---------------------------------------------------------------------- */

/* Reports why no flow is tracked: without a rule that uses connection tracking, 0 flows say nothing
 * about the traffic. Does nothing if there are flows, because then the filter refused them. */
static void hint_at_tracking(const struct listing *listing, struct report *report)
{
    static const char *const reasons[] = {
        [TRACKING_UNKNOWN] = "no flow is tracked; maybe no rule of this network namespace uses "
                             "connection tracking, such as ct state or NAT",
        [TRACKING_UNUSED] = "no flow is tracked, because no rule of this network namespace uses "
                            "connection tracking, such as ct state or NAT",
        [TRACKING_USED] = "a rule uses connection tracking, but no flow is tracked now",
    };
    const struct table *table = listing->tables->table;
    struct netlink *netlink;
    enum tracking tracking;
    uint64_t count = 0;

    if ((table != &table_flows && table != &table_flow_usage && table != &table_flow_count) ||
        !proc_tree_is_own(listing->proc_root) || listing->all_netns || report->partial)
        return;
    if (sysctl_number("/proc", "net/netfilter/nf_conntrack_count", &count) == 0 && count)
        return;
    netlink = netlink_create(NULL);
    tracking = netlink ? tracking_find(netlink, "/proc") : TRACKING_USED;
    netlink_destroy(netlink);
    if (tracking != TRACKING_USED || isatty(STDERR_FILENO))
        report_note(report, "%s", reasons[tracking]);
}

/* --- All hints -------------------------------------------------------------------------------- */

void empty_foresee(const struct listing *listing, struct report *report)
{
    hint_at_processes(listing, report, true);
}

void empty_explain(const struct listing_command *command, struct report *report)
{
    const struct listing *listing = &command->listing;
    const bool is_own_form =
        !columns_used(command) && strcmp(command->common->program, "conntrack") == 0;

    if (!is_own_form && !common_is_metrics(command->common) && listing->number <= 1 &&
        (!report->listed || listing->tables->table->kind == &kind_flow_usage))
        hint_at_tracking(listing, report);
    if (report->listed || listing->number > 1)
        return;
    hint_at_patterns(listing, report);
    if (!listing->events)
        hint_at_processes(listing, report, false);
    if (listing->typed && never_kind(listing) == &kind_socket && isatty(STDERR_FILENO))
        hint_at_binding(command, listing->typed, report);
    if (report->netns_unread && isatty(STDERR_FILENO))
        report_note(report, "the sockets may be in a network namespace that cannot be read%s",
                    rights_advice());
    if (!report->partial && listing->typed)
        report_groups(listing->typed, report);
}
