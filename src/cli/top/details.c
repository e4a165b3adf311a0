/* SPDX-License-Identifier: MIT */
#include "cli/top/details.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/command_line.h"

enum { DETAILS_NAME = 24, NOT_FOUND = SIZE_MAX / 2 };

/* The sections of the page, with their fields. All other fields are below "other". */
static const struct section {
    const char *title, *fields;
} sections[] = {
    {"queues",
     "attention recv_q send_q backlog backlog_percent pending notsent_bytes unacked drops mem_rmem "
     "mem_rcvbuf mem_wmem mem_sndbuf mem_queued mem_forward mem_optmem mem_backlog"},
    {"time", "rtt rttvar min_rtt rcv_rtt rto backoff timer expires retransmits probes ato idle "
             "last_data_sent last_data_recv last_ack_recv age age_at_least busy_time rwnd_limited "
             "sndbuf_limited"},
    {"loss",
     "resent_percent total_retrans bytes_retrans retrans lost sacked fackets dsack_dups reordering "
     "reord_seen rcv_ooopack total_rto total_rto_recoveries total_rto_time ca_state rehash "
     "delivered_ce received_ce"},
    {"bytes and packets",
     "bytes_sent bytes_received bytes_acked segs_out segs_in data_segs_out data_segs_in delivered"},
    {"window and rate",
     "snd_cwnd snd_ssthresh snd_wnd rcv_wnd rcv_space rcv_ssthresh snd_mss rcv_mss advmss pmtu "
     "snd_wscale rcv_wscale pacing_rate max_pacing_rate delivery_rate send_rate app_limited "
     "congestion tcp_options ecn_mode bbr_bw bbr_min_rtt bbr_pacing_gain bbr_cwnd_gain"},
    {"addresses and owner",
     "protocol state family type local_address local_port remote_address remote_port path "
     "interface netns user uid pid process processes owner_by unit container pod cgroup "
     "peer_pid peer_process peer_processes peer_path inode cookie"},
};

struct filled_page {
    struct details *details;
    struct screen_state *state;
    const struct record *record;
    bool filled;
};

static size_t details_index_of(const struct kind *kind, struct text name)
{
    for (size_t i = 0; i < kind->field_count; i++)
        if (text_is(name, kind->fields[i].name))
            return i;
    return NOT_FOUND;
}

/* The growth per second of a counter: in the last sample if top samples the counter, or else since
 * the page was filled. Returns the end of the text, which is empty if the rate is unknown. */
static char *details_put_rate(char *dst, const struct filled_page *page, size_t i)
{
    enum { TEN = 10 * 1000 }; /* a rate below 10 has decimals */
    const struct listing_command *command = page->state->command;
    const struct record *record = page->record;
    const struct field *field = &record->kind->fields[i];
    struct details *details = page->details;
    struct value rate = {.type = VALUE_UNKNOWN};
    char name[RATE_NAME_MAX];

    for (size_t j = 0; j < command->listing.rate_count; j++)
        if (strcmp(command->listing.rates[j]->name, field->name) == 0) {
            snprintf(name, sizeof name, "%s" RATE_SUFFIX, field->name);
            rate = field_value(field_named(command->kind, name), record, command->context);
        }
    const uint64_t before = details->numbers[i], now = field_number(field, record);
    details->numbers[i] = now;
    if (rate.type == VALUE_UNKNOWN && details->elapsed && now >= before &&
        field->type == VALUE_NUMBER)
        rate = (struct value){.type = VALUE_DECIMAL,
                              .number = (uint64_t)((double)(now - before) * 1000 * CLOCK_SECOND /
                                                   (double)details->elapsed)};
    if (rate.type == VALUE_UNKNOWN || !now)
        return dst;
    if (rate.number >= TEN)
        rate = (struct value){.type = VALUE_NUMBER, .number = rate.number / 1000};
    memcpy(dst, "  ", 2);
    dst = value_write_human(dst + 2, &rate, field->unit == UNIT_BYTES ? UNIT_BYTES : UNIT_NONE);
    memcpy(dst, "/s", 2);
    return dst + 2;
}

static void put_command_line(const struct filled_page *page, uint64_t pid)
{
    const char *processes = page->state->command->listing.processes;
    char words[1024];

    page_add(page->state, DETAILS_NAME, "command line",
             as_text(process_command_line(processes ? processes : "/proc", (pid_t)pid, words,
                                          sizeof words)));
}

/* Adds the line of field number i, if its value is known. title: added before, unless NULL. */
static bool put_field(const struct filled_page *page, size_t i, const char *title)
{
    enum { RATE_ROOM = 64 };
    const struct field *field = &page->record->kind->fields[i];
    const struct value value = field_value(field, page->record, page->state->command->context);
    char *text = value.type == VALUE_UNKNOWN ? NULL : malloc(value_bound(&value) + RATE_ROOM);
    char *end;

    if (!text)
        return false;
    end = value_write_human(text, &value, field_shown_unit(field));
    if (value.type == VALUE_FLAGS && end - text == 1 && *text == '-') { /* no flag */
        free(text);
        return false;
    }
    if (field_grows(field, page->record))
        end = details_put_rate(end, page, i);
    if (title) {
        page_add(page->state, 0, "", as_text(" "));
        page_add(page->state, 0, title, as_text(" "));
    }
    page_add(page->state, DETAILS_NAME, field->name, (struct text){text, (size_t)(end - text)});
    free(text);
    if (strcmp(field->name, "pid") == 0)
        put_command_line(page, value.number);
    return true;
}

static bool is_in_section(const char *name)
{
    for (size_t i = 0; i < COUNT(sections); i++)
        if (text_among(sections[i].fields, name))
            return true;
    return false;
}

static void put_sections(const struct filled_page *page)
{
    const struct kind *kind = page->record->kind;
    bool begun = false;

    for (size_t i = 0; i < COUNT(sections); i++) {
        const char *names = sections[i].fields;
        begun = false;
        for (struct text name; text_next(&names, ' ', &name);) {
            const size_t at = details_index_of(kind, name);
            if (at != NOT_FOUND)
                begun |= put_field(page, at, begun ? NULL : sections[i].title);
        }
    }
    begun = false;
    for (size_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].type != VALUE_VIEW && !is_in_section(kind->fields[i].name))
            begun |= put_field(page, i, begun ? NULL : "other");
}

/* Adds a line that names the socket: owners, protocol, addresses and state. */
static void put_title(const struct filled_page *page)
{
    static const char *const names[] = {"whose", "proto", "local", "remote", "state"};
    char line[PAGE_LINE] = "", text[VALUE_PART];

    for (size_t i = 0; i < COUNT(names); i++) {
        const struct field *field = field_named(page->record->kind, names[i]);
        const struct value value = field_value(field, page->record, page->state->command->context);
        const int length = (int)value_write_part(text, &value, UNIT_NONE);
        message_append(line, sizeof line, "%s%.*s", i ? "  " : "", length, text);
    }
    page_add(page->state, 0, line, as_text(" "));
}

static void details_put_heading(struct details *details, struct screen_state *state)
{
    const char *when = details->ended  ? "this socket has ended"
                       : state->paused ? "PAUSED: values of the moment when Enter was typed"
                                       : "refreshed with each sample; rates of the last sample";

    snprintf(state->page[0], PAGE_LINE, "%s", when);
}

static int details_take(const struct record *record, void *arg)
{
    struct filled_page *page = arg;
    struct details *details = page->details;
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    details->ended = record->has & SOCKET_EVENT && record->socket.event == LIVE_CLOSED;
    if (details->ended && details->at)
        return 0; /* the last values of the open socket stay, because an ended socket has fewer */
    details->elapsed = details->at ? now - details->at : 0;
    details->at = now;
    page->filled = true;
    page->record = record;
    page->state->page_count = 0;
    page_add(page->state, 0, "", as_text(" "));
    put_title(page);
    put_sections(page);
    return 0;
}

int details_fill(struct details *details, struct screen_state *state, struct live *live)
{
    struct filled_page page = {.details = details, .state = state};
    int error = 0;

    if (!details->ended)
        error = live_show_one(live, details->row.id, (size_t)details->row.netns_index,
                              UINT64_MAX & ~SOCKET_STORAGES, details_take, &page, &state->report);
    if (!page.filled && !details->at)
        return error ? error : -ENOENT;
    details->ended |= !page.filled;
    if (state->page_count)
        details_put_heading(details, state);
    if (state->page_first >= state->page_count)
        state->page_first = state->page_count ? state->page_count - 1 : 0;
    return error == -ENOENT ? 0 : error;
}
