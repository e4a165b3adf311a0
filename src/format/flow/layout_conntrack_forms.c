/* SPDX-License-Identifier: MIT */
/* Functions that the forms of conntrack's layout share. */
#include "format/flow/layout_conntrack_forms.h"

#include "fastnet/clock.h"
#include "fastnet/labels.h"
#include "fastnet/senders.h"
#include "model/value.h"

char *put_foreign(const struct conntrack_sink *conntrack, char *dst, struct text text,
                  const char *delimiters)
{
    struct writer *writer = conntrack->sink.writer;

    if (text.length <= SHORT_TEXT_MAX)
        return escape_text(dst, text.data, text.length, delimiters);
    writer_commit(writer, dst);
    text_put(writer, text, delimiters, PART_TEXT);
    return writer_reserve(writer, ROW_MAX);
}

char *put_bit_names(char *dst, const struct flag_names *names, uint32_t bits)
{
    const char *const start = dst;

    for (; bits; bits &= bits - 1) {
        const unsigned bit = (unsigned)__builtin_ctz(bits);
        if (bit < names->count)
            dst = put_string(dst == start ? dst : PUT(dst, ","), names->names[bit]);
    }
    return dst;
}

char *put_labels(char *dst, const struct flow_row *row, const void *member)
{
    static const struct flow_words {
        const char *open, *first, *next, *end, *close, *delimiters;
    } line = {"labels", "=", ",", "", " ", " ,"}, /* only "labels" if no label has a name */
        xml = {"<labels>", "<label>", "<label>", "</label>", "</labels>", XML_DELIMITERS};
    const struct flow_words *form = row->conntrack->layout.xml ? &xml : &line;
    const struct labels *known = row->conntrack->sink.context->labels;
    const struct flag_names *names = known ? labels_names(known) : NULL;
    const struct flow_record *flow = member;
    const char *before = form->first;

    if (!names)
        return dst;
    dst = put_string(dst, form->open);
    for (size_t bit = 0; bit < FLOW_LABEL_BITS && bit < names->count; bit++) {
        const char *name = names->names[bit];
        if (!(flow->labels[bit / 32] >> bit % 32 & 1) || !name || !*name)
            continue;
        dst = put_string(dst, before);
        dst = put_foreign(row->conntrack, dst, as_text(name), form->delimiters);
        writer_commit(row->conntrack->sink.writer, put_string(dst, form->end));
        dst = writer_reserve(row->conntrack->sink.writer, ROW_MAX);
        before = form->next;
    }
    return put_string(dst, form->close);
}

struct tm local_time(uint64_t moment)
{
    const time_t seconds = (time_t)(moment / CLOCK_SECOND);
    struct tm tm = {.tm_mday = 1};

    localtime_r(&seconds, &tm);
    return tm;
}

uint64_t row_received(const struct record *record, uint64_t received)
{
    return (record->has & FLOW_EVENT) ? received : clock_nanoseconds(CLOCK_REALTIME);
}

char *put_state(char *dst, const struct flow_row *row, const void *state)
{
    return put_state_name(dst, row->record->flow.way[WAY_ORIG].tuple.protocol,
                          *(const uint8_t *)state);
}

char *put_sender(char *dst, const struct flow_row *row, const void *member)
{
    const struct conntrack_sink *conntrack = row->conntrack;
    const uint32_t sender = *(const uint32_t *)member;
    struct senders *senders = conntrack->sink.context->senders;
    const char *name = senders ? senders_name(senders, sender) : NULL;

    dst = text_u64(dst, sender);
    if (!name)
        return dst;
    dst = PUT(dst, " progname=");
    return put_foreign(conntrack, dst, as_text(name),
                       conntrack->layout.xml ? " " XML_DELIMITERS : " ");
}

char *put_delta(char *dst, const struct flow_row *row, const void *member)
{
    const uint64_t start = *(const uint64_t *)member, stop = row->record->flow.stop;
    const bool xml = row->conntrack->layout.xml;

    if (!(row->record->has & FLOW_STOP) || (!xml && !stop))
        return text_u64(dst, (uint64_t)time(NULL) - start / CLOCK_SECOND);
    /* XML cuts the difference to seconds; lines cut both times before they subtract */
    return text_u64(dst, xml ? (stop - start) / CLOCK_SECOND
                             : stop / CLOCK_SECOND - start / CLOCK_SECOND);
}
