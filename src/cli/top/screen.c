/* SPDX-License-Identifier: MIT */
/* The table on a terminal: its frames and its keys. */
#include "fastnet/screen.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/top/header.h"
#include "cli/top/terminal.h"
#include "cli/top/top.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/namespace.h"
#include "fastnet/report.h"

enum { FILTER_MAX = 240, PAGE_MAX = 400, PAGE_LINE = 256 };
enum { INTERVAL_LEAST = 100, INTERVAL_MOST = 3600 * 1000 }; /* that keys choose */

#define TITLES                                                                                     \
    "bytes_sent=SENT bytes_received=RECEIVED resent_percent=RESENT% send_q=SENDQ lived=AGE "

/* What columns are called, with rates or with totals. */
static const char *const titles[] = {
    TITLES "bytes_sent_per_second=TX/s bytes_received_per_second=RX/s",
    TITLES "bytes_sent_per_second=TX bytes_received_per_second=RX",
};

/* What rows can stand below, by `t`. */
static const char *const trees[] = {NULL, "process", "unit", "container", "netns"};

struct shown {
    uint64_t cookie; /* 0: a group */
    size_t visit;
};

struct screen_state {
    struct top *top;
    struct sink *sink;
    struct header *header;
    const struct predicate *where; /* of the command line */
    struct where typed_where;      /* of `/` */
    struct live_summary summary;
    struct shown shown[SCREEN_ROWS];
    size_t shown_count, chosen; /* chosen: the row on the screen */
    size_t sorted;              /* the column */
    size_t tree;                /* in `trees` */
    size_t width, height;
    bool paused, typing, quits;
    char filter[FILTER_MAX + 1], typed[FILTER_MAX + 1];
    char message[512]; /* at the bottom; empty: keys */
    bool is_problem;
    /* A page of text in place of the table; count 0: none. */
    char (*page)[PAGE_LINE];
    size_t page_count, page_first;
    uint64_t next, ends_read; /* CLOCK_MONOTONIC */
    struct report report;
    size_t noted;      /* lines of the report that were said */
    uint64_t noted_at; /* ... and the last one when; 0: the message is another one */
};

static const uint64_t NOTED = 5 * CLOCK_SECOND;

/* --- Frames ----------------------------------------------------------------------------------- */

static void take_row(void *arg, const struct record *record)
{
    struct screen_state *state = arg;

    if (state->shown_count < SCREEN_ROWS)
        state->shown[state->shown_count++] =
            (struct shown){record->identity, (size_t)record->visit};
    state->sink->ops->row(state->sink, record);
}

struct sums {
    const struct screen_state *state;
    const struct live_group *group;
};

/* The sum of a column over the rows of a group, if it is one of counters or rates. */
static const char *text_of_sum(const struct field *column, char room[32], void *arg)
{
    const struct sums *sums = arg;
    const struct listing *listing = &sums->state->top->command->listing;

    for (size_t i = 0; i < listing->rate_count; i++) {
        const bool rate = column->rate && strcmp(column->of->name, listing->rates[i]->name) == 0;
        if (rate || strcmp(column->name, listing->rates[i]->name) == 0)
            return top_amount(room, rate ? sums->group->rates[i] : sums->group->totals[i]);
    }
    return NULL;
}

static void take_group(void *arg, const struct live_group *group)
{
    struct screen_state *state = arg;
    struct sums sums = {state, group};
    char title[128];

    if (state->shown_count < SCREEN_ROWS)
        state->shown[state->shown_count++] = (struct shown){.cookie = 0};
    const int length = snprintf(title, sizeof title, "%.*s (%zu)",
                                group->name.length ? (int)group->name.length : 1,
                                group->name.length ? group->name.data : "-", group->rows);
    screen_title(state->sink, title, (size_t)length, text_of_sum, &sums);
}

static void put_first_line(const struct screen_state *state)
{
    const struct top *top = state->top;
    char text[512];
    int length = snprintf(text, sizeof text, "fastnet top, every %g s", top->interval_ms / 1000.0);
    const size_t room = sizeof text;
    const uint64_t interval = top->interval_ms * (CLOCK_SECOND / 1000);

    if (top->budget.apart > interval + interval / 2)
        length += snprintf(text + length, room - (size_t)length, " (all sockets: every %.1f s)",
                           (double)top->budget.apart / CLOCK_SECOND);
    if (*state->filter)
        length += snprintf(text + length, room - (size_t)length, "   filter: %.*s", FILTER_MAX,
                           TYPED(state->filter));
    if (top->view.group)
        length += snprintf(text + length, room - (size_t)length, "   by %s", top->view.group->name);
    snprintf(text + length, room - (size_t)length, "%s%s%s%s%s",
             top->view.totals ? "   totals since it began" : "",
             top->view.idle ? "   with idle ones" : "", state->paused ? "   PAUSED" : "",
             *top->counted ? "   " : "", top->counted);
    screen_line(state->sink, SCREEN_BOLD, text);
}

static void put_states(const struct screen_state *state)
{
    const struct live_summary *summary = &state->summary;
    char text[512];
    size_t length = (size_t)snprintf(text, sizeof text, "%zu sockets", summary->rows);

    for (size_t i = 0; i < LIVE_STATES && length < sizeof text; i++) {
        const char *name = summary->states[i] ? socket_state_name(i) : NULL;
        if (name)
            length += (size_t)snprintf(text + length, sizeof text - length, ", %zu %s",
                                       summary->states[i],
                                       synonym_of(kind_socket.synonym, as_text(name)).data);
    }
    screen_line(state->sink, SCREEN_PLAIN, text);
}

static void put_rates(const struct screen_state *state)
{
    char text[2 * HEADER_TEXT], kernel[HEADER_TEXT], sent[TOP_AMOUNT], received[TOP_AMOUNT];

    header_put_kernel(state->header, kernel);
    snprintf(text, sizeof text, "sent %sB/s, received %sB/s, %s",
             top_amount(sent, state->summary.rates[0]),
             top_amount(received, state->summary.rates[1]), kernel);
    screen_line(state->sink, SCREEN_PLAIN, text);
}

static size_t count_interfaces(const struct screen_state *state)
{
    char text[HEADER_TEXT];
    size_t count = 0;

    while (count < state->height / 6 && header_put_interface(state->header, count, text))
        count++;
    return count;
}

static int put_bottom(struct screen_state *state)
{
    const struct listing_command *command = state->top->command;
    const struct field *sorted =
        state->sorted < command->shown_count ? command->shown[state->sorted] : NULL;

    if (state->typing) {
        char text[2048];
        snprintf(text, sizeof text, "filter: %s_  %s", TYPED(state->typed), state->message);
        return screen_end(state->sink, sorted, SIZE_MAX,
                          *state->message ? SCREEN_PROBLEM : SCREEN_BOLD, text);
    }
    if (*state->message)
        return screen_end(state->sink, sorted, state->chosen,
                          state->is_problem ? SCREEN_PROBLEM : SCREEN_BOLD, state->message);
    return screen_end(state->sink, sorted, state->chosen, SCREEN_DIM,
                      "? help  / filter  < > sort  t tree  g group  a idle  space pause  q quit");
}

static int draw_page(struct screen_state *state)
{
    screen_begin(state->sink, state->width, state->height, false);
    for (size_t i = state->page_first;
         i < state->page_count && i + 1 < state->page_first + state->height; i++)
        screen_line(state->sink, SCREEN_PLAIN, state->page[i]);
    return screen_end(state->sink, NULL, SIZE_MAX, SCREEN_DIM,
                      "up and down scroll, any other key goes back");
}

static int draw_table(struct screen_state *state)
{
    enum { ABOVE = 3 };
    struct top *top = state->top;
    const struct live_taker taker = {take_group, take_row, state};
    const size_t interfaces = count_interfaces(state);
    size_t room;
    char text[HEADER_TEXT];
    int error;

    screen_begin(state->sink, state->width, state->height, true);
    room = screen_room(state->sink, ABOVE + interfaces + 1);
    state->shown_count = 0;
    top->view.count = room;
    error = live_show(top->live, &top->view, &taker, &state->summary, &state->report);
    if (top->view.first >= state->summary.listed && top->view.first) {
        const size_t least = room ? room : 1; /* the last row is there, seen or not */
        top->view.first = state->summary.listed > least ? state->summary.listed - least : 0;
        return error < 0 ? error : draw_table(state);
    }
    if (state->chosen >= state->shown_count)
        state->chosen = state->shown_count ? state->shown_count - 1 : 0;
    put_first_line(state);
    put_states(state);
    put_rates(state);
    for (size_t i = 0; i < interfaces && header_put_interface(state->header, i, text); i++)
        screen_line(state->sink, SCREEN_PLAIN, text);
    const int written = put_bottom(state);
    return error < 0 ? error : written;
}

static int draw(struct screen_state *state)
{
    terminal_size(&state->width, &state->height);
    return state->page_count ? draw_page(state) : draw_table(state);
}

static void say(struct screen_state *state, bool is_problem, const char *text)
{
    snprintf(state->message, sizeof state->message, "%s", text);
    state->is_problem = is_problem;
}

/* --- Pages ------------------------------------------------------------------------------------ */

static char *add_line(struct screen_state *state)
{
    if (!state->page)
        state->page = calloc(PAGE_MAX, sizeof *state->page);
    return state->page && state->page_count < PAGE_MAX ? state->page[state->page_count++] : NULL;
}

/* A line for each value that is known. */
static int put_values(const struct record *record, void *arg)
{
    struct screen_state *state = arg;
    const struct kind *kind = record->kind;
    char text[4096];

    for (size_t i = 0; i < kind->field_count; i++) {
        const struct value value = field_value(&kind->fields[i], record, state->sink->context);
        if (value.type == VALUE_UNKNOWN || value_bound(&value) >= sizeof text)
            continue;
        *value_write_human(text, &value, (int)kind->fields[i].unit) = '\0';
        char *line = add_line(state);
        if (line)
            snprintf(line, PAGE_LINE, "%-24s %.220s", kind->fields[i].name, text);
        if (line && strcmp(kind->fields[i].name, "pid") == 0 && (line = add_line(state))) {
            char words[PAGE_LINE - 32];
            snprintf(line, PAGE_LINE, "%-24s %s", "command line",
                     process_command_line((pid_t)value.number, words, sizeof words));
        }
    }
    return 0;
}

static int show_row(struct screen_state *state, int key)
{
    const struct shown *row = &state->shown[state->chosen];
    int error;

    (void)key;
    state->page_count = state->page_first = 0;
    if (state->chosen >= state->shown_count || !row->cookie)
        return 0;
    error = live_show_one(state->top->live, row->cookie, row->visit, UINT64_MAX & ~SOCKET_STORAGES,
                          put_values, state, &state->report);
    if (error || !state->page_count)
        say(state, true, "that socket is gone");
    return 0;
}

/* --- Keys ------------------------------------------------------------------------------------- */

static int look(struct screen_state *state, bool all)
{
    const int error = top_look(state->top, all, &state->report);

    if (error >= 0)
        header_read(state->header, state->top->live, state->top->view.interval / 2);
    return error;
}

/* Ranks are those of the last look, so another order needs a look. */
static int choose(struct screen_state *state)
{
    struct top *top = state->top;
    const struct field *column =
        state->sorted < top->command->shown_count ? top->command->shown[state->sorted] : NULL;
    const struct field *by =
        column ? field_compared(top->command->kind, column->name, strlen(column->name)) : NULL;

    if (by)
        top->view.order.field = by;
    top->view.first = 0;
    live_choose(top->live, &top->view);
    return look(state, true);
}

static int group_by(struct screen_state *state, const struct field *field, bool folded)
{
    struct top *top = state->top;

    top->view.group = field;
    top->view.folded = folded;
    if (field)
        needs_add(&top->command->listing.needs, field_needs(field));
    return choose(state);
}

/* The column that rows are sorted by, or else the first one: numbers differ from row to row. */
static const struct field *group_column(const struct screen_state *state)
{
    const struct listing_command *command = state->top->command;
    const char *first = command->shown[0]->name;
    const struct field *by = state->top->view.order.field;

    return by && !by->rate && !by->counter && !by->gauge
               ? by
               : field_compared(command->kind, first, strlen(first));
}

/* Rows of a filter that compares other rates begin anew, because they were not remembered. */
static int begin_again(struct screen_state *state)
{
    struct top *top = state->top;

    live_destroy(top->live);
    top->live = NULL;
    return top_begin(top, NULL, &state->report);
}

static int set_filter(struct screen_state *state)
{
    struct listing_command *command = state->top->command;
    struct where where = {.options = NULL};
    const struct predicate *typed = NULL, *both = state->where;
    const struct field *rates[LIVE_SUMS];
    const size_t rate_count = command->listing.rate_count;

    if (*state->typed)
        typed = where_parse(&where, command->kind, state->typed);
    if (typed)
        both = where_both(&where, state->where, typed);
    if (*state->typed && (!typed || !both)) {
        say(state, true, where.message);
        where_finish(&where);
        return 0;
    }
    where_finish(&state->typed_where);
    state->typed_where = where;
    snprintf(state->filter, sizeof state->filter, "%s", state->typed);
    command->listing.where = both;
    command->listing.typed = typed;
    needs_add(&command->listing.needs, predicate_needs(both));
    memcpy(rates, state->top->rates, sizeof rates);
    top_choose_rates(state->top);
    state->typing = false;
    if (command->listing.rate_count != rate_count ||
        memcmp(rates, state->top->rates, rate_count * sizeof *rates) != 0)
        return begin_again(state);
    return look(state, true);
}

static int type_key(struct screen_state *state, int key)
{
    const size_t length = strlen(state->typed);

    *state->message = '\0';
    if (key == KEY_ENTER) {
        state->typing = false;
        const int error = set_filter(state);
        state->typing = *state->message && error >= 0; /* what is wrong can be mended */
        return error;
    }
    if (key == KEY_ESCAPE)
        state->typing = false;
    else if (key == KEY_BACKSPACE && length)
        state->typed[length - 1] = '\0';
    else if (key >= ' ' && key < KEY_BACKSPACE && length < FILTER_MAX)
        snprintf(state->typed + length, 2, "%c", key);
    return 0;
}

static void move_by(struct screen_state *state, long by)
{
    const long room = state->shown_count ? (long)state->shown_count : 1;
    struct live_view *view = &state->top->view;
    long at = (long)state->chosen + by;

    if (at < 0 || at >= room) {
        const long more = at < 0 ? at : at - room + 1;
        const long most = (long)state->summary.listed - room;
        long first = (long)view->first + more;
        first = first < most ? first : most;
        view->first = first > 0 ? (size_t)first : 0;
        at = at < 0 ? 0 : room - 1;
    }
    state->chosen = (size_t)at;
}

static int set_interval(struct screen_state *state, int key)
{
    unsigned *interval = &state->top->interval_ms;

    if (key == '-' && *interval <= INTERVAL_MOST / 2)
        *interval *= 2;
    else if (key == '+' && *interval >= 2 * INTERVAL_LEAST)
        *interval /= 2;
    state->top->view.interval = *interval * (CLOCK_SECOND / 1000);
    live_choose(state->top->live, &state->top->view);
    state->next = 0;
    return 0;
}

/* By what rows are sorted: at first by both rates. */
static void put_order(FILE *stream, const struct live_view *view)
{
    const char *sign = view->order.descending ? "-" : "";
    const char *group = view->group ? view->group->name : "";
    const char *comma = view->group ? "," : "";

    if (view->order.field)
        fprintf(stream, " --sort=%s%s%s%s", group, comma, sign, view->order.field->name);
    else
        fprintf(stream, " --sort=%s%s%sbytes_sent_per_second,%sbytes_received_per_second", group,
                comma, sign, sign);
}

/* A listing alone has no rates: those of -c show the same from the second one on. */
static int show_command(struct screen_state *state, int key)
{
    const struct top *top = state->top;
    FILE *stream = fmemopen(state->message, sizeof state->message - 1, "w");

    (void)key;
    if (!stream)
        return 0;
    state->is_problem = false;
    fputs("fastnet s", stream);
    common_put_letters(stream, top->common.grammar->tables[0], 0, &top->common);
    common_put_filters(stream, &top->common);
    if (*state->filter)
        text_put_word(stream, " --where=", state->filter);
    fprintf(stream, " -c %g --delta%s", top->interval_ms / 1000.0,
            top->view.idle ? "" : " --nonzero");
    if (top->view.folded && top->view.group) {
        fprintf(stream, " --count-by=%s --sum=bytes_sent_per_second,bytes_received_per_second",
                top->view.group->name);
    } else {
        put_order(stream, &top->view);
        if (top->common.columns)
            text_put_word(stream, " --columns=", top->common.columns);
    }
    fclose(stream);
    return 0;
}

static int take_page_key(struct screen_state *state, int key)
{
    const size_t room = state->height > 1 ? state->height - 1 : 1, first = state->page_first;
    const size_t last = state->page_count > room ? state->page_count - room : 0;
    const size_t by = key == KEY_UP || key == KEY_DOWN             ? 1
                      : key == KEY_PAGE_UP || key == KEY_PAGE_DOWN ? room
                      : key == KEY_HOME || key == KEY_END          ? PAGE_MAX
                                                                   : 0;

    if (!by)
        state->page_count = 0;
    else if (key == KEY_UP || key == KEY_PAGE_UP || key == KEY_HOME)
        state->page_first = first > by ? first - by : 0;
    else
        state->page_first = first + by < last ? first + by : last;
    return 0;
}

static int quit(struct screen_state *state, int key)
{
    (void)key;
    state->quits = true;
    return 0;
}

static int sort_by(struct screen_state *state, int key)
{
    const size_t count = state->top->command->shown_count;
    const bool right = key == '>' || key == KEY_RIGHT;

    state->sorted = state->sorted < count ? (state->sorted + (right ? 1 : count - 1)) % count : 0;
    return choose(state);
}

static int reverse(struct screen_state *state, int key)
{
    (void)key;
    state->top->view.order.descending = !state->top->view.order.descending;
    return choose(state);
}

static int plant_tree(struct screen_state *state, int key)
{
    const char *name;

    (void)key;
    state->tree = (state->tree + 1) % COUNT(trees);
    name = trees[state->tree];
    return group_by(state, name ? field_named(state->top->command->kind, name) : NULL, false);
}

static int sum_up(struct screen_state *state, int key)
{
    const struct live_view *view = &state->top->view;

    (void)key;
    state->tree = 0;
    return view->folded && view->group ? group_by(state, NULL, false)
                                       : group_by(state, group_column(state), true);
}

static int show_idle(struct screen_state *state, int key)
{
    (void)key;
    state->top->view.idle = !state->top->view.idle;
    return 0;
}

static int show_totals(struct screen_state *state, int key)
{
    struct live_view *view = &state->top->view;

    (void)key;
    view->totals = !view->totals;
    screen_titles(state->sink, titles[view->totals]);
    return choose(state);
}

static int pause_looks(struct screen_state *state, int key)
{
    (void)key;
    state->paused = !state->paused;
    return 0;
}

static int type_filter(struct screen_state *state, int key)
{
    (void)key;
    state->typing = true;
    snprintf(state->typed, sizeof state->typed, "%s", state->filter);
    return 0;
}

static int move(struct screen_state *state, int key)
{
    const bool up = key == KEY_UP || key == KEY_PAGE_UP || key == KEY_HOME;
    const size_t by = key == KEY_UP || key == KEY_DOWN    ? 1
                      : key == KEY_HOME || key == KEY_END ? state->summary.listed
                                                          : state->height;

    move_by(state, up ? -(long)by : (long)by);
    return 0;
}

static int show_help(struct screen_state *state, int key);

/* What keys do, in the order in which the help has them. */
static const struct binding {
    int key;
    int (*press)(struct screen_state *state, int key);
    const char *help; /* "KEYS|what they do"; NULL: with the one before */
} bindings[] = {
    {'<', sort_by, "< >|sort by the column to the left or right"},
    {'>', sort_by, NULL},
    {KEY_LEFT, sort_by, NULL},
    {KEY_RIGHT, sort_by, NULL},
    {'r', reverse, "r|reverse the order"},
    {'/', type_filter, "/|filter, in the language of --where; an empty one shows all"},
    {'t', plant_tree, "t|tree: below processes, units, containers, namespaces, none"},
    {'g', sum_up, "g|sums of groups, by the column that is sorted by"},
    {'a', show_idle, "a|also sockets that do not move"},
    {'T', show_totals, "T|totals since it began, in place of rates"},
    {' ', pause_looks, "space|pause; rows can be scrolled"},
    {KEY_UP, move, "up, down|choose a row; page up, page down, home, end"},
    {KEY_DOWN, move, NULL},
    {KEY_PAGE_UP, move, NULL},
    {KEY_PAGE_DOWN, move, NULL},
    {KEY_HOME, move, NULL},
    {KEY_END, move, NULL},
    {KEY_ENTER, show_row, "Enter|all that is known of the row"},
    {'+', set_interval, "+ -|look more or less often"},
    {'-', set_interval, NULL},
    {'y', show_command, "y|the command that lists the same"},
    {'?', show_help, "?|this help"},
    {'q', quit, "q|quit"},
};

static int show_help(struct screen_state *state, int key)
{
    static const char *const notes[] = {
        "",
        "A new socket has a + before it, one that has ended a - and its totals, for 3 seconds.",
        "Rates are those of the last look at the row. The share of an interface's bytes is",
        "\"about\": its bytes have headers, and sockets that have ended are missing.",
        "Bytes of UDP, raw and unix sockets are those that programs moved since it began.",
    };
    char *line;

    (void)key;
    state->page_count = state->page_first = 0;
    for (size_t i = 0; i < COUNT(bindings); i++) {
        const char *help = bindings[i].help;
        const int keys = help ? (int)strcspn(help, "|") : 0;
        if (help && (line = add_line(state)))
            snprintf(line, PAGE_LINE, "%-*.*s%s", 13, keys, help, help + keys + 1);
    }
    for (size_t i = 0; i < COUNT(notes); i++)
        if ((line = add_line(state)))
            snprintf(line, PAGE_LINE, "%s", notes[i]);
    return 0;
}

static int take_table_key(struct screen_state *state, int key)
{
    *state->message = '\0';
    for (size_t i = 0; i < COUNT(bindings); i++)
        if (bindings[i].key == key)
            return bindings[i].press(state, key);
    return 0;
}

static int take_key(struct screen_state *state, int key)
{
    return state->page_count ? take_page_key(state, key)
           : state->typing   ? type_key(state, key)
                             : take_table_key(state, key);
}

/* --- Its life --------------------------------------------------------------------------------- */

/* What went wrong is said at the bottom, each thing once; all of it is printed at the end. */
static void note_problem(struct screen_state *state)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    if (*state->message && state->noted_at && now - state->noted_at > NOTED)
        *state->message = '\0';
    if (!*state->message)
        state->noted_at = 0;
    if (state->report.count == state->noted || *state->message || state->typing)
        return;
    say(state, state->report.partial, state->report.lines[state->noted++]);
    state->noted_at = now;
}

/* Waits for a key, the next look, or ends of sockets, which are read ten times a second at most. */
static bool wait(struct screen_state *state)
{
    enum { MOST = 255, PAUSE = 10 };
    int descriptors[MOST];
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    const uint64_t ready = state->ends_read + CLOCK_SECOND / PAUSE;
    const bool reads = !state->paused && now >= ready;
    const size_t count = reads ? live_descriptors(state->top->live, descriptors, MOST) : 0;
    uint64_t until = state->paused ? now + CLOCK_SECOND : state->next;

    if (!reads && !state->paused && ready < until)
        until = ready;
    return terminal_wait(until > now ? until - now : 0, descriptors, count);
}

static int go_on(struct screen_state *state)
{
    struct top *top = state->top;
    const uint64_t interval = top->interval_ms * (CLOCK_SECOND / 1000);
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    bool dirty = terminal_changed();
    int error = 0, key;

    if (dirty)
        screen_forget(state->sink);
    while (error >= 0 && !state->quits && (key = terminal_key()) != KEY_NONE) {
        error = take_key(state, key);
        if (error >= 0) /* the next key may mean a row that is shown now */
            error = draw(state);
    }
    if (error >= 0 && !state->paused && now >= state->next) {
        error = look(state, false);
        state->next = state->next + interval > now ? state->next + interval : now + interval;
        dirty = true;
    } else if (error >= 0 && !state->paused && now >= state->ends_read + CLOCK_SECOND / 10) {
        const int lost = live_read_ends(top->live, &state->report);
        error = lost < 0 ? lost : lost ? look(state, true) : 0;
        state->ends_read = now;
    }
    note_problem(state);
    return error < 0 ? error : dirty ? draw(state) : 0;
}

/*
 * Looks first without owners, which take longer than all else, unless a filter needs them, so that
 * a table is there at once.
 */
static int begin(struct screen_state *state)
{
    struct top *top = state->top;
    struct needs *needs = &top->command->listing.needs;
    const uint64_t owners = needs->lookups & NEED_ANY_OWNERS;
    int error;

    needs->lookups &= ~owners;
    error = top_begin(top, NULL, &state->report);
    if (error >= 0)
        error = draw(state);
    needs->lookups |= owners;
    if (error >= 0 && owners)
        error = top_look(top, true, &state->report);
    top_count_anew(top);
    if (error >= 0)
        header_read(state->header, top->live, 0);
    return error;
}

static int run(struct screen_state *state)
{
    struct top *top = state->top;
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    const uint64_t end = top->for_ms ? began + top->for_ms * (CLOCK_SECOND / 1000) : UINT64_MAX;
    int error = begin(state);

    state->next = began + top->interval_ms * (CLOCK_SECOND / 1000);
    note_problem(state);
    if (error >= 0)
        error = draw(state);
    while (error >= 0 && !state->quits && clock_nanoseconds(CLOCK_MONOTONIC) < end && wait(state))
        error = go_on(state);
    return error;
}

int top_screen(struct top *top, struct writer *writer)
{
    struct listing_command *command = top->command;
    const struct sink_options options = {
        .writer = writer,
        .context = command->context,
        .columns = command->shown,
        .count = command->shown_count,
        .colour = command_colour(&top->common),
        .drop = "lived send_q resent_percent bytes_received bytes_sent rtt | proto state owners",
        .shorten = "owners state",
        .whole = "local remote",
        .synonym = kind_socket.synonym,
        .titles = *titles,
    };
    struct screen_state *state = calloc(1, sizeof *state);
    int error = -ENOMEM;

    if (state) {
        state->top = top;
        state->where = command->listing.where;
        state->header = header_create(command->listing.all_netns);
        state->sink = sink_screen_create(&options, field_named(&kind_socket, "event"));
        state->sorted = SIZE_MAX;
        for (size_t i = 0; i < command->shown_count; i++)
            if (command->shown[i] == top->view.order.field)
                state->sorted = i;
    }
    if (state && state->sink && state->header)
        error = terminal_begin();
    if (!error) {
        writer->full = WRITER_CAPACITY; /* a frame is one write(2) */
        error = run(state);
        terminal_end();
    }
    if (state)
        report_print(&state->report, stderr, top->common.program);
    if (error < 0 && error != -EPIPE)
        fprintf(stderr, "%s: %s\n", top->common.program, strerror(-error));
    if (state) {
        where_finish(&state->typed_where);
        sink_destroy(state->sink);
        header_destroy(state->header);
        free(state->page);
    }
    free(state);
    return error < 0 && error != -EPIPE ? STATUS_FAILURE : STATUS_OK;
}
