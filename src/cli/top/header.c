/* SPDX-License-Identifier: MIT */
#include "cli/top/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common.h"
#include "cli/terminal/screen.h"
#include "fastnet/text.h"

enum { NETNS_TEXT = 120, NAME_TEXT = ESCAPE_FACTOR * INTERFACE_TEXT_MAX + NETNS_TEXT + 16 };

/* Writes "2/s", "0.3/s" or "-". */
static const char *header_count(char room[SCREEN_AMOUNT], bool known, double rate)
{
    if (!known)
        return "-";
    snprintf(room, SCREEN_AMOUNT, rate > 0 && rate < 9.95 ? "%.1f/s" : "%.0f/s", rate);
    return room;
}

/* After the first sample there are no rates, because there is no earlier sample. */
void header_put_rates(const struct screen_state *state, const struct machine_rates *rates,
                      const struct live_summary *summary, char text[HEADER_TEXT])
{
    const bool known = machine_rates_known(rates);
    const bool rated = known && (summary->rated || !summary->rows);
    char sent[SCREEN_AMOUNT], received[SCREEN_AMOUNT], opened[SCREEN_AMOUNT], closed[SCREEN_AMOUNT],
        overflows[SCREEN_AMOUNT];
    const double segments = machine_rates_of(rates, SEGMENTS_SENT);
    const double again = machine_rates_of(rates, SEGMENTS_RETRANSMITTED);
    double ended;
    const bool knows_ended = machine_rates_closed(rates, &ended) && known;

    snprintf(text, HEADER_TEXT, "sent %s, received %s, opened %s, closed %s, retransmitted ",
             rated ? screen_rate(state, sent, summary->rates[0]) : "-",
             rated ? screen_rate(state, received, summary->rates[1]) : "-",
             header_count(opened, known, machine_rates_opened(rates)),
             header_count(closed, knows_ended, ended));
    if (known)
        message_append(text, HEADER_TEXT, "%.2f %% of segments",
                       segments > 0 ? 100 * again / segments : 0);
    message_append(text, HEADER_TEXT, "%s, listen overflows %s", known ? "" : "-",
                   header_count(overflows, known, machine_rates_of(rates, LISTEN_OVERFLOWS)));
}

/* Writes "eth0", or "eth0 in web" if the interface is in another network namespace. */
static void name_interface(const struct interface_rate *interface, char name[NAME_TEXT])
{
    const struct netns *netns = &interface->netns;
    char *end = escape_text(name, interface->name, strlen(interface->name), "");
    const size_t room = NAME_TEXT - (size_t)(end - name);
    char text[ESCAPE_FACTOR * NAME_MAX + 1];

    *end = '\0';
    *escape_text(text, netns->name, strlen(netns->name), "") = '\0';
    if (*text && strlen(text) < NETNS_TEXT)
        snprintf(end, room, " in %s", text);
    else if (netns->id)
        snprintf(end, room, " in netns %" PRIu64, netns->id);
}

static unsigned header_percent_of(double moved, const struct interface_rate *interface)
{
    const double percent = 100 * moved / interface->rate;

    return (unsigned)((percent < 100 ? percent : 100) + 0.5);
}

void header_put_interface(const struct screen_state *state, const struct machine_rates *rates,
                          size_t i, char text[HEADER_TEXT])
{
    double unplaced;
    const struct interface_rate *interface = machine_rates_interface(rates, i, &unplaced);
    const unsigned least = header_percent_of(interface->moved, interface),
                   most = header_percent_of(interface->moved + unplaced, interface);
    char rate[SCREEN_AMOUNT], percents[48], name[NAME_TEXT];

    if (least == most)
        snprintf(percents, sizeof percents, "about %u %%", least);
    else
        snprintf(percents, sizeof percents, "between %u %% and %u %%", least, most);
    name_interface(interface, name);
    snprintf(text, HEADER_TEXT, "%s %s, %s of it by these sockets", name,
             screen_rate(state, rate, interface->rate), percents);
}
