/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/where/parser.h"
#include "fastnet/array.h"
#include "fastnet/doctor.h"
#include "fastnet/drop_probe.h"
#include "fastnet/drop_reasons.h"
#include "fastnet/reset_reasons.h"
#include "fastnet/text.h"

/* --- The language of filters ------------------------------------------------------------------ */

static const char help_where[] =
    "The language of --where 'EXPR'. Put it into quotes, because of < > * and spaces:\n\n"
    "  COLUMN = A,B,...   one of these values, also 8000-8999 or 10.0.0.0/8\n"
    "  COLUMN != A,B,...  another value\n"
    "  < <= > >=          numbers and times; also another column: rtt > 10*min_rtt\n"
    "  COLUMN ~ 'ngi*'    the whole text matches: * any text, ? one byte\n"
    "  COLUMN !~ 'ngi*'   it does not match\n"
    "  COLUMN ~~ 'NGI*'   the same, but upper and lower case are equal\n"
    "  COLUMN = null      the column has no value; != null: it has a value\n"
    "  and or not ( )     join comparisons\n\n"
    "Numbers end with k, M, G, T (1024); times with us, ms, s, m, h, d. Examples:\n\n"
    "  state = CLOSE_WAIT and remote_address in 10.0.0.0/8\n"
    "  local_port in 8000-8999,https or process = nginx\n"
    "  not (user = root or send_q <= 64k)\n\n"
    "Short forms: fastnet help filters. Columns: fastnet help columns.\n";

static const char help_sort[] =
    "Rows in another order, or counted:\n\n"
    "  --sort=rtt           smallest first; --sort=-rtt: largest first\n"
    "  --sort=process,-rtt  rows with the same process are sorted by rtt\n"
    "  --count-by=process   sorted by the count; --sort=process: by name\n\n";

static void help_put_columns(const struct grammar *some, FILE *stream)
{
    (void)some;
    fputs("Columns of sockets, for --columns, --where, --sort and --count-by:\n\n", stream);
    columns_help_put(&kind_socket, stream);
    fputs("\nColumns of other tables: --columns=help after their command, for example\n"
          "fastnet neigh --columns=help. One column of any table: fastnet help NAME.\n",
          stream);
}

static void help_put_filters(const struct grammar *some, FILE *stream)
{
    (void)some;
    fputs("Options that choose rows of sockets; other commands have those that fit:\n", stream);
    options_help(&filters_of_sockets, 0, 1, "", NULL, stream);
    fputs("\nSeveral options are joined by and. Put !VALUE into quotes. The language of EXPR:\n"
          "fastnet help where.\n",
          stream);
}

static void help_put_sort(const struct grammar *some, FILE *stream)
{
    fputs(help_sort, stream);
    options_help_some(some->tables, "sort limit count-by sum avg median quantile percent", stream);
    fputs("\nThe column can be any of: fastnet help columns.\n", stream);
}

static void help_put_where(const struct grammar *some, FILE *stream)
{
    (void)some;
    fputs(help_where, stream);
}

static const struct help_topic {
    const char *name, *help;
    void (*put)(const struct grammar *some, FILE *stream); /* some: a command with common options */
} topics[] = {
    {"where", "the language of filters", help_put_where},
    {"filters", "options that filter", help_put_filters},
    {"columns", "the columns of sockets", help_put_columns},
    {"sort", "the order of rows", help_put_sort},
};

/* --- States ----------------------------------------------------------------------------------- */

/* States of sockets, flows and neighbours. Names that differ only by '_' and '-' are equal. */
static const struct help_state {
    const char *name;
    const char *others; /* other names, separated by spaces, or NULL */
    const char *meaning;
} states[] = {
    {"ESTABLISHED", "ESTAB", "The connection is open; both ends may send."},
    {"SYN_SENT", NULL,
     "A program here has asked for a connection; it is the peer's turn to answer."},
    {"SYN_RECV", "NEW_SYN_RECV",
     "The peer has asked for a connection and this end has answered; it is "
     "the peer's turn to confirm."},
    {"FIN_WAIT1", NULL,
     "The program here has closed the connection; it is the peer's turn to acknowledge "
     "the end."},
    {"FIN_WAIT2", NULL,
     "The program here has closed the connection, the peer has acknowledged that; it "
     "is the turn of the peer's program to close it, too."},
    {"FIN_WAIT", NULL,
     "One end of the tracked connection has closed it; it is the turn of the other end "
     "to acknowledge and to close it, too."},
    {"TIME_WAIT", "TIMEWAIT",
     "Both ends have closed the connection; the kernel waits a minute for "
     "late packets, and nobody has to do anything."},
    {"CLOSE", "UNCONN CLOSED",
     "The socket has no connection: a UDP socket has no peer, a TCP socket is "
     "new or has ended."},
    {"CLOSE_WAIT", NULL,
     "The peer has closed the connection; it is the turn of the program on this "
     "machine to close its socket, too."},
    {"LAST_ACK", NULL,
     "Both programs have closed the connection; it is the peer's turn to acknowledge "
     "the end."},
    {"LISTEN", "LISTENING", "The socket waits for connections; it is the turn of clients."},
    {"CLOSING", NULL,
     "Both ends have closed the connection at the same time; it is the peer's turn to "
     "acknowledge the end."},
    {"BOUND_INACTIVE", NULL,
     "The socket has a local port, but neither listens nor is connected; it is "
     "the turn of its program."},
    {"SYN_SENT2", NULL,
     "Both ends have asked for the tracked connection at the same time; each has to "
     "answer."},
    {"NONE", NULL, "The entry is new: nothing is known yet."},
    {"INCOMPLETE", NULL,
     "The kernel has asked for the neighbour's MAC address; it is the neighbour's "
     "turn to answer."},
    {"REACHABLE", NULL, "The neighbour has answered a short time ago; the entry is in use."},
    {"STALE", NULL,
     "The neighbour has not been heard for some time; the kernel checks it when a packet "
     "is sent to it."},
    {"DELAY", NULL,
     "A packet was sent to a stale neighbour; the kernel waits some seconds for a sign that "
     "the neighbour is there, then asks it."},
    {"PROBE", NULL,
     "The kernel asks whether the neighbour is still there; it is the neighbour's turn to "
     "answer."},
    {"FAILED", NULL, "The neighbour did not answer; check its power, its cable and the address."},
    {"NOARP", NULL, "The neighbour needs no MAC address; nobody is asked for it."},
    {"PERMANENT", NULL, "An administrator has set the MAC address; it is never checked."},
};

/* --- Parts of a page -------------------------------------------------------------------------- */

struct help {
    const struct grammar *const *grammars;
    const char *word;
    FILE *stream;
    size_t found;
};

static bool help_is_asked(const struct help *help, const char *name)
{
    return name && where_is_spelled_like(help->word, as_text(name));
}

/* Begins a paragraph with the word and what it is. */
static void help_begin(struct help *help, const char *name, const char *what, const char *of)
{
    fprintf(help->stream, "%s%s: %s%s\n", help->found++ ? "\n" : "", name, what, of);
}

/* Writes a text, indented and broken into lines. label: is written before the text. */
static void help_put_text(const struct help *help, const char *label, const char *text)
{
    enum { HELP_WIDTH = 78, HELP_INDENT = 2 };
    size_t used = HELP_INDENT + strlen(label);

    fprintf(help->stream, "%*s%s", HELP_INDENT, "", label);
    for (struct text word; text_next(&text, ' ', &word); used += 1 + word.length) {
        const bool fits = used + 1 + word.length <= HELP_WIDTH;
        if (!fits)
            used = HELP_INDENT;
        fprintf(help->stream, "%s%.*s",
                !fits                ? "\n  "
                : used > HELP_INDENT ? " "
                                     : "",
                (int)word.length, word.data);
    }
    fputc('\n', help->stream);
}

/* --- Columns ---------------------------------------------------------------------------------- */

/* Table number i of a command: i = 0 is what it lists without options. NULL: it has no more. */
static const struct kind *help_table(const struct grammar *grammar, size_t i)
{
    if (i == 0)
        return grammar->kind;
    return grammar->listed ? grammar->listed[i - 1].kind : NULL;
}

/* Appends how table number i of a command is typed: "netstat -r". */
static void help_add_table(char *text, size_t size, const struct grammar *grammar, size_t i)
{
    const struct listed *listed = i ? &grammar->listed[i - 1] : NULL;
    const struct option *option = NULL;

    for (size_t at = 0; listed && (option = options_at(grammar->tables, at)); at++)
        if (option->id == listed->id)
            break;
    message_append(text, size, "%s%s", *text ? ", " : "", grammar->name);
    if (option && option->letter)
        message_append(text, size, " -%c", option->letter);
    else if (option)
        message_append(text, size, " --%s", option->name);
    if (listed && listed->argument)
        message_append(text, size, " %s", listed->argument);
}

static void help_put_tables_of(const struct help *help, const struct kind *kind)
{
    char text[512] = "";

    for (size_t g = 0; help->grammars[g]; g++)
        for (size_t i = 0; help_table(help->grammars[g], i); i++)
            if (help_table(help->grammars[g], i) == kind &&
                (i < 2 || help_table(help->grammars[g], i - 1) != kind))
                help_add_table(text, sizeof text, help->grammars[g], i);
    help_put_text(help, "in:", text);
}

static void help_put_column(struct help *help, const struct kind *kind, const struct field *field)
{
    const bool is_common = field < kind->fields || field >= kind->fields + kind->field_count;
    const struct field_group *group = field_group(kind, field);
    const char *unit = columns_help_unit(field);
    char meaning[COLUMNS_HELP_MEANING];

    help_begin(help, field->name, is_common ? "a column of every table" : "a column of ",
               is_common ? "" : kind->name);
    fprintf(help->stream, "  %s%s%s%s%s\n", columns_help_type(field), unit ? ", " : "",
            unit ? unit : "", group ? ", in the group " : "", group ? group->name : "");
    help_put_text(help, "", columns_help_meaning(kind, field, meaning));
    if (field->rate)
        help_put_text(help, "", "in a second; in top, and in other commands with -c --delta");
    else if (!is_common)
        help_put_tables_of(help, kind);
}

/* Writes the column of the kind, or the rate of its counter, and the group of columns. Returns true
 * if every kind has this column. */
static bool help_put_columns_of(struct help *help, const struct kind *kind, struct rates *rates)
{
    const size_t length = strlen(help->word);
    const struct field *field = field_find(kind, help->word, length);

    if (field) {
        help_put_column(help, kind, field);
    } else {
        rates_add(rates, kind);
        if ((field = field_find(&rates->kind, help->word, length)))
            help_put_column(help, &rates->kind, field);
    }
    for (size_t i = 0; i < kind->group_count; i++)
        if (help_is_asked(help, kind->groups[i].name)) {
            help_begin(help, kind->groups[i].name, "a group of columns of ", kind->name);
            fprintf(help->stream, "  --columns=+%s shows them, too\n", kind->groups[i].name);
        }
    return field && field == field_find(&kind_count, help->word, length);
}

/* Stores each kind that a command lists, once. Returns their number. */
enum { HELP_KINDS = 32 };
static size_t help_kinds(const struct grammar *const grammars[],
                         const struct kind *kinds[HELP_KINDS])
{
    const struct kind *kind;
    size_t count = 0, at;

    for (size_t g = 0; grammars[g]; g++)
        for (size_t i = 0; (kind = help_table(grammars[g], i)); i++) {
            for (at = 0; at < count && kinds[at] != kind; at++)
                ;
            if (at == count && count < HELP_KINDS)
                kinds[count++] = kind;
        }
    return count;
}

static void help_put_columns_named(struct help *help)
{
    const struct kind *kinds[HELP_KINDS];
    const size_t count = help_kinds(help->grammars, kinds);
    struct rates *rates = malloc(sizeof *rates);

    for (size_t i = 0; rates && i < count && !help_put_columns_of(help, kinds[i], rates); i++)
        ;
    free(rates);
}

/* --- The word --------------------------------------------------------------------------------- */

static bool help_is_other(const struct help *help, const char *names)
{
    bool is = false;

    for (struct text name; !is && text_next(&names, ' ', &name);)
        is = where_is_spelled_like(help->word, name);
    return is;
}

static void help_put_states(struct help *help)
{
    for (size_t i = 0; i < COUNT(states); i++) {
        if (!help_is_asked(help, states[i].name) && !help_is_other(help, states[i].others))
            continue;
        help_begin(help, states[i].name, "a state", "");
        help_put_text(help, "", states[i].meaning);
    }
}

static void help_put_rule(struct help *help)
{
    const struct doctor_rule *rule;

    for (size_t i = 0; (rule = doctor_rule(i)); i++) {
        if (!help_is_asked(help, rule->name))
            continue;
        help_begin(help, rule->name, "a rule of fastnet doctor", "");
        help_put_text(help, "finds:", rule->help);
        help_put_text(help, "threshold:", rule->threshold ? rule->threshold : "-");
        help_put_text(help, "to do:", rule->advice ? rule->advice : "see the finding");
        if (rule->command)
            fprintf(help->stream, "  see: %s\n", rule->command);
        if (rule->source)
            help_put_text(help, "from:", rule->source);
        fprintf(help->stream, "  alone: fastnet doctor --only=%s\n", rule->name);
    }
}

/* Explains a drop reason. reason: its meaning, or NULL if only its name is known. */
static void help_put_meaning(struct help *help, const char *name, const char *what,
                             const struct drop_reason *reason)
{
    static const char *const classes[] = {[DROP_IS_LOSS] = "somebody misses the packet",
                                          [DROP_IS_POLICY] = "a rule or the protocol demands it",
                                          [DROP_IS_HARMLESS] = "harmless: nobody misses it"};

    help_begin(help, name, what, " (fastnet drops)");
    help_put_text(help, "", reason ? reason->meaning : "only the kernel's name is known");
    if (reason)
        help_put_text(help, "", classes[reason->class]);
}

static void help_put_reason(struct help *help)
{
    const struct drop_reason *reason =
        drop_reason_find(as_text("NOT_SPECIFIED"), as_text(help->word));
    const char *name;

    for (size_t i = 0; (name = drop_reason_word(i)); i++)
        if (help_is_asked(help, name)) {
            help_put_meaning(help, name, "a reason of dropped packets",
                             drop_reason_find(as_text(name), as_text("")));
            return;
        }
    if (reason && strcmp(reason->name, help->word) == 0)
        help_put_meaning(help, reason->name, "a function of the kernel that drops packets", reason);
}

static void help_put_reset_reason(struct help *help)
{
    const char *name;

    for (size_t i = 0; (name = reset_reason_word(i)); i++)
        if (help_is_asked(help, name)) {
            help_begin(help, name, "a reason of TCP resets", " (fastnet closed)");
            help_put_text(help, "", reset_reason_meaning(as_text(name)));
        }
}

void help_each_word(const struct grammar *const grammars[], help_word_fn *fn, void *arg)
{
    const struct kind *kinds[HELP_KINDS];
    const size_t count = help_kinds(grammars, kinds);
    const struct field *field;
    const char *word;

    for (size_t i = 0; i < COUNT(topics); i++)
        fn(topics[i].name, topics[i].help, arg);
    for (size_t i = 0; doctor_rule(i); i++)
        fn(doctor_rule(i)->name, doctor_rule(i)->help, arg);
    for (size_t i = 0; i < COUNT(states); i++)
        fn(states[i].name, "a state", arg);
    for (size_t i = 0; (word = drop_reason_word(i)); i++)
        fn(word, "a reason of dropped packets", arg);
    for (size_t i = 0; (word = reset_reason_word(i)); i++)
        fn(word, "a reason of TCP resets", arg);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < kinds[k]->field_count; i++)
            fn(kinds[k]->fields[i].name, kinds[k]->fields[i].help, arg);
    for (size_t i = 0; (field = field_at(&kind_count, i)); i++)
        fn(field->name, field->help, arg);
}

static void help_offer(const char *word, const char *help, void *arg)
{
    (void)help;
    misuse_offer(arg, word);
}

static int help_refuse(const struct grammar *const grammars[], const char *word)
{
    struct misuse misuse = {.subject = "help",
                            .wrong = "there is no command, column, rule, drop reason or state '%s'",
                            .typed = as_text(word),
                            .before = "fastnet help "};
    char message[MESSAGE_TEXT_MAX];

    for (size_t i = 0; grammars[i]; i++)
        misuse_offer(&misuse, grammars[i]->name);
    help_each_word(grammars, help_offer, &misuse);
    misuse_put(&misuse, message, sizeof message);
    fprintf(stderr, "fastnet: %s%s\n", message, misuse.meant.data ? "" : " (see fastnet --help)");
    return STATUS_REFUSED;
}

int help_word(const struct grammar *const grammars[], const char *word)
{
    static const char prefix[] = "SKB_DROP_REASON_"; /* tracepoints write this prefix */
    const size_t skipped = strncmp(word, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
    struct page page;
    struct help help = {grammars, word + skipped, page_open(&page), 0};
    int status;

    drop_reasons_extend(drop_probe_kernel_word);
    for (size_t i = 0; i < COUNT(topics); i++)
        if (help_is_asked(&help, topics[i].name)) {
            topics[i].put(grammars[0], help.stream);
            help.found++;
        }
    help_put_states(&help);
    help_put_rule(&help);
    help_put_reason(&help);
    help_put_reset_reason(&help);
    help_put_columns_named(&help);
    status = page_finish(&page, "fastnet");
    return help.found ? status : help_refuse(grammars, word);
}
