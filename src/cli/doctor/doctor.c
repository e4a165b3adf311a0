/* SPDX-License-Identifier: MIT */
/* fastnet doctor: its command line, and its listings of findings and of exposed sockets. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/doctor/rule_list.h"
#include "cli/form.h"
#include "cli/known_names.h"
#include "cli/netstat/netstat.h"
#include "cli/progress.h"
#include "cli/terminal/listing_screen.h"
#include "cli/which.h"
#include "cli/words.h"
#include "fastnet/array.h"
#include "fastnet/doctor.h"
#include "fastnet/layouts.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"

enum { FOR_MS = 5000, RULE_WORDS_MAX = 8, PROCESS_WORDS_MAX = 1024 };

struct doctor_command {
    struct common common; /* must be first */
    uint64_t rules;       /* bit n: doctor_rule(n) is examined */
    uint64_t named;       /* the rules that words of the command line name; 0: all */
    const char *rule_words[RULE_WORDS_MAX]; /* these words */
    size_t rule_word_count;
    unsigned milliseconds; /* between the two samples */
    bool list, exposed, nagios, verbose;
};

enum { OPTION_ONLY = 256, OPTION_SKIP, OPTION_LIST, OPTION_EXPOSED };

enum { WHAT, SHOW, OTHER };
static const char *const groups[] = {"What to check", "How it is shown", "About fastnet"};

#define SETS(of_command) .member = offsetof(struct doctor_command, of_command)

#define CHOICES_RULES "!fastnet doctor --list --no-header 2>/dev/null | cut -d\" \" -f1"

static const struct option options_table[] = {
    FOR_OPTION(WHAT, "time between readings: 60, 5m (default 5; 0: one)", SETS(milliseconds)),
    LONG(OPTION_ONLY, "only", WHAT, "only these rules; A may be '*queue*'", TAKES("A,B,..."),
         OF(CHOICES_RULES)),
    LONG(OPTION_SKIP, "skip", WHAT, "all rules but these", TAKES("A,B,..."), OF(CHOICES_RULES)),
    LONG(OPTION_LIST, "list", WHAT, "list rules and thresholds, not findings", SETS(list)),
    LONG(OPTION_EXPOSED, "exposed", WHAT, "list what other machines can reach, not findings",
         SETS(exposed)),
    INTERVAL_OPTION(SHOW),
    LONG(OPTION_NAGIOS, "nagios", SHOW, NAGIOS_HELP, SETS(nagios)),
    OPTION('q', "quiet", SHOW, "print nothing; the exit status is the answer", SETS(common.quiet),
           .newer = true),
    OPTION('v', "verbose", SHOW, "also show which tables a finding comes from", SETS(verbose)),
    HABIT_OPTIONS(SHOW, "processes are always shown", .newer = true),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
    INSTEAD(0, "rule", "RULE", "--only=%s"),
};

static const struct operands operands[] = {{NULL, "", CHOICES_RULES}};

static const struct example examples[] = {
    {"", "what is wrong"},
    {"--for=0", "only one reading, no wait"},
    {"accept-queue udp-buffer", "only these rules"},
    {"nginx", "only about this process"},
    {"--skip='*-memory'", "all rules but these"},
    {"--exposed", "what other machines can reach"},
    {"--list", "the rules and their thresholds"},
    {"--ndjson --where 'severity = fault'", "faults, for programs"},
    {"--nagios", "for monitoring"},
    {NULL, NULL},
};

static const struct listed listed[] = {{OPTION_EXPOSED, &kind_socket, NULL}, {0, NULL, NULL}};

static const struct refused refused[] = {
    {"exact", NULL, NULL}, /* only --exposed reads twice */
    {"wait wait-gone", NULL, "findings need two readings (try -c)"},
    {NULL, NULL, NULL},
};

const struct grammar doctor_grammar = {
    .name = "doctor",
    .help = "what is wrong with this machine's network, and what to do",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_findings,
               &common_options_without_quiet, &common_options_of_owners,
               &common_options_of_recordings},
    .refused = refused,
    .kind = &kind_finding,
    .listed = listed,
    .operands = operands,
    .usage = "[OPTION]... [RULE|WORD]...",
    .about = "Finds what is wrong with this machine's network, shows why, and says what to "
             "do.\nExit status: 0 nothing found, 10 warnings, 20 faults, 1 not all could be read.",
    .important = "for only skip list exposed c nagios where json ndjson",
    .examples = examples,
    .version = "backends: sock_diag, ctnetlink, rtnetlink, /proc",
    .in_place = true,
};

static int take_rules(const struct doctor_command *command, const char *names, uint64_t *rules)
{
    *rules = 0;
    for (struct text name; form_next(&names, &name);) {
        const uint64_t found = rule_list_find(name);
        if (!found)
            return rule_list_refuse(&command->common, "no rule '%s'", name);
        *rules |= found;
    }
    return 0;
}

/* Takes a word: names of rules, or the name of a process, which is a filter of findings. */
static int doctor_take_word(struct doctor_command *command, const char *word)
{
    uint64_t rules = 0;
    const char *rest = word;

    for (struct text name; form_next(&rest, &name);) {
        const uint64_t found = rule_list_find(name);
        if (!found)
            return OPTIONS_WORD;
        rules |= found;
    }
    command->named |= rules;
    if (command->rule_word_count < RULE_WORDS_MAX)
        command->rule_words[command->rule_word_count++] = word;
    return 0;
}

/* For each word that names rules, but also a process that runs: says how to type the process. */
static void report_other_meanings(const struct doctor_command *command)
{
    for (size_t i = 0; i < command->rule_word_count && !command->common.proc_root; i++) {
        const char *word = command->rule_words[i];
        if (known_process("/proc", word))
            fprintf(stderr,
                    strpbrk(word, "*?[") ? "%s: '%s' names rules here; for processes type "
                                           "--where \"process ~ '%s'\"\n"
                                         : "%s: '%s' names a rule here; for the process type "
                                           "--process=%s\n",
                    command->common.program, TYPED(word), TYPED(word));
    }
}

/* True if filter number i is a word with names of processes. */
static bool is_process_word(const struct filters *filters, size_t i)
{
    const char *word = filters->typed[i].text;

    return filters->typed[i].option == &filters_word && *word != '!' &&
           words_have_name(&kind_finding, word);
}

/* Refuses words that are neither a rule nor a process of the machine that is examined: no finding
 * could match. Processes of saved findings need not run now. */
static int check_words(const struct doctor_command *command)
{
    const struct common *common = &command->common;
    const struct filters *filters = &common->filters;
    const char *root = common->proc_root   ? common->proc_root
                       : common->processes ? common->processes
                                           : "/proc";

    for (size_t i = 0; i < filters->count && !command->exposed && !common_is_saved(common); i++) {
        const char *word = filters->typed[i].text;
        if (is_process_word(filters, i) && !strchr(word, ',') && !known_process(root, word))
            return rule_list_refuse(common, "no rule and no process '%s'", as_text(word));
    }
    return 0;
}

/* Makes one filter of the words that are processes. A finding is about at most one process, so a
 * finding that matches each word does not exist. */
static int join_process_words(struct doctor_command *command)
{
    static char joined[PROCESS_WORDS_MAX]; /* a filter points to it; there is one command line */
    struct filters *filters = &command->common.filters;
    const size_t count = filters->count;

    filters->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct text word = as_text(filters->typed[i].text);
        const bool is_joined = !command->exposed && is_process_word(filters, i);
        const bool is_first = !*joined;
        if (is_joined && !text_list(joined, sizeof joined, ",", word))
            return common_misuse(&command->common, "the names of processes are too long");
        if (is_joined && is_first)
            filters->typed[i].text = joined;
        if (!is_joined || is_first)
            filters->typed[filters->count++] = filters->typed[i];
    }
    return 0;
}

static int doctor_take_option(const struct option *option, const char *argument, void *arg)
{
    struct doctor_command *command = arg;
    uint64_t rules;
    int status;

    if (option->id != OPTION_ONLY && option->id != OPTION_SKIP)
        return doctor_take_word(command, argument);
    status = take_rules(command, argument, &rules);
    if (!status)
        command->rules &= option->id == OPTION_ONLY ? rules : ~rules;
    return status;
}

/* True if a second sample can differ from the first. The files of a captured tree do not change. */
static bool has_moving_numbers(const struct common *common)
{
    struct proc_tree tree;
    bool living;

    if (!common->proc_root)
        return true;
    living = proc_tree_init(&tree, common->proc_root) == 0 && tree.living;
    proc_tree_finish(&tree);
    return living;
}

/* Refuses options of findings with --list, which lists rules. */
static int check_list(const struct doctor_command *command)
{
    const struct common *common = &command->common;
    const struct filters *filters = &common->filters;
    const bool is_word = filters->count && filters->typed[0].option == &filters_word;
    const char *conflict = common_uses_columns(common) ? "columns"
                           : common->quiet             ? "--quiet"
                           : command->nagios           ? "--nagios"
                           : common->output            ? "--output"
                           : common->sort              ? "--sort"
                           : common->limit             ? "--limit"
                           : common->netns             ? "--netns"
                           : common->all_netns         ? "--all-netns"
                           : common->typed_root        ? "--proc-root"
                                                       : common_kernel_option(common);

    if (conflict)
        return common_misuse(common, "--list cannot be combined with %s", conflict);
    if (filters->count)
        return common_misuse(
            common, "--list cannot be combined with %s%s", is_word ? "processes, such as " : "--",
            is_word ? TYPED(filters->typed[0].text) : filters->typed[0].option->name);
    return PARSED;
}

static int doctor_parse(struct doctor_command *command, int argc, char *const argv[])
{
    struct common *common = &command->common;
    int status;

    command->rules = rule_list_find(as_text("*"));
    command->milliseconds = UINT_MAX; /* replaced below if no option sets it */
    status = common_parse(common, &doctor_grammar, argc, argv, doctor_take_option, command);
    if (status != PARSED)
        return status;
    status = check_words(command);
    if (!status)
        status = join_process_words(command);
    if (status)
        return status;
    report_other_meanings(command);
    if (command->named)
        command->rules &= command->named;
    const bool for_typed = command->milliseconds != UINT_MAX;
    if (!for_typed)
        command->milliseconds = listing_screen_is_wanted(common) ? 0
                                : common->interval_ms            ? common->interval_ms
                                : has_moving_numbers(common)     ? FOR_MS
                                                                 : 0;
    common->no_header |= command->nagios;
    common->human &= common->columns || common_counts(common); /* else keep sentences */
    const bool columns = common_uses_columns(common), exposed = command->exposed;
    const char *conflict =
        command->nagios && columns ? "--nagios cannot be combined with columns"
        : exposed && command->rules != rule_list_find(as_text("*"))
            ? "--exposed cannot be combined with --only or --skip"
        : exposed && command->nagios               ? "--exposed cannot be combined with --nagios"
        : exposed && command->list                 ? "--exposed cannot be combined with --list"
        : common_is_saved(common) && command->list ? "--list: rules are not saved"
        : common_is_saved(common) && for_typed     ? "--for: saved findings do not change"
        : common_is_saved(common) && command->nagios
            ? "saved findings cannot be listed with --nagios"
        : common_is_saved(common) && command->rules != rule_list_find(as_text("*"))
            ? "all saved findings are listed (try --where 'rule = NAME')"
        : !command->rules ? "--only and --skip leave no rule"
                          : NULL;
    return conflict        ? common_misuse(common, "%s", conflict)
           : command->list ? check_list(command)
                           : PARSED;
}

static int by_severity(const struct record *a, const struct record *b)
{
    return b->finding.severity - a->finding.severity;
}

/* Findings decide the exit status first, then whether everything could be read. */
static int status_of(const struct doctor_summary *summary, int status)
{
    const bool faults = summary->findings[SEVERITY_FAULT];
    const bool warnings = summary->findings[SEVERITY_WARNING];

    if (status > STATUS_FAILURE)
        return status;
    return faults ? STATUS_FAULT : warnings ? STATUS_WARNING : status;
}

/* True if findings of the first reading are shown before the second reading: somebody waits at a
 * terminal, and no option asks for another order, number or form of the rows. */
static bool doctor_shows_at_once(const struct doctor_command *command)
{
    const struct common *common = &command->common;

    return command->milliseconds && !common->interval_ms && !common->output && !common->sort &&
           !common->limit && !common->explain && !common->quiet && !command->nagios &&
           !common_uses_columns(common) && isatty(STDOUT_FILENO);
}

#define FINDINGS_TABLE "severity rule subject summary"

/* Lists findings. first: only the findings of the first reading that need no second. shown: number
 * of findings that were listed. */
static int doctor_list_findings(const struct doctor_command *command, struct doctor *doctor,
                                bool first, uint64_t *shown)
{
    const struct doctor_summary *summary = doctor_summary(doctor);
    const struct maker maker = {doctor_begin, first ? doctor_examine_first : doctor_examine,
                                doctor};
    const struct listing_table table = {.table = &table_findings};
    const struct findings_layout layout = {
        .colour = command_colour(&command->common),
        .header = !command->common.no_header && !first,
        .verbose = command->verbose,
        .width = command_width(&command->common),
        .counts = summary->findings,
        .rules = &summary->rules,
        .milliseconds = &summary->milliseconds,
        .partial = &summary->partial,
        .shown = shown,
    };
    /* in metrics, a sentence would be a label that changes with each sample */
    const char *columns = common_is_metrics(&command->common)
                              ? "severity rule subject process value limit moved"
                          : command->common.format == FORMAT_PLAIN ? FINDINGS_TABLE
                                                                   : NULL;
    struct listing_command listing = {
        .common = &command->common,
        .kind = &kind_finding,
        .columns = {columns},
        .table = {FINDINGS_TABLE},
        .shorten = "summary subject",
        .drop = "subject",
        .listing = {.tables = &table, .table_count = 1, .maker = &maker, .compare = by_severity},
        .layout_ops = command->nagios ? &sink_findings_line : &sink_findings,
        .layout = &layout,
        .more_metrics = findings_metrics,
        .clock = true,
        /* finding_explain() reads all network namespaces; others watch ARP and neighbours */
        .rights = RIGHTS_OF_NAMESPACES | 1u << RIGHT_PACKETS | 1u << RIGHT_BUFFERS,
        .own_status = true,
        .another_follows = first,
        .quiet = first,
    };

    return status_of(summary, command_run(&listing));
}

static int list_saved(const struct doctor_command *command)
{
    const struct listing_table table = {.table = &table_findings};
    const struct findings_layout layout = {
        .colour = command_colour(&command->common),
        .verbose = command->verbose,
        .width = command_width(&command->common),
    };
    struct listing_command listing = {
        .common = &command->common,
        .kind = &kind_finding,
        .columns = {command->common.format == FORMAT_PLAIN ? FINDINGS_TABLE : NULL},
        .shorten = "summary subject",
        .drop = "subject",
        .listing = {.tables = &table, .table_count = 1, .compare = by_severity},
        .layout_ops = &sink_findings,
        .layout = &layout,
    };

    return command_run(&listing);
}

static int diagnose(const struct doctor_command *command)
{
    struct progress_line line;
    const struct doctor_options options = {
        .rules = command->rules,
        .milliseconds = command->milliseconds,
        .repeats = listing_screen_is_wanted(&command->common) ||
                   (command->common.interval_ms && !command->milliseconds),
        .all_netns = command->common.all_netns,
        .netns = command->common.netns,
        .proc_root = command->common.proc_root ? command->common.proc_root : "/proc",
        .processes = command->common.processes,
        .typed_root = command->common.typed_root,
        .backend = command->common.proc_root ? BACKEND_PROC : command->common.backend,
        .owners = command->common.owners,
        .progress = progress_begin(&line, &command->common, "sampling", command->milliseconds,
                                   "shows the findings now"),
        .once = !command->common.interval_ms,
    };
    struct doctor *doctor = doctor_create(&options);
    uint64_t shown = 0;
    int status = STATUS_OK;

    if (!doctor)
        return no_memory_status(command->common.program);
    if (doctor_shows_at_once(command))
        status = doctor_list_findings(command, doctor, true, &shown);
    if (status != STATUS_MISUSE && status != STATUS_REFUSED)
        status = doctor_list_findings(command, doctor, false, &shown);
    doctor_destroy(doctor);
    return status;
}

/* Lists sockets that listen where other machines can reach them. These are not faults. */
static int list_exposed(const struct doctor_command *command)
{
    /* an IPv4-mapped address is shown and compared as IPv4 */
    static const struct network loopback[] = {{{AF_INET, {127}}, 8}, {{AF_INET6, {[15] = 1}}, 128}};
    const struct field *local = field_named(&kind_socket, "local_address");
    const struct listing_table sctp[] = {{.table = &table_sctp, .unnamed = true},
                                         {.table = &table_sctp6, .unnamed = true}};
    struct listing_table tables[WHICH_TABLES + COUNT(sctp)];
    const size_t count = which_tables(&(struct which){.all = false}, tables);
    struct predicate listening[COUNT(tables)][2];
    struct predicate_tree where = {.count = 0};
    const bool plain = command->common.format == FORMAT_PLAIN;
    struct listing_command listing = {
        .common = &command->common,
        .kind = &kind_socket,
        .columns = {"protocol local_address local_port reachable",
                    plain ? "process pid user unit"
                          : "interface process pid user uid cgroup unit container pod"},
        /* views of saved rows are made of these columns */
        .table = {"process pid user unit family state remote_address remote_port owners"},
        .drop = "unit pid",
        .shorten = "unit process user",
        .whole = "local_address",
        .listing = {.tables = tables, .table_count = count + COUNT(sctp)},
    };

    memcpy(tables + count, sctp, sizeof sctp);
    netstat_choose_rows(tables, count + COUNT(sctp), listening, SHOW_LISTENING, false);
    for (size_t i = 0; i < COUNT(loopback); i++)
        predicate_tree_refuse(&where, &where.whole, predicate_within(local, &loopback[i]));
    listing.listing.where = predicate_of(&where);
    return command_run(&listing);
}

int doctor_run(int argc, char *const argv[])
{
    struct doctor_command command = {.rules = 0};
    const int status = doctor_parse(&command, argc, argv);

    if (status != PARSED)
        return status;
    if (command.list)
        return rule_list_print(&command.common, command.rules);
    return command.exposed                    ? list_exposed(&command)
           : common_is_saved(&command.common) ? list_saved(&command)
                                              : diagnose(&command);
}
