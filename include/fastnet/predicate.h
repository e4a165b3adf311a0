/* SPDX-License-Identifier: MIT */
/* A predicate decides which rows are wanted. It is a tree of comparisons, joined by and, or and
 * not. Options or --where make it; the engine evaluates it on rows of any kind. Backends may leave
 * out rows that it refuses, for example by a filter in the kernel, but no other rows.
 *
 * A comparison with an unknown value is neither true nor false. A row is listed only if the whole
 * predicate is true. */
#ifndef FASTNET_PREDICATE_H
#define FASTNET_PREDICATE_H

#include "fastnet/array.h"
#include "fastnet/field.h"

enum predicate_operator {
    PREDICATE_AND, /* all parts are true; also true without parts */
    PREDICATE_OR,  /* at least one part is true */
    PREDICATE_NOT, /* its only part is false */

    PREDICATE_KNOWN, /* the field has a value */
    PREDICATE_EQUAL, /* the value equals the constant; of a named value, the name or the number */
    PREDICATE_BELOW,
    PREDICATE_ABOVE,
    PREDICATE_MASKED, /* number or flags: (value & mask) == constant */
    PREDICATE_ONE_OF, /* number n below 64, and bit n of the constant is set */
    PREDICATE_WITHIN, /* address of the constant's family: (bytes & mask) == constant */
    PREDICATE_LIKE,   /* text that matches the constant, a pattern with * and ?; \* is a plain * */
    PREDICATE_GLOB,   /* text that fnmatch(3) matches, ignoring case; '@' stands for NUL bytes */
    PREDICATE_AMONG,  /* number in one of `ranges`; only the type of `constant` is used */
    /* Compares the field with another field times the constant. The only part is a PREDICATE_KNOWN
     * with the other field. */
    PREDICATE_EQUAL_COLUMN,
    PREDICATE_BELOW_COLUMN,
    PREDICATE_ABOVE_COLUMN,
};

struct predicate {
    enum predicate_operator operation;
    /* PREDICATE_AND, _OR, _NOT: a list of parts. PREDICATE_..._COLUMN: the other column. Parts and
     * texts are borrowed. */
    const struct predicate *parts, *next;
    struct text typed; /* the predicate as --where writes it; empty: no user typed it */
    /* The last part, and the last part that needs no lookup. predicate_add() sets them. */
    struct predicate *last, *last_cheap;
    /* The other members are for comparisons. */
    const struct field *field;
    struct value constant;
    union {
        uint64_t bits[VALUE_FLAG_BITS / 64];
        uint8_t address[16];
    } mask;
    struct {
        const struct number_range *first; /* borrowed */
        size_t count;
    } ranges;
};

/* True if evaluating the predicate needs a lookup. */
static inline bool predicate_looks_up(const struct predicate *predicate)
{
    return (predicate->field && predicate->field->lookups) ||
           predicate->last != predicate->last_cheap;
}

/* Adds `part` to `whole`, a PREDICATE_AND, _OR or _NOT. Parts are evaluated in the order of adding,
 * but parts that need a lookup follow all others. */
static inline void predicate_add(struct predicate *whole, struct predicate *part)
{
    const bool cheap = !predicate_looks_up(part);
    struct predicate *before = cheap ? whole->last_cheap : whole->last;

    part->next = before ? before->next : whole->parts;
    if (before)
        before->next = part;
    else
        whole->parts = part;
    if (!cheap || whole->last == whole->last_cheap)
        whole->last = part;
    if (cheap)
        whole->last_cheap = part;
}

/* A predicate with room for its parts. It has pointers into itself, so it must not be copied. */
enum { PREDICATE_PARTS_MAX = 16 };
struct predicate_tree {
    struct predicate whole; /* all zeroes: a PREDICATE_AND */
    struct predicate parts[PREDICATE_PARTS_MAX];
    size_t count;
};

/* Copies `part` into the tree, and adds it to `whole`, a PREDICATE_AND, _OR or _NOT of the tree.
 * Returns the copy. The tree must have room for it. */
static inline struct predicate *predicate_tree_add(struct predicate_tree *tree,
                                                   struct predicate *whole, struct predicate part)
{
    struct predicate *added = &tree->parts[tree->count++];

    *added = part;
    predicate_add(whole, added);
    return added;
}

/* As predicate_tree_add(), but adds the opposite of `part`. */
static inline struct predicate *
predicate_tree_refuse(struct predicate_tree *tree, struct predicate *whole, struct predicate part)
{
    const struct predicate none = {.operation = PREDICATE_NOT};

    return predicate_tree_add(tree, predicate_tree_add(tree, whole, none), part);
}

/* Returns the predicate of the tree. If its root is a PREDICATE_AND with one part, returns that
 * part; without parts, returns NULL, because all rows are wanted. */
static inline const struct predicate *predicate_of(const struct predicate_tree *tree)
{
    const struct predicate *parts = tree->whole.parts;

    if (parts && (parts->next || tree->whole.operation != PREDICATE_AND))
        return &tree->whole;
    return parts;
}

/* Each makes a comparison with the operator in its name; texts are borrowed. */
struct predicate predicate_known(const struct field *field);
struct predicate predicate_number(const struct field *field, uint64_t number);
struct predicate predicate_text(const struct field *field, const char *text);
struct predicate predicate_address(const struct field *field, const struct address *address);
/* Only the first network->prefix bits of an address are compared. */
struct predicate predicate_within(const struct field *field, const struct network *network);
struct predicate predicate_masked(const struct field *field, uint64_t bits, uint64_t mask);
struct predicate predicate_one_of(const struct field *field, uint64_t numbers);

/* Returns the first 64 bits of the constant of a PREDICATE_MASKED: a number or flags. */
static inline uint64_t predicate_bits(const struct predicate *masked)
{
    const struct value *constant = &masked->constant;

    return constant->type == VALUE_FLAGS ? constant->flags.bits[0] : constant->number;
}

/* As predicate_holds(), but the predicate must not be NULL. */
bool predicate_is_met(const struct predicate *predicate, const struct record *record,
                      const struct context *context);

/* True if the row is wanted. A NULL predicate wants all rows. */
static inline bool predicate_holds(const struct predicate *predicate, const struct record *record,
                                   const struct context *context)
{
    return !predicate || predicate_is_met(predicate, record, context);
}

/* A bit in sets of known fields: it stands for members that every record of a kind has. */
#define KNOWN_ALWAYS (UINT64_C(1) << 63)

/* True if a row may pass when only some facts are known: known.fields (record.has says which of
 * them it has) and known.lookups (NEED_*). context may be NULL if known.lookups is 0. */
bool predicate_may_be_met(const struct predicate *predicate, const struct record *record,
                          const struct context *context, struct needs known);

/* As predicate_may_be_met(), before any lookup. */
static inline bool predicate_may_hold(const struct predicate *predicate,
                                      const struct record *record, uint64_t known)
{
    return predicate_may_be_met(predicate, record, NULL, (struct needs){.fields = known});
}

/* Returns what evaluating the predicate needs. */
struct needs predicate_needs(const struct predicate *predicate);

/* Finds a comparison with this operator that every wanted row must pass. offset: place of the
 * member that the compared field shows, in bytes from the start of struct record. Returns NULL if
 * there is no such comparison. The field may have further conditions (a protocol with ports), which
 * the caller must check. */
const struct predicate *predicate_requires(const struct predicate *predicate, size_t offset,
                                           enum predicate_operator operation);

#endif
