/* SPDX-License-Identifier: MIT */
#include "cli/counts.h"

#include <netinet/in.h>
#include <stdio.h>

#include "cli/misuse.h"
#include "fastnet/byte_counts.h"
#include "fastnet/report.h"

/* Writes `verb` and the protocols, except TCP, that the listing may show. False: no protocol. */
static bool put_names(const struct listing *listing, const char *verb, char text[COUNTS_TEXT])
{
    const char *last = NULL;

    *text = '\0';
    for (size_t i = 0; i < listing->table_count; i++) {
        const struct table *table = listing->tables[i].table;
        const struct record record = {
            .kind = table->kind, .socket = {.family = table->family, .protocol = table->protocol}};
        const char *name = field_named(&kind_socket, "protocol")->word(table->protocol);
        if (!name || table->protocol == IPPROTO_TCP || name == last ||
            (listing->where && !predicate_may_hold(listing->where, &record, KNOWN_ALWAYS)))
            continue;
        message_append(text, COUNTS_TEXT, "%s%s", last ? ", " : verb, name);
        last = name;
    }
    return last;
}

void counts_begin(struct listing *listing, char text[COUNTS_TEXT], struct report *report)
{
    const bool any = put_names(listing, "counts bytes of ", text);
    struct bpf_refusal refusal = {.error = 0};

    if (!any || (listing->byte_counts && byte_counts_begin(listing->byte_counts, &refusal) < 0))
        listing->byte_counts = NULL;
    if (!listing->byte_counts)
        put_names(listing, "no byte counts for ", text);
    if (refusal.error)
        report_note(report, "%s: %s", text, refusal.reason);
}
