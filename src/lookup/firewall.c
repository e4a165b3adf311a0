/* SPDX-License-Identifier: MIT */
#include "lookup/firewall.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"

struct firewall *firewall_create(void)
{
    return calloc(1, sizeof(struct firewall));
}

void firewall_destroy(struct firewall *firewall)
{
    if (!firewall)
        return;
    for (size_t i = 0; i < firewall->chain_count; i++)
        free(firewall->chains[i].name.text);
    for (size_t i = 0; i < firewall->set_count; i++)
        free(firewall->sets[i].name.text);
    free(firewall->chains);
    free(firewall->sets);
    free(firewall->rules);
    free(firewall->steps);
    free(firewall->elements);
    free(firewall);
}

const char *firewall_unknown(const struct firewall *firewall)
{
    return !firewall->is_known && *firewall->unknown ? firewall->unknown : NULL;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* Names of nftables have up to NFT_NAME_MAXLEN - 1 bytes, and no NUL. Returns false if the name is
 * longer, or empty. */
static bool firewall_join(struct firewall_name *name, uint8_t family, struct text table,
                          struct text own, char text[2 * NFT_NAME_MAXLEN])
{
    if (!table.length || !own.length || table.length >= NFT_NAME_MAXLEN ||
        own.length >= NFT_NAME_MAXLEN)
        return false;
    memset(text, 0, table.length + own.length + 2);
    memcpy(text, table.data, table.length);
    memcpy(text + table.length + 1, own.data, own.length);
    *name = (struct firewall_name){family, text, table.length + own.length + 2};
    return true;
}

static bool firewall_keep_name(struct firewall_name *name, uint8_t family, struct text table,
                               struct text own)
{
    char text[2 * NFT_NAME_MAXLEN], *kept;

    if (!firewall_join(name, family, table, own, text))
        return false;
    kept = malloc(name->length);
    name->text = kept;
    if (kept)
        memcpy(kept, text, name->length);
    return kept;
}

static int compare_firewall_names(const void *a, const void *b)
{
    const struct firewall_name *one = a, *other = b;

    if (one->family != other->family)
        return one->family - other->family;
    if (one->length != other->length)
        return one->length < other->length ? -1 : 1;
    return memcmp(one->text, other->text, one->length);
}

struct firewall_chain *firewall_add_chain(struct firewall *firewall, uint8_t family,
                                          struct text table, struct text name)
{
    struct firewall_chain *chain =
        ARRAY_ADD(firewall->chains, firewall->chain_count, firewall->chain_capacity);

    return chain && firewall_keep_name(&chain->name, family, table, name) ? chain : NULL;
}

struct firewall_set *firewall_add_set(struct firewall *firewall, uint8_t family, struct text table,
                                      struct text name)
{
    struct firewall_set *set =
        ARRAY_ADD(firewall->sets, firewall->set_count, firewall->set_capacity);

    return set && firewall_keep_name(&set->name, family, table, name) ? set : NULL;
}

/* The name is the first member of both structs. */
void firewall_sort_names(struct firewall *firewall)
{
    if (firewall->chain_count)
        qsort(firewall->chains, firewall->chain_count, sizeof *firewall->chains,
              compare_firewall_names);
    if (firewall->set_count)
        qsort(firewall->sets, firewall->set_count, sizeof *firewall->sets, compare_firewall_names);
}

static int32_t firewall_find(const void *array, size_t count, size_t size, uint8_t family,
                             struct text table, struct text name)
{
    char text[2 * NFT_NAME_MAXLEN];
    struct firewall_name wanted;
    const char *found;

    if (!count || !firewall_join(&wanted, family, table, name, text))
        return NO_INDEX;
    found = bsearch(&wanted, array, count, size, compare_firewall_names);
    return found ? (int32_t)((size_t)(found - (const char *)array) / size) : NO_INDEX;
}

int32_t firewall_find_chain(const struct firewall *firewall, uint8_t family, struct text table,
                            struct text name)
{
    return firewall_find(firewall->chains, firewall->chain_count, sizeof *firewall->chains, family,
                         table, name);
}

int32_t firewall_find_set(const struct firewall *firewall, uint8_t family, struct text table,
                          struct text name)
{
    return firewall_find(firewall->sets, firewall->set_count, sizeof *firewall->sets, family, table,
                         name);
}

/* --- Sets ------------------------------------------------------------------------------------- */

/* The end of an interval comes before a begin with the same key. */
static int compare_firewall_elements(const void *a, const void *b)
{
    const struct firewall_element *one = a, *other = b;
    const int order = memcmp(one->first, other->first, KEY_BYTES);

    return one->any != other->any ? one->any - other->any : order ? order : other->ends - one->ends;
}

/* Subtracts 1 from a number in network byte order. */
static void key_before(uint8_t key[KEY_BYTES], size_t length)
{
    while (length-- > 0 && key[length]-- == 0)
        continue;
}

/* An interval has two elements: its first key, and the first key after it, which is missing if the
 * interval has no end. Or it has one element, with both ends. */
void firewall_finish_set(struct firewall *firewall, struct firewall_set *set)
{
    struct firewall_element *elements;
    uint32_t count = 0;

    set->is_read = true;
    if (!set->count)
        return;
    elements = firewall->elements + set->first;
    qsort(elements, set->count, sizeof *elements, compare_firewall_elements);
    if (!(set->flags & NFT_SET_INTERVAL) || set->flags & NFT_SET_CONCAT)
        return;
    for (uint32_t i = 0; i < set->count; i++) {
        struct firewall_element element = elements[i];
        if (element.ends)
            continue;
        const bool has_last = memcmp(element.first, element.last, KEY_BYTES) != 0;
        if (!has_last)
            memset(element.last, 0xff, sizeof element.last);
        if (!has_last && !element.any && i + 1 < set->count && !elements[i + 1].any) {
            memcpy(element.last, elements[i + 1].first, sizeof element.last);
            key_before(element.last, set->key_length);
        }
        elements[count++] = element;
    }
    set->count = count;
}

/* --- What rules may do ------------------------------------------------------------------------ */

/* Nothing can be proven beside some effects. A rule at hook input may give a packet the port of
 * another listener, after the earlier rules have seen the first port. A rule at hook prerouting may
 * do so, too, but hook input comes later and sees the new port. Any hook may lead to a chain that
 * is not a base chain. */
void firewall_note_effects(struct firewall *firewall, const struct firewall_chain *chain,
                           unsigned effects, struct text culprit)
{
    unsigned harms = EFFECT_COPIES | EFFECT_DIVERTS | EFFECT_REWRITES;

    firewall->tracks_ipv6 |= effects & EFFECT_TRACKS && (chain->name.family == NFPROTO_INET ||
                                                         chain->name.family == NFPROTO_IPV6);
    if (chain->hook == HOOK_OTHER) {
        harms = EFFECT_COPIES;
        effects &= EFFECT_COPIES | EFFECT_EXPECTS;
    }
    if (chain->hook == HOOK_DEVICE || chain->hook == HOOK_PREROUTING)
        harms &= ~(unsigned)EFFECT_REWRITES;
    firewall->rewrites |= effects & (EFFECT_REWRITES | EFFECT_TRANSLATES);
    firewall->untracks |= effects & EFFECT_UNTRACKS;
    firewall->expects |= effects & EFFECT_EXPECTS;
    if (effects & harms && !*firewall->unknown)
        snprintf(firewall->unknown, sizeof firewall->unknown,
                 "rules of nftables may do anything: %.*s", (int)culprit.length, culprit.data);
}

/* Sets the ports of a rule that begins with a comparison of the destination port. The packets to
 * other ports come to no later step. */
static void firewall_limit_rule(const struct firewall *firewall, struct firewall_rule *rule)
{
    rule->port_last = UINT16_MAX;
    for (uint32_t i = 0; i + 1 < rule->count; i++) {
        const struct firewall_step *load = &firewall->steps[rule->first + i], *next = load + 1;
        if (load->operation != STEP_LOAD && load->operation != STEP_COMPARE)
            return;
        if (load->operation != STEP_LOAD || load->source != LOAD_TRANSPORT || load->offset != 2 ||
            load->length != 2 || next->operation != STEP_COMPARE || next->source != NFT_CMP_EQ ||
            next->from != load->to || next->length != 2)
            continue;
        rule->port = rule->port_last = (uint16_t)(next->first[0] << 8 | next->first[1]);
        return;
    }
}

void firewall_finish(struct firewall *firewall)
{
    firewall->is_known = !*firewall->unknown;
    for (size_t i = 0; i < firewall->rule_count; i++)
        firewall_limit_rule(firewall, &firewall->rules[i]);
    for (size_t i = 0; i < firewall->chain_count; i++) {
        const struct firewall_chain *chain = &firewall->chains[i];
        firewall->drops_early |= chain->is_base && chain->hook == HOOK_DEVICE;
        firewall->untracks |= chain->is_base && chain->hook == HOOK_PREROUTING && chain->is_early;
        firewall->sees_fragments |=
            chain->is_base && chain->hook == HOOK_PREROUTING && chain->is_first;
    }
    firewall->sees_fragments |= !firewall->tracks_ipv6;
}
