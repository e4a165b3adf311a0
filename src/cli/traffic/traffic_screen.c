/* SPDX-License-Identifier: MIT */
/* The screen of flows. The flows of a sample stay until the next sample, so another order, filter
 * or grouping needs only another run of the listing, which each frame makes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/screen.h"
#include "cli/traffic/traffic.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"

#define USUAL_ORDER "bytes_per_second"

struct flows_screen {
    struct screen_state state; /* must be first */
    struct traffic_command *typed;
    struct engine *engine;
    struct writer *writer;
    struct live_view view;
    /* The sink of a listing. If fn is NULL, all rows go to the screen; else only row number
     * `wanted` goes to fn(). */
    struct sink sink;
    record_fn fn;
    void *arg;
    size_t wanted; /* SIZE_MAX: no row */
    bool finds;    /* the listing only sets `wanted` to the number of the chosen row */
};

static struct flows_screen *traffic_screen_of(const struct screen_state *state)
{
    return (struct flows_screen *)(uintptr_t)state;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* A hash of the key columns, by which the next frame finds a flow or group again. */
static uint64_t traffic_screen_id_of(const struct flows_screen *screen, const struct record *record)
{
    const struct screen_state *state = &screen->state;
    const bool grouped = record->kind == &kind_count;
    const size_t count = grouped ? state->command->shown_count : kind_traffic.field_count;
    uint64_t id = count;

    for (size_t i = 0; i < count; i++) {
        const struct field *field = grouped ? state->command->shown[i] : &kind_traffic.fields[i];
        char text[VALUE_PART];
        if (!field->key || field->lookups & NEED_NAMES)
            continue;
        const struct value value = field_value(field, record, state->command->context);
        const size_t length = value_write_part(text, &value, UNIT_NONE);
        id = hash_bytes(hash_word(id, length), text, length);
    }
    return id ? id : 1;
}

static void traffic_screen_take_row(struct sink *sink, const struct record *record)
{
    struct flows_screen *screen =
        (struct flows_screen *)(void *)((char *)sink - offsetof(struct flows_screen, sink));
    struct screen_state *state = &screen->state;
    const size_t number = state->listed++;
    const size_t at = number - state->view->first; /* huge for rows before `first` */

    if (screen->fn) {
        if (number == screen->wanted)
            screen->fn(record, screen->arg);
        return;
    }
    if (screen->finds && traffic_screen_id_of(screen, record) == state->chosen_row.id)
        screen->wanted = number;
    if (screen->finds || at >= state->view->count)
        return;
    if (screen_add_row(state, (struct screen_row){.id = traffic_screen_id_of(screen, record)}))
        state->sink->ops->row(state->sink, record);
}

static int traffic_screen_list(struct flows_screen *screen, const struct listing *listing)
{
    static const struct sink_ops ops = {.row = traffic_screen_take_row};
    struct report *report = &screen->state.report;

    screen->state.listed = 0;
    screen->sink = (struct sink){&ops, screen->writer, screen->state.command->context};
    const int error = engine_run(screen->engine, listing, &screen->sink, report);
    screen->state.quits |= report->ended;
    return error;
}

static int traffic_screen_show(struct screen_state *state)
{
    return traffic_screen_list(traffic_screen_of(state), &state->command->listing);
}

/* Passes on all fields, also of hidden columns, except names, which may take long to look up. */
static int traffic_screen_show_chosen(struct screen_state *state, record_fn fn, void *arg)
{
    struct flows_screen *screen = traffic_screen_of(state);
    struct listing listing = state->command->listing;
    int error;

    if (listing_counts(&listing))
        return 0;
    for (size_t i = 0; i < kind_traffic.field_count; i++) {
        const struct needs needs = field_needs(&kind_traffic.fields[i]);
        if (!(needs.fields & TRAFFIC_END) && !(needs.lookups & NEED_NAMES))
            needs_add(&listing.needs, needs);
    }
    /* with more fields the row has another id, but the same number until the next sample */
    screen->wanted = SIZE_MAX;
    screen->finds = true;
    error = traffic_screen_list(screen, &state->command->listing);
    screen->finds = false;
    if (!error && screen->wanted == SIZE_MAX)
        screen_note(state, true, "this flow has had no packets for 3 seconds");
    screen->fn = fn;
    screen->arg = arg;
    if (!error && screen->wanted != SIZE_MAX)
        error = traffic_screen_list(screen, &listing);
    screen->fn = NULL;
    return error;
}

/* --- Samples ---------------------------------------------------------------------------------- */

static int traffic_screen_sample(struct screen_state *state, bool all)
{
    (void)all;
    traffic_begin(traffic_screen_of(state)->typed->traffic);
    state->command->listing.time = clock_nanoseconds(CLOCK_REALTIME);
    return 0;
}

/* Sorts by view->order or, if flows are counted, by the chosen column itself. */
static int traffic_screen_choose(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    struct sort_key *sort = state->command->listing.sort;

    *sort = state->view->order;
    if (listing_counts(&command->listing))
        sort->field =
            state->sorted < command->shown_count ? command->shown[state->sorted] : &field_count;
    sort[1].field = NULL;
    return 0;
}

static int traffic_screen_begin(struct screen_state *state)
{
    return state->command->listing.sort->field ? 0 : traffic_screen_choose(state);
}

/* --- Lines above ------------------------------------------------------------------------------ */

enum { SUMS = 320 };

/* Writes the line with the sums of the flows. Returns whether frames were lost. */
static bool traffic_screen_write_sums(const struct screen_state *state, char text[SUMS])
{
    const struct traffic_seen *seen = traffic_seen(traffic_screen_of(state)->typed->traffic);
    const struct flow_totals *sums = &seen->sums;
    const struct packet_totals *totals = seen->totals;
    const double seconds = totals->elapsed ? (double)totals->elapsed / CLOCK_SECOND : 1;
    char packets[SCREEN_AMOUNT], bytes[SCREEN_AMOUNT], lost[64] = "", forgotten[64] = "";
    char undescribed[80] = "";

    if (totals->lost)
        snprintf(lost, sizeof lost, ", %" PRIu64 " frame%s lost", totals->lost,
                 totals->lost == 1 ? "" : "s");
    if (totals->undescribed)
        snprintf(undescribed, sizeof undescribed,
                 ", %" PRIu64 " frame%s in no row (the kernel cannot describe %s)",
                 totals->undescribed, totals->undescribed == 1 ? "" : "s",
                 totals->undescribed == 1 ? "it" : "them");
    if (totals->forgotten.flows)
        snprintf(forgotten, sizeof forgotten, ", %" PRIu64 " flow%s removed to make room",
                 totals->forgotten.flows, totals->forgotten.flows == 1 ? "" : "s");
    snprintf(packets, sizeof packets, "%.0f", (double)sums->packets / seconds);
    snprintf(text, SUMS, "%s%" PRIu64 " flow%s, %s packets/s, %s%s%s%s",
             traffic_count_prefix(state->command->listing.where), sums->flows,
             sums->flows == 1 ? "" : "s", totals->elapsed ? packets : "-",
             totals->elapsed ? screen_rate(state, bytes, (double)sums->bytes / seconds) : "-", lost,
             undescribed, forgotten);
    return *lost || *undescribed;
}

/* Writes line `i` about an interface. Returns false if the screen shows fewer interfaces. */
static bool traffic_screen_write_share(const struct screen_state *state, size_t i, char *escaped)
{
    const struct traffic_seen *seen = traffic_seen(traffic_screen_of(state)->typed->traffic);
    char text[SHARE_TEXT];

    if (i >= seen->share_count || i >= state->height / 6)
        return false;
    traffic_put_share(&seen->shares[i], state->command->listing.where, text);
    *escape_text(escaped, text, strlen(text), NULL) = '\0';
    return true;
}

enum { SHARE_ESCAPED = ESCAPE_FACTOR * SHARE_TEXT + 1 };

/* Returns how many lines a text may take: on a low terminal, one. */
static size_t traffic_screen_most(const struct screen_state *state)
{
    enum { LOW = 16, MOST = 3 };

    return state->height < LOW ? 1 : MOST;
}

static size_t traffic_screen_lines_of(const struct screen_state *state, const char *text)
{
    const size_t lines = screen_lines_of(state->sink, text), most = traffic_screen_most(state);

    return lines < most ? lines : most;
}

static size_t traffic_screen_count_lines(const struct screen_state *state)
{
    char text[SUMS], share[SHARE_ESCAPED];
    size_t count = 1;

    traffic_screen_write_sums(state, text);
    count += traffic_screen_lines_of(state, text);
    for (size_t i = 0; traffic_screen_write_share(state, i, share); i++)
        count += traffic_screen_lines_of(state, share);
    return count;
}

static void traffic_screen_put_lines(struct screen_state *state)
{
    const char *interface = traffic_screen_of(state)->typed->interface;
    const size_t most = traffic_screen_most(state);
    char name[TYPED_MAX + 8], text[SUMS], share[SHARE_ESCAPED];

    snprintf(name, sizeof name, "traffic %s", interface ? TYPED(interface) : "any");
    screen_put_first(state, name, "", "");
    const bool is_problem = traffic_screen_write_sums(state, text);
    screen_lines(state->sink, is_problem ? SCREEN_PROBLEM : SCREEN_PLAIN, text, most);
    for (size_t i = 0; traffic_screen_write_share(state, i, share); i++)
        screen_lines(state->sink, SCREEN_PLAIN, share, most);
}

/* --- Keys ------------------------------------------------------------------------------------- */

/* Switches between flows and counts of flows, whose listing has other columns. */
static int traffic_screen_sum_up(struct screen_state *state)
{
    struct listing_command *command = state->command;
    struct common *common = &traffic_screen_of(state)->typed->common;
    const char *name = state->view->order.field->name;
    const struct field *order = field_compared(command->kind, name, strlen(name));
    const struct field *by = common_counts(common) ? NULL : screen_group_column(state);

    if (!common_counts(common) && !by)
        return 0;
    if (!command->counting) /* command_run() frees it */
        command->counting = malloc(sizeof *command->counting);
    if (!command->counting)
        return -ENOMEM;
    common->count_by = by ? by->name : NULL;
    common->sum = !by ? NULL : "bytes,packets_per_second,bytes_per_second";
    common->avg = common->min = common->max = common->median = common->quantile = NULL;
    common->unknown = NULL;
    common->percent = command->listing.percent = false;
    command->listing.count_by_count = command->listing.sum_count = command->shown_count = 0;
    command->listing.aggregate_count = 0;
    command->listing.count_by[0] = NULL;
    if (columns_resolve(command) ||
        !screen_columns(state->sink, command->shown, command->shown_count))
        return -ENOMEM;
    state->view->order.field = order = order ? order : field_named(command->kind, USUAL_ORDER);
    state->view->group = command->listing.count_by[0];
    state->view->first = 0;
    screen_renew(state);
    state->sorted = SIZE_MAX;
    for (size_t i = 0; i < command->shown_count; i++)
        if (field_compared(command->kind, command->shown[i]->name,
                           strlen(command->shown[i]->name)) == order ||
            strcmp(command->shown[i]->name, order->name) == 0)
            state->sorted = i;
    return traffic_screen_choose(state);
}

static void traffic_put_aggregates(const struct common *common, FILE *stream)
{
    const struct {
        const char *option, *words;
    } options[] = {{" --avg=", common->avg},           {" --min=", common->min},
                   {" --max=", common->max},           {" --median=", common->median},
                   {" --quantile=", common->quantile}, {" --unknown=", common->unknown}};

    for (size_t i = 0; i < COUNT(options); i++)
        if (options[i].words)
            text_put_word(stream, options[i].option, options[i].words);
}

/* Shows the command that lists the flows of one interval in the order of the screen. */
static int traffic_screen_show_command(struct screen_state *state)
{
    const struct traffic_command *typed = traffic_screen_of(state)->typed;
    const struct common *common = &typed->common;
    const struct sort_key *order = state->command->listing.sort;
    FILE *stream = fmemopen(state->message, sizeof state->message - 1, "w");

    if (!stream)
        return 0;
    state->is_problem = false;
    fputs("fastnet traffic", stream);
    if (typed->interface)
        text_put_word(stream, " ", typed->interface);
    common_put_filters(stream, common);
    if (state->condition)
        text_put_word(stream, " --where=", state->condition);
    fprintf(stream, " --for %g", *state->interval_ms / 1000.0);
    if (common->count_by)
        text_put_word(stream, " --count-by=", common->count_by);
    if (common->sum)
        text_put_word(stream, " --sum=", common->sum);
    traffic_put_aggregates(common, stream);
    if (order->field)
        fprintf(stream, " --sort=%s%s", order->descending ? "-" : "", order->field->name);
    if (common->columns && !common_counts(common))
        text_put_word(stream, " --columns=", common->columns);
    if (state->command->listing.most)
        fprintf(stream, " --limit=%" PRIu64, state->command->listing.most);
    fclose(stream);
    screen_keep_message(state);
    return 0;
}

static const struct key_binding more_keys[] = {
    {'y', traffic_screen_show_command, "y|show the command that lists the same once"},
    {0, NULL, NULL},
};
static const struct key_binding keys[] = {
    {'g', traffic_screen_sum_up,
     "g|one row with sums for each value of the sorted column; again: the flows"},
    {0, NULL, NULL},
};

/* --- The table -------------------------------------------------------------------------------- */

static const struct screen_ops screen_ops = {
    .bottom = "? help  / search  s sort  r reverse  g group  b bits  space pause  q quit",
    .keys = {keys_of_order, keys, keys_of_rates, keys_of_position, more_keys, keys_of_end},
    .notes = "- marks a flow or a group without new packets, for 3 seconds.\n"
             "Packets are still counted during a pause.\n"
             "The payload is not read.\n"
             "To select text with the mouse, hold Shift.\n",
    .begin = traffic_screen_begin,
    .sample = traffic_screen_sample,
    .choose = traffic_screen_choose,
    .filter = traffic_screen_choose,
    .count_lines = traffic_screen_count_lines,
    .put_lines = traffic_screen_put_lines,
    .show = traffic_screen_show,
    .show_chosen = traffic_screen_show_chosen,
};

/* The event that marks a flow without packets, or a group of such flows, as ended. */
static struct value value_of_event(const struct cell *cell)
{
    const struct record *record = cell->record;
    const bool ended = record->kind == &kind_traffic
                           ? !record->traffic.frames
                           : record->kind == &kind_count && !record->count.count;

    return (struct value){.type = VALUE_TEXT, .text = as_text(ended ? "closed" : "")};
}
static const struct field event = {.name = "event", .type = VALUE_TEXT, .value = value_of_event};

/* Runs the screen, unless the first sample fails because a right is missing. */
int traffic_screen_run(struct listing_command *command, struct engine *engine, struct sink *sink)
{
    struct traffic_command *typed =
        (void *)((char *)command - offsetof(struct traffic_command, listing));
    const struct sort_key usual = {field_named(&kind_traffic, USUAL_ORDER), true};
    const struct sort_key *sort = command->listing.sort;
    struct sink_options options = {
        .writer = sink->writer,
        .drop = "frames bytes packets tcp_flags protocol",
        .whole = command->whole,
        .titles = "count=PACKETS packets_per_second=PACKETS/s bytes_per_second=BYTES/s "
                  "tcp_flags=FLAGS",
    };
    struct flows_screen screen = {
        .state = {.ops = &screen_ops,
                  .command = command,
                  .view = &screen.view,
                  .interval_ms = &typed->tick_ms},
        .typed = typed,
        .engine = engine,
        .writer = sink->writer,
        .view = {.group = *command->listing.count_by, .order = sort->field ? *sort : usual},
    };
    struct report *report = &screen.state.report;
    int status = STATUS_FAILURE, error;

    traffic_begin(typed->traffic);
    error = traffic_screen_list(&screen, &command->listing);
    if (error < 0 && !screen.state.quits)
        report_loss(report, "%s", strerror(-error));
    if (!error && !screen.state.quits) {
        status = screen_run(&screen.state, &options, &event);
        traffic_report(&traffic_seen(typed->traffic)->all, report);
    }
    report_print(report, stderr, command->common->program);
    return report->partial ? STATUS_FAILURE : status;
}
