/* SPDX-License-Identifier: MIT */
/* The screen of sockets: the lines above the table, and the keys of this screen alone. */
#include "cli/terminal/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/terminal.h"
#include "cli/top/details.h"
#include "cli/top/header.h"
#include "cli/top/top.h"
#include "fastnet/array.h"

#define TITLES                                                                                     \
    "bytes_sent=SENT bytes_received=RECEIVED resent_percent=RETRANS% send_q=SENDQ lived=AGE "      \
    "whose=OWNERS "

/* Headings of columns: first with rates, then with totals. */
static const char *const titles[] = {
    TITLES "bytes_sent_per_second=TX/s bytes_received_per_second=RX/s",
    TITLES "bytes_sent_per_second=TX bytes_received_per_second=RX",
};

#define BOTH_WAYS "bytes_per_second" /* column of kind.both_ways */

/* The columns that are left out on a terminal without room for them, first column first. A terminal
 * with PID_WIDTH columns has room for processes' numbers. */
#define DROP        "unit lived send_q resent_percent bytes_received bytes_sent rtt "
#define IMPORTANT   "| proto state whose"
#define WIDE_DROP   DROP "pid " IMPORTANT
#define NARROW_DROP "pid " DROP IMPORTANT
enum { PID_WIDTH = 100 };

/* Columns that `t` groups rows by. */
static const char *const trees[] = {NULL, "process", "unit", "container", "netns"};

struct sockets_screen {
    struct screen_state state; /* must be first */
    struct top *top;
    struct machine_rates *rates;
    struct live_summary summary;
    size_t lines[2]; /* lines of each text above the interfaces */
    size_t tree;     /* index in `trees` */
    struct details details;
    /* The group that Enter opened (view.only): its row, its name as a title, and whether the view
     * was folded. */
    struct screen_row opened;
    char opened_name[ESCAPE_FACTOR * LIVE_NAME + 1];
    bool was_folded;
};

static struct sockets_screen *top_screen_of(const struct screen_state *state)
{
    return (struct sockets_screen *)(uintptr_t)state;
}

/* --- Frames ----------------------------------------------------------------------------------- */

static void top_screen_take_row(void *arg, const struct record *record)
{
    struct sockets_screen *screen = arg;
    struct screen_state *state = &screen->state;

    const bool ended = record->has & SOCKET_EVENT && record->socket.event == LIVE_CLOSED;
    const struct screen_row row = {record->identity, record->netns_index, false, ended};

    if (screen_add_row(state, row))
        state->sink->ops->row(state->sink, record);
}

struct sums {
    const struct screen_state *state;
    const struct live_group *group;
    bool rated; /* the group's rates are known, or are totals */
};

/* The sum of a counter or rate over the rows of a group; NULL for other columns. */
static const char *text_of_sum(const struct field *column, char room[32], void *arg)
{
    const struct sums *sums = arg;
    const struct listing *listing = &sums->state->command->listing;
    const double *rates = sums->group->rates;

    if (column->rate && column->pair)
        return sums->rated ? screen_rate_cell(sums->state, room, rates[0] + rates[1]) : "-";
    for (size_t i = 0; i < listing->rate_count; i++) {
        const bool rate = column->rate && strcmp(column->of->name, listing->rates[i]->name) == 0;
        if (rate && !sums->rated)
            return "-";
        if (rate && column->unit == UNIT_BYTES_PER_SECOND)
            return screen_rate_cell(sums->state, room, rates[i]);
        if (rate || strcmp(column->name, listing->rates[i]->name) == 0)
            return screen_amount(room, rate ? rates[i] : sums->group->totals[i]);
    }
    return NULL;
}

static void top_screen_take_group(void *arg, const struct live_group *group)
{
    struct sockets_screen *screen = arg;
    struct screen_state *state = &screen->state;
    struct sums sums = {state, group, group->rated || state->view->totals};
    char rows[32];

    if (!screen_add_row(state, (struct screen_row){group->id, 0, true, false}))
        return;
    snprintf(rows, sizeof rows, " (%zu)", group->rows);
    screen_title(state->sink, group->name.length ? group->name : as_text("-"), rows, text_of_sum,
                 &sums);
}

static void write_states(const struct screen_state *state, char text[HEADER_TEXT])
{
    const struct live_summary *summary = &top_screen_of(state)->summary;

    snprintf(text, HEADER_TEXT, "%zu socket%s", summary->rows, summary->rows == 1 ? "" : "s");
    for (size_t i = 0; i < LIVE_STATES; i++) {
        const char *name = summary->states[i] ? socket_state_name(i) : NULL;
        if (name)
            message_append(text, HEADER_TEXT, ", %zu %s", summary->states[i],
                           synonym_of(kind_socket.synonym, as_text(name)).data);
    }
}

/* Lines above the interfaces: the first line, and the texts of states and rates. */
enum { TEXTS = 2, SHORT = 12 /* a screen with fewer lines shows one line of each text */ };

static void write_text(const struct screen_state *state, size_t i, char text[HEADER_TEXT])
{
    const struct sockets_screen *screen = top_screen_of(state);

    if (i == 0)
        write_states(state, text);
    else
        header_put_rates(state, screen->rates, &screen->summary, text);
}

static size_t top_screen_interfaces(const struct screen_state *state)
{
    const size_t count = machine_rates_interfaces(top_screen_of(state)->rates);

    return count < state->height / 6 ? count : state->height / 6;
}

/* Counts the lines that top_screen_put_lines() may draw. Later numbers can make a text longer; then
 * it is cut to the counted lines. */
static size_t top_screen_count_lines(const struct screen_state *state)
{
    struct sockets_screen *screen = top_screen_of(state);
    size_t count = 1 + top_screen_interfaces(state);
    char text[HEADER_TEXT];

    for (size_t i = 0; i < TEXTS; i++) {
        write_text(state, i, text);
        screen->lines[i] = state->height < SHORT ? 1 : screen_lines_of(state->sink, text);
        count += screen->lines[i];
    }
    return count;
}

static void top_screen_put_lines(struct screen_state *state)
{
    const struct sockets_screen *screen = top_screen_of(state);
    const struct top *top = screen->top;
    char how_often[64] = "", text[HEADER_TEXT], note[sizeof screen->opened_name + COUNTS_TEXT + 32];

    snprintf(note, sizeof note, "%s%s%s%s", state->view->only ? "only " : "",
             state->view->only ? screen->opened_name : "",
             state->view->only && *top->counted ? "   " : "", top->counted);
    if (top->budget.every > 1)
        snprintf(how_often, sizeof how_often, " (all sockets: every %.1f s)",
                 top->budget.every * (top->interval_ms / 1000.0));
    screen_put_first(state, "top", how_often, note);
    for (size_t i = 0; i < TEXTS; i++) {
        write_text(state, i, text);
        screen_lines(state->sink, SCREEN_PLAIN, text, screen->lines[i]);
    }
    for (size_t i = 0; i < top_screen_interfaces(state); i++) {
        header_put_interface(state, screen->rates, i, text);
        screen_line(state->sink, SCREEN_PLAIN, text);
    }
}

static int top_screen_show(struct screen_state *state)
{
    struct sockets_screen *screen = top_screen_of(state);
    const struct live_taker taker = {top_screen_take_group, top_screen_take_row, screen};
    int error;

    screen_drop(state->sink, state->width < PID_WIDTH ? NARROW_DROP : WIDE_DROP);
    error = live_show(screen->top->live, state->view, &taker, &screen->summary, &state->report);

    state->listed = screen->summary.listed;
    return error;
}

/* --- Samples ---------------------------------------------------------------------------------- */

static int top_screen_sample(struct screen_state *state, bool all)
{
    struct top *top = top_screen_of(state)->top;
    int error;

    live_set_view(top->live, &top->view);
    error = top_sample(top, all, &state->report);
    if (error >= 0)
        machine_rates_read(top_screen_of(state)->rates, top->live, top->view.interval / 2);
    return error;
}

/* Ranks are made by a sample, so another order needs a sample. */
static int top_screen_choose(struct screen_state *state)
{
    return top_screen_sample(state, true);
}

/* If the new filter compares other rates, or asks for other sockets, starts with an empty live
 * store, because the old store did not remember these. */
static int filter(struct screen_state *state)
{
    struct top *top = top_screen_of(state)->top;
    const struct listing *listing = &top->command->listing;
    const size_t rate_count = listing->rate_count;
    const bool inactive = top->inactive;
    const struct field *rates[LIVE_SUMS];

    memcpy(rates, top->rates, sizeof rates);
    machine_rates_forget_sockets(top_screen_of(state)->rates);
    top_choose(top);
    if (listing->rate_count == rate_count && top->inactive == inactive &&
        memcmp(rates, top->rates, rate_count * sizeof *rates) == 0)
        return top_screen_sample(state, true);
    live_destroy(top->live);
    top->live = NULL;
    return top_begin(top, NULL, &state->report);
}

static size_t descriptors(const struct screen_state *state, int *fds, size_t most)
{
    return live_descriptors(top_screen_of(state)->top->live, fds, most);
}

static int read_ends(struct screen_state *state)
{
    return live_read_ends(top_screen_of(state)->top->live, &state->report);
}

/* To show a table at once, takes the first sample without owners, whose search takes longest,
 * unless a filter needs them. */
static int top_screen_begin(struct screen_state *state)
{
    struct top *top = top_screen_of(state)->top;
    struct needs *needs = &top->command->listing.needs;
    const uint64_t owners = needs->lookups & NEED_ANY_OWNERS;
    int error;

    needs->lookups &= ~owners;
    error = top_begin(top, NULL, &state->report);
    if (error >= 0)
        error = screen_draw(state);
    needs->lookups |= owners;
    if (error >= 0 && owners)
        error = top_sample(top, true, &state->report);
    top_start_budget(top);
    if (error >= 0)
        machine_rates_read(top_screen_of(state)->rates, top->live, 0);
    return error;
}

/* --- Keys ------------------------------------------------------------------------------------- */

static int group_by(struct screen_state *state, const struct field *field, bool folded)
{
    struct top *top = top_screen_of(state)->top;

    top->view.group = field;
    top->view.folded = folded;
    top->view.only = 0;
    if (field)
        needs_add(&top->command->listing.needs, field_needs(field));
    return screen_choose(state);
}

static int next_tree(struct screen_state *state)
{
    const char *name;

    top_screen_of(state)->tree = (top_screen_of(state)->tree + 1) % COUNT(trees);
    name = trees[top_screen_of(state)->tree];
    return group_by(state, name ? field_named(state->command->kind, name) : NULL, false);
}

/* The column that `g` groups by: the sort column if it has text, or else the processes. */
static const struct field *column_to_group_by(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    const struct field *by = state->view->order.field;

    for (size_t i = 0; !screen_can_group(by) && i < command->shown_count; i++)
        if (command->shown[i]->lookups & NEED_OWNERS && command->shown[i]->type != VALUE_NUMBER)
            by = field_compared(command->kind, command->shown[i]->name,
                                strlen(command->shown[i]->name));
    return screen_can_group(by) ? by : field_named(command->kind, "process");
}

static int top_screen_sum_up(struct screen_state *state)
{
    const struct live_view *view = state->view;

    top_screen_of(state)->tree = 0;
    return (view->folded || view->only) && view->group
               ? group_by(state, NULL, false)
               : group_by(state, column_to_group_by(state), true);
}

static int fill_details(struct screen_state *state)
{
    return details_fill(&top_screen_of(state)->details, state, top_screen_of(state)->top->live);
}

static int open_details(struct screen_state *state)
{
    struct details *details = &top_screen_of(state)->details;

    *details = (struct details){.row = state->chosen_row};
    if (screen_page_open(state, fill_details, 0, NULL) < 0 || !state->page_count) {
        screen_page_close(state);
        screen_note(state, true, "this socket no longer exists");
    }
    return 0;
}

/* Shows everything about the chosen socket, or only the sockets of the chosen group. In a pause,
 * all rows of the frame are of one new sample. */
static int open_chosen(struct screen_state *state)
{
    struct sockets_screen *screen = top_screen_of(state);
    struct live_view *view = state->view;
    struct text name;

    if (state->chosen >= state->shown_count)
        return 0;
    if (!state->chosen_row.group)
        return open_details(state);
    if (!live_group_name(screen->top->live, state->chosen_row.id, &name))
        return 0;
    *escape_text(screen->opened_name, name.length ? name.data : "-", name.length ? name.length : 1,
                 NULL) = '\0';
    screen->opened = state->chosen_row;
    screen->was_folded = view->folded;
    view->only = screen->opened.id;
    view->folded = false;
    view->first = state->chosen = 0;
    state->chosen_row = (struct screen_row){.id = 0};
    state->follows = false;
    screen_renew(state);
    return state->paused ? screen_choose(state) : 0;
}

/* Shows all groups again, and highlights the group that was open. */
static int close_group(struct screen_state *state)
{
    struct sockets_screen *screen = top_screen_of(state);

    if (!state->view->only)
        return 0;
    state->view->only = 0;
    state->view->folded = screen->was_folded;
    state->view->first = 0;
    state->chosen_row = screen->opened;
    state->follows = true;
    screen_renew(state);
    return state->paused ? screen_choose(state) : 0;
}

static int show_idle(struct screen_state *state)
{
    state->view->idle = !state->view->idle;
    return screen_choose(state);
}

static int show_totals(struct screen_state *state)
{
    struct live_view *view = state->view;

    view->totals = !view->totals;
    screen_titles(state->sink, titles[view->totals]);
    return screen_choose(state);
}

/* Writes the sort column. Grouped rows are sorted by the names of their groups first. */
static void put_order(FILE *stream, const struct live_view *view)
{
    fprintf(stream, " --sort=%s%s%s%s", view->group ? view->group->name : "",
            view->group ? "," : "", view->order.descending ? "-" : "",
            view->order.field ? view->order.field->name : BOTH_WAYS);
}

/* Adds a filter for the group that is open. */
static void put_opened(FILE *stream, const struct screen_state *state)
{
    const char *name = top_screen_of(state)->opened_name;
    const char quote = strchr(name, '"') ? '\'' : '"';
    char condition[sizeof top_screen_of(state)->opened_name + LINE_MAX_BYTES];

    if (strcmp(name, "-") == 0)
        snprintf(condition, sizeof condition, "%s = null", state->view->group->name);
    else
        snprintf(condition, sizeof condition, "%s = %c%s%c", state->view->group->name, quote, name,
                 quote);
    text_put_word(stream, " --where=", condition);
}

/* Adds options for groups: sorts by the sum of the sort column or, if it has none, by row count. */
static void top_screen_put_sums(FILE *stream, const struct live_view *view)
{
    const struct field *order = view->order.field;
    const char *by = !order ? BOTH_WAYS : order->rate ? order->name : NULL;
    const bool is_new = by && strcmp(by, "bytes_sent_per_second") != 0 &&
                        strcmp(by, "bytes_received_per_second") != 0;

    fprintf(stream, " --count-by=%s --sum=bytes_sent_per_second,bytes_received_per_second%s%s",
            view->group->name, is_new ? "," : "", is_new ? by : "");
    fprintf(stream, " --sort=-%s", by ? by : "count");
}

/* Whether the view needs events or ages of rows. Only the stream has them, not a listing. */
static bool needs_stream(const struct listing_command *command, const struct live_view *view)
{
    uint64_t fields = predicate_needs(command->listing.where).fields;

    fields |= view->order.field ? view->order.field->fields : 0;
    fields |= view->group ? view->group->fields : 0;
    for (size_t i = 0; i < command->shown_count; i++)
        fields |= command->shown[i]->fields & SOCKET_EVENT;
    return fields & (SOCKET_EVENT | SOCKET_AGE | SOCKET_ORIGIN);
}

/* Writes --columns as it was typed, without the columns that only the stream has. */
static void top_screen_put_columns(FILE *stream, const struct top *top, bool is_stream)
{
    const char *words = top->common.columns;
    char columns[4096] = "";

    for (struct text word; text_next(&words, ',', &word);) {
        const bool is_signed = *word.data == '+' || *word.data == '-';
        const struct field *field =
            field_find(&kind_socket, word.data + is_signed, word.length - is_signed);
        if (is_stream || !field || !(field->fields & (SOCKET_EVENT | SOCKET_AGE | SOCKET_ORIGIN)))
            text_list(columns, sizeof columns, ",", word);
    }
    if (*columns)
        text_put_word(stream, " --columns=", columns);
}

/* How the command's output differs from the screen, as a comment of the shell after the command. */
static const char *difference(const struct live_view *view, bool is_stream, bool rates)
{
    if (is_stream)
        return " # events, as they happen";
    if (view->totals)
        return " # shows rates: only top can show totals";
    return rates || view->idle ? "" : " # with idle sockets";
}

/* Shows the command. With -c in it, rates begin with the second listing. */
static int show_command(struct screen_state *state)
{
    const struct top *top = top_screen_of(state)->top;
    const bool is_stream = needs_stream(top->command, &top->view);
    const struct field *order = top->view.group && top->view.folded ? NULL : top->view.order.field;
    const bool rates = !order || !order->counter; /* --delta has no totals to sort by */
    FILE *stream = fmemopen(state->message, sizeof state->message - 1, "w");

    if (!stream)
        return 0;
    state->is_problem = false;
    fprintf(stream, "fastnet %s", is_stream ? "top" : "s");
    common_put_letters(stream, top->common.grammar->tables[0], 0, &top->common);
    common_put_filters(stream, &top->common);
    if (state->condition)
        text_put_word(stream, " --where=", state->condition);
    if (top->view.only)
        put_opened(stream, state);
    fprintf(stream, " -c %g%s%s%s", top->interval_ms / 1000.0,
            is_stream ? " --ndjson"
            : rates   ? " --delta"
                      : "",
            top->no_bytes ? " --no-bytes" : "",
            top->view.idle || is_stream || !rates ? "" : " --nonzero");
    if (is_stream) {
        top_screen_put_columns(stream, top, true);
    } else if (top->view.folded && top->view.group) {
        top_screen_put_sums(stream, &top->view);
    } else {
        put_order(stream, &top->view);
        top_screen_put_columns(stream, top, false);
    }
    if (top->command->listing.most)
        fprintf(stream, " --limit=%" PRIu64, top->command->listing.most);
    fputs(difference(&top->view, is_stream, rates), stream);
    fclose(stream);
    screen_keep_message(state);
    return 0;
}

static const struct key_binding keys[] = {
    {'t', next_tree, "t|tree: rows by process, unit, container, network namespace; no tree"},
    {'g', top_screen_sum_up,
     "g|one row with sums for each value of the sorted column, or for each process"},
    {KEY_ENTER, open_chosen, "Enter|open a group: only its sockets; Esc goes back"},
    {KEY_ESCAPE, close_group, NULL},
    {'a', show_idle, "a|also sockets without traffic"},
    {'T', show_totals, "T|totals since top was started, instead of rates"},
    {0, NULL, NULL},
};
static const struct key_binding more_keys[] = {
    {'y', show_command, "y|show the command that lists the same"},
    {0, NULL, NULL},
};

static const struct screen_ops ops = {
    .bottom = "? help  / search  s sort  t tree  g group  a idle  b bits  space pause  q quit",
    .keys = {keys_of_order, keys, keys_of_rates, keys_of_position, more_keys, keys_of_end},
    .notes = "+ marks a new socket, - an ended socket with its totals, both for 3 seconds.\n"
             "A rate is the mean of the last 3 seconds.\n"
             "The share of an interface's bytes is \"about\": its bytes include headers, and "
             "ended sockets are missing.\n"
             "Bytes of UDP, raw and unix sockets are counted since top was started.\n"
             "To select text with the mouse, hold Shift.\n",
    .begin = top_screen_begin,
    .sample = top_screen_sample,
    .choose = top_screen_choose,
    .filter = filter,
    .count_lines = top_screen_count_lines,
    .put_lines = top_screen_put_lines,
    .show = top_screen_show,
    .descriptors = descriptors,
    .read_events = read_ends,
};

int top_screen(struct top *top, struct writer *writer)
{
    struct sink_options options = {
        .writer = writer,
        .drop = WIDE_DROP,
        .shorten = "unit whose state",
        .whole = "local remote",
        .synonym = kind_socket.synonym,
        .titles = *titles,
    };
    struct sockets_screen *screen = calloc(1, sizeof *screen);
    int status = STATUS_FAILURE;

    if (screen)
        screen->rates = machine_rates_create(top->command->listing.all_netns);
    if (screen && screen->rates) {
        screen->top = top;
        screen->state = (struct screen_state){.ops = &ops,
                                              .command = top->command,
                                              .view = &top->view,
                                              .usual = field_named(top->command->kind, BOTH_WAYS),
                                              .interval_ms = &top->interval_ms,
                                              .for_ms = top->for_ms};
        status = screen_run(&screen->state, &options, field_named(&kind_socket, "event"));
        machine_rates_destroy(screen->rates);
    } else {
        fprintf(stderr, "%s: %s\n", top->common.program, strerror(ENOMEM));
    }
    free(screen);
    return status;
}
