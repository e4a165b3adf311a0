/* SPDX-License-Identifier: MIT */
#include "doctor/attempts.h"

#include <errno.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "fastnet/kernel_info.h"

enum {
    WAITED_MS = 3000, /* together: as long as one attempt waits until its SYN was repeated twice */
    PATIENT_MS = 990, /* the timeouts of many programs are one second */
    PATIENT_LEAST = 2,
    MANY_LEAST = 10, /* impatient attempts, or if a crawler tries the same host a few times */
    /* Longer than the way to any place on earth and back: a program that connects to several
     * addresses at once, and takes the first that answers, closes the others earlier. */
    AWAITED_MS = 200,
};

static struct destination attempts_key(const struct endpoint *to)
{
    return (struct destination){.remote = address_unmapped(&to->address), .port = to->port};
}

static size_t attempts_bit(const struct destination *to)
{
    return hash_bytes(hash_word(hash_seed(), to->port), to->remote.bytes, sizeof to->remote.bytes) %
           ATTEMPT_ENDS;
}

/* A socket that was reset has no TCP_INFO (origin.c). */
static bool is_answer(const struct record *record, const struct socket_origin *origin)
{
    return origin->error ? origin->error == ECONNREFUSED || origin->error == ECONNRESET
                         : !(record->has & SOCKET_TCP_INFO) || tcp_info_of(record).bytes_acked;
}

/* Returns how long the attempt waited, in milliseconds. If it began before fastnet, only its
 * repeated SYNs are known: the first after a second, each further one after twice that time. */
static uint64_t attempts_wait(const struct record *record, uint32_t repeats)
{
    return (record->has & SOCKET_AGE) ? record->socket.age.ms
                                      : ((UINT64_C(1) << (repeats & 7)) - 1) * 1000;
}

static void take_given_up(struct given_up *given_up, const struct record *record,
                          const struct socket_origin *origin)
{
    const uint32_t repeats = tcp_info_of(record).total_retrans;
    const uint64_t waited = attempts_wait(record, repeats);

    if (origin->pid) {
        given_up->pid = origin->pid;
        memcpy(given_up->process, origin->name, sizeof given_up->process);
    }
    given_up->from = record->socket.local.address;
    given_up->repeats += repeats;
    given_up->patient += waited >= PATIENT_MS;
    given_up->waited_ms += waited >= PATIENT_MS ? waited : 0;
}

/* An IPv6 attempt without an error may have lost an ICMP error (origin.c), but then its program
 * closed it at once. */
void attempts_take_ended(struct attempts *attempts, const struct record *record,
                         const struct socket_origin *origin)
{
    const struct destination to = attempts_key(&record->socket.remote);
    const struct kernel_tcp_info info = tcp_info_of(record);
    const bool is_given_up = origin->error == ECANCELED || (origin->pid && !origin->error);
    const struct busy *slot;

    if (!to.port || !(record->has & SOCKET_ORIGIN))
        return;
    if (origin->pid && is_answer(record, origin)) {
        bits_add(attempts->answered, attempts_bit(&to));
        bits_add(attempts->ports, to.port);
        return;
    }
    if (!is_given_up || info.bytes_received || !(record->has & SOCKET_TCP_INFO) ||
        attempts_wait(record, info.total_retrans) < AWAITED_MS)
        return;
    slot = busiest_add(attempts->slots, ATTEMPT_SLOTS, &to);
    if (!slot)
        return;
    struct given_up *given_up = &attempts->of[slot - attempts->slots];

    if (slot->count == 1)
        memset(given_up, 0, sizeof *given_up);
    take_given_up(given_up, record, origin);
}

uint64_t attempts_waited(const struct attempts *attempts, const struct endpoint *to)
{
    const struct destination key = attempts_key(to);
    const struct busy *slot = busiest_find(attempts->slots, ATTEMPT_SLOTS, &key);

    return slot && !bits_have(attempts->answered, attempts_bit(&key))
               ? attempts->of[slot - attempts->slots].waited_ms
               : 0;
}

/* An impatient program may prefer another address, which answers earlier, although this address
 * answers, too (RFC 8305). */
bool attempts_are_silent(const struct attempts *attempts, size_t i, const struct attempts *more,
                         bool many)
{
    const struct busy *slot = &attempts->slots[i];
    const struct given_up *given_up = &attempts->of[i];
    const bool is_often = slot->count >= MANY_LEAST;

    if (!slot->count || bits_have(attempts->answered, attempts_bit(&slot->key)))
        return false;
    if (given_up->patient >= PATIENT_LEAST && given_up->waited_ms >= WAITED_MS)
        return is_often || !many;
    return is_often && !bits_have(attempts->ports, slot->key.port) &&
           !bits_have(more->ports, slot->key.port);
}
