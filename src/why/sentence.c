/* SPDX-License-Identifier: MIT */
#include "why/sentence.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/text.h"
#include "model/socket/owner_fields.h"

void put_address(FILE *stream, const struct address *address)
{
    char text[TEXT_ADDRESS_MAX + 1];

    *text_address(text, address) = '\0';
    fputs(address->family == AF_UNSPEC ? "an unknown address" : text, stream);
}

void put_endpoint(FILE *stream, const struct endpoint *endpoint)
{
    char text[TEXT_ADDRESS_PORT_MAX + 1];

    *text_address_port(text, &endpoint->address, as_text(NULL), endpoint->port) = '\0';
    fputs(text, stream);
}

static void put_duration(FILE *stream, uint64_t nanoseconds)
{
    char text[TEXT_ROUNDED];

    if (nanoseconds < CLOCK_SECOND)
        fprintf(stream, "%s ms", text_rounded(text, (double)nanoseconds / CLOCK_MILLISECOND));
    else
        fprintf(stream, "%s s", text_rounded(text, (double)nanoseconds / CLOCK_SECOND));
}

void put_process(FILE *stream, const char *name, uint32_t pid)
{
    if (!*name) {
        fputs("a process that is not visible", stream);
        return;
    }
    fputc('"', stream);
    for (; *name; name++)
        fputc(*name == '"' ? '\'' : *name, stream);
    fprintf(stream, "\" (pid %" PRIu32 ")", pid);
}

void put_netns(FILE *stream, const struct evidence_netns *netns)
{
    if (netns->name)
        fprintf(stream, " in netns %s", netns->name);
    else if (netns->id)
        fprintf(stream, " in the network namespace %" PRIu64, netns->id);
}

static void slot_in(const struct sentence *sentence)
{
    if (sentence->is_other)
        put_netns(sentence->stream, sentence->netns);
}

static void slot_in_listener(const struct sentence *sentence)
{
    put_netns(sentence->stream, &sentence->evidence->listener.netns);
}

static void slot_link(const struct sentence *sentence)
{
    fputs(sentence->evidence->is_up ? "has no carrier" : "is down", sentence->stream);
}

static void slot_elapsed(const struct sentence *sentence)
{
    put_duration(sentence->stream, sentence->evidence->attempt.elapsed);
}

static void slot_syns(const struct sentence *sentence)
{
    const uint32_t again = sentence->evidence->attempt.retransmits;

    if (again)
        fprintf(sentence->stream, "%" PRIu32 " SYNs", again + 1);
    else
        fputs("a SYN", sentence->stream);
}

static void slot_family(const struct sentence *sentence)
{
    fputs(sentence->evidence->listener.local.address.family == AF_INET ? "IPv4" : "IPv6",
          sentence->stream);
}

/* The option of netstat(8) for the family of the peer. IPv4 is the default. */
static void slot_version(const struct sentence *sentence)
{
    if (address_unmapped(&sentence->evidence->peer.address).family == AF_INET6)
        fputc('6', sentence->stream);
}

static void slot_process(const struct sentence *sentence)
{
    const struct evidence_listener *listener = &sentence->evidence->listener;

    put_process(sentence->stream, listener->process, listener->pid);
}

static void slot_error(const struct sentence *sentence)
{
    const struct attempt_result *attempt = &sentence->evidence->attempt;
    const int error =
        attempt->state == ATTEMPT_NONE ? sentence->evidence->route.error : attempt->error;
    const char *name = connect_error_name((uint64_t)error);

    fputs(name ? name : strerror(error), sentence->stream);
}

static void slot_reason(const struct sentence *sentence)
{
    fputs(sentence->event->event.reason, sentence->stream);
}

static void slot_packets(const struct sentence *sentence)
{
    const bool udp = sentence->evidence->protocol == IPPROTO_UDP;

    fputs(sentence->evidence->is_of_others                ? "packets"
          : sentence->event && sentence->event->is_answer ? udp ? "answers" : "answers (SYN, ACK)"
          : udp                                           ? "datagrams"
                                                          : "SYNs",
          sentence->stream);
}

static void slot_lacks(const struct sentence *sentence)
{
    static const char names[][24] = {"the network namespace", "the control group", "the user",
                                     "the mark"};
    const char *between = "";

    for (size_t i = 0; i < COUNT(names); i++)
        if (sentence->evidence->attempt.lacks >> i & 1) {
            fprintf(sentence->stream, "%s%s", between, names[i]);
            between = " and ";
        }
}

static void slot_reach(const struct sentence *sentence)
{
    if (address_is_loopback(&sentence->evidence->listener.local.address))
        fputs("; other machines cannot reach this address", sentence->stream);
}

enum slot_type {
    SLOT_FUNCTION,
    SLOT_ADDRESS,
    SLOT_ENDPOINT,
    SLOT_U16,
    SLOT_U32,
    SLOT_NAME,
    SLOT_STRING
};

/* {words} of the table: members of struct evidence, or functions. */
static const struct slot {
    char name[20];
    uint8_t type; /* enum slot_type */
    size_t offset;
    void (*put)(const struct sentence *sentence);
} slots[] = {
#define SLOT(name, type, member)                                                                   \
    {                                                                                              \
        name, type, offsetof(struct evidence, member), NULL                                        \
    }
#define SLOT_BY(name, function)                                                                    \
    {                                                                                              \
        name, SLOT_FUNCTION, 0, function                                                           \
    }
    SLOT("peer", SLOT_ENDPOINT, peer),
    SLOT("address", SLOT_ADDRESS, peer.address),
    SLOT("port", SLOT_U16, target.port),
    SLOT("target", SLOT_ENDPOINT, target),
    SLOT("target-address", SLOT_ADDRESS, target.address),
    SLOT("name", SLOT_STRING, name),
    SLOT("no-name", SLOT_STRING, no_name),
    SLOT("interface", SLOT_NAME, interface),
    SLOT("gateway", SLOT_ADDRESS, neighbour.address),
    SLOT("source", SLOT_ADDRESS, route.source),
    SLOT("offender", SLOT_ADDRESS, attempt.offender),
    SLOT("listening", SLOT_ENDPOINT, listener.local),
    SLOT("queue", SLOT_U32, listener.queue),
    SLOT("limit", SLOT_U32, listener.queue_limit),
    SLOT("half-open", SLOT_U32, listener.half_open),
    SLOT("half-open-limit", SLOT_U32, listener.half_open_limit),
    SLOT("priority", SLOT_U32, route.rule.priority),
    SLOT("mss", SLOT_U32, attempt.mss),
    SLOT("mtu", SLOT_U32, route.mtu),
    SLOT("fresh", SLOT_U32, fresh),
    SLOT("near", SLOT_STRING, near),
    SLOT("unseen", SLOT_STRING, unseen),
    SLOT_BY("reach", slot_reach),
    SLOT_BY("in", slot_in),
    SLOT_BY("in-listener", slot_in_listener),
    SLOT_BY("link", slot_link),
    SLOT_BY("elapsed", slot_elapsed),
    SLOT_BY("syns", slot_syns),
    SLOT_BY("family", slot_family),
    SLOT_BY("version", slot_version),
    SLOT_BY("process", slot_process),
    SLOT_BY("error", slot_error),
    SLOT_BY("reason", slot_reason),
    SLOT_BY("packets", slot_packets),
    SLOT_BY("lacks", slot_lacks),
};

static void sentence_put_slot(const struct sentence *sentence, struct text name)
{
    const struct slot *slot = slots;

    while (slot < slots + COUNT(slots) && !text_is(name, slot->name))
        slot++;
    if (slot == slots + COUNT(slots))
        return;
    const char *member = (const char *)sentence->evidence + slot->offset;
    const char *string;

    switch (slot->type) {
    case SLOT_ADDRESS:
        put_address(sentence->stream, (const void *)member);
        break;
    case SLOT_ENDPOINT:
        if (((const struct endpoint *)member)->address.family == AF_UNSPEC) {
            fprintf(sentence->stream, "%s port %u",
                    sentence->evidence->protocol == IPPROTO_UDP ? "UDP" : "TCP",
                    sentence->evidence->target.port);
            break;
        }
        put_endpoint(sentence->stream, (const void *)member);
        break;
    case SLOT_U16:
    case SLOT_U32:
        fprintf(sentence->stream, "%" PRIu64,
                bytes_number(member, slot->type == SLOT_U16 ? sizeof(uint16_t) : sizeof(uint32_t)));
        break;
    case SLOT_NAME:
        fputs(*member ? member : "an unknown interface", sentence->stream);
        break;
    case SLOT_STRING:
        memcpy(&string, member, sizeof string);
        fputs(string ? string : "", sentence->stream);
        break;
    default:
        slot->put(sentence);
    }
}

/* Adds the options that make fastnet read the network namespace of the sentence. */
static void sentence_put_netns_options(const struct sentence *sentence)
{
    const struct evidence_netns *netns = sentence->netns;

    if (!sentence->is_other)
        netns = &sentence->evidence->here;
    if (netns->name)
        text_put_word(sentence->stream, " --netns ", netns->name);
    else if (netns->id && netns->id != sentence->evidence->own_netns)
        fprintf(sentence->stream, " --all-netns --where 'netns_id = %" PRIu64 "'", netns->id);
}

void sentence_put(FILE *stream, const struct sentence *sentence, const char *from)
{
    struct sentence here = *sentence;

    here.stream = stream;
    for (const char *end; *from; from = end) {
        end = *from == '{' ? from + strcspn(from, "}") + 1 : from + strcspn(from, "{");
        if (*from == '{')
            sentence_put_slot(&here, (struct text){from + 1, (size_t)(end - from) - 2});
        else
            fwrite(from, 1, (size_t)(end - from), stream);
    }
}

static void sentence_fill(char *text, size_t size, struct sentence sentence, const char *from,
                          bool is_command)
{
    memset(text, 0, size);
    sentence.stream = fmemopen(text, size, "w");
    if (!sentence.stream)
        return;
    sentence_put(sentence.stream, &sentence, from);
    if (is_command)
        sentence_put_netns_options(&sentence);
    if (fclose(sentence.stream) != 0 && is_command)
        *text = '\0'; /* a command that is cut does something else */
    text[size - 1] = '\0';
}

void sentence_make(char *text, size_t size, const struct sentence *sentence, const char *from)
{
    sentence_fill(text, size, *sentence, from, false);
}

void sentence_make_command(char *text, size_t size, const struct sentence *sentence,
                           const char *from)
{
    sentence_fill(text, size, *sentence, from, *from && !strstr(from, " --all-netns"));
}
