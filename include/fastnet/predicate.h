/* SPDX-License-Identifier: MIT */
/*
 * A predicate says which rows are wanted. It is a tree of comparisons joined by and, or and not. A
 * front end makes it (a personality's options, a filter language); the engine evaluates it on rows
 * of any kind. Backends see it too: they may leave out refused rows, for example by a filter in the
 * kernel, but no others.
 *
 * A comparison with an unknown value is neither true nor false. A row is listed only if the whole
 * predicate is true.
 */
#ifndef FASTNET_PREDICATE_H
#define FASTNET_PREDICATE_H

#include "fastnet/array.h"
#include "fastnet/field.h"

enum predicate_operator {
    PREDICATE_AND, /* all parts hold; true without parts */
    PREDICATE_OR,  /* at least one part holds */
    PREDICATE_NOT, /* its one part does not hold */

    PREDICATE_KNOWN, /* the field has a value */
    PREDICATE_EQUAL, /* ... and it is the constant; a number also matches a named value */
    PREDICATE_BELOW,
    PREDICATE_ABOVE,
    PREDICATE_MASKED, /* number or flags: (value & mask) == constant */
    PREDICATE_ONE_OF, /* a number n below 64: bit n of the constant is set */
    PREDICATE_WITHIN, /* address of the constant's family: (bytes & mask) == constant */
    PREDICATE_LIKE,   /* text that matches the pattern in the constant: *, ?, or \ before these */
    PREDICATE_GLOB,   /* text that fnmatch(3) matches in any case of letters; a NUL of it is @ */
    PREDICATE_AMONG,  /* a number in one of the ranges; the constant is a number, too: not used */
    /* The field and the one of its only part, which is that it has a value, times the constant. */
    PREDICATE_EQUAL_COLUMN,
    PREDICATE_BELOW_COLUMN,
    PREDICATE_ABOVE_COLUMN,
};

struct predicate {
    enum predicate_operator operation;
    /* And, or, not: a list of parts; another column. Parts and texts are borrowed. */
    const struct predicate *parts, *next;
    struct text said; /* the same as an expression of --where; empty: nobody typed it so */
    /* The last part, and the last of those that need no lookup: predicate_add() sets them. */
    struct predicate *last, *last_cheap;
    /* Comparisons. */
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

/* True if its evaluation needs a lookup. */
static inline bool predicate_looks_up(const struct predicate *predicate)
{
    return (predicate->field && predicate->field->lookups) ||
           predicate->last != predicate->last_cheap;
}

/*
 * Adds a part to an and, or or not. Parts are judged in the order in which they were added, but
 * those that need a lookup come after the others.
 */
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

/* A predicate and room for its parts. They point at each other, so it cannot be copied. */
enum { PREDICATE_PARTS_MAX = 16 };
struct predicate_tree {
    struct predicate whole; /* zeroed it is an and */
    struct predicate parts[PREDICATE_PARTS_MAX];
    size_t count;
};

/* Adds a part to this and, or or not of the tree; returns it where it stays. */
static inline struct predicate *predicate_tree_add(struct predicate_tree *tree,
                                                   struct predicate *whole, struct predicate part)
{
    struct predicate *added = &tree->parts[tree->count++];

    *added = part;
    predicate_add(whole, added);
    return added;
}

/* The same, but the part must not hold. */
static inline struct predicate *
predicate_tree_refuse(struct predicate_tree *tree, struct predicate *whole, struct predicate part)
{
    const struct predicate none = {.operation = PREDICATE_NOT};

    return predicate_tree_add(tree, predicate_tree_add(tree, whole, none), part);
}

/*
 * The predicate. An and of one part is that part; without parts it is NULL, because all rows are
 * wanted.
 */
static inline const struct predicate *predicate_of(const struct predicate_tree *tree)
{
    const struct predicate *parts = tree->whole.parts;

    if (parts && (parts->next || tree->whole.operation != PREDICATE_AND))
        return &tree->whole;
    return parts;
}

/* Comparisons, as values; a text is borrowed. */
struct predicate predicate_known(const struct field *field);
struct predicate predicate_number(const struct field *field, uint64_t number);
struct predicate predicate_text(const struct field *field, const char *text);
struct predicate predicate_address(const struct field *field, const struct address *address);
/* Bits of the address behind the prefix do not count. */
struct predicate predicate_within(const struct field *field, const struct network *network);
struct predicate predicate_masked(const struct field *field, uint64_t bits, uint64_t mask);
struct predicate predicate_one_of(const struct field *field, uint64_t numbers);

/* The first 64 bits that a PREDICATE_MASKED asks for; its constant is a number or flags. */
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

/*
 * A bit of a set of known fields: the members that every record of the kind has. No field of any
 * kind may have this bit.
 */
#define KNOWN_ALWAYS (UINT64_C(1) << 63)

/*
 * True if a row may be wanted when only these fields are known (record.has says which of them it
 * has) and only these lookups (NEED_*) were made. context may be NULL if there are no lookups.
 */
bool predicate_may_be_met(const struct predicate *predicate, const struct record *record,
                          const struct context *context, struct needs known);

/* The same before anything was looked up. */
static inline bool predicate_may_hold(const struct predicate *predicate,
                                      const struct record *record, uint64_t known)
{
    return predicate_may_be_met(predicate, record, NULL, (struct needs){.fields = known});
}

/* The needs of its evaluation. */
struct needs predicate_needs(const struct predicate *predicate);

/*
 * Finds a comparison that every wanted row must pass, with this operator and a field whose member
 * is `offset` bytes into struct record. NULL if there is none. Such a field may have other
 * conditions, too (a protocol with ports): the caller must check them.
 */
const struct predicate *predicate_requires(const struct predicate *predicate, size_t offset,
                                           enum predicate_operator operation);

#endif
