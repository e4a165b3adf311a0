/* SPDX-License-Identifier: MIT */
#include "engine/rows.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fastnet/array.h"
#include "fastnet/saved.h"

enum {
    CHUNK_SIZE = 256 * 1024,
    HUGE_PAGE = 2 * 1024 * 1024, /* on x86-64, and on arm64 with pages of 4 KiB */
    SMALL_CHUNKS = 32,           /* number of chunks before huge pages: few rows would waste one */
};

/* The first word of a packed row has a bit for each word of the record that differs from its base,
 * and the index of the base. */
enum { NUMBER_BITS = 4, BASE_SHIFT = 64 - NUMBER_BITS, BASES = 1 << NUMBER_BITS };
static_assert(sizeof(struct record) <= BASE_SHIFT * sizeof(uint64_t), "each word has a bit");

/* The first row with certain fields. Later rows with these fields store the difference to it. */
struct base {
    union packed_words plain;
    uint64_t pieces; /* a bit for each of kind->borrowed that the row has */
};

static size_t rows_words_of(size_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

struct chunk {
    struct chunk *next;
    size_t number, used, size;
    _Alignas(max_align_t) char data[];
};

/* Many rows get huge pages if possible (MADV_HUGEPAGE is a hint), which saves 500 page faults. */
static struct chunk *new_chunk(size_t number, size_t least)
{
    size_t size = number < SMALL_CHUNKS ? CHUNK_SIZE : HUGE_PAGE;
    struct chunk *chunk;

    if (size < sizeof *chunk + least)
        size = sizeof *chunk + least;
    chunk = size == HUGE_PAGE ? aligned_alloc(size, size) : malloc(size);
    if (chunk && size == HUGE_PAGE)
        madvise(chunk, size, MADV_HUGEPAGE);
    if (chunk)
        *chunk = (struct chunk){.number = number, .size = size - sizeof *chunk};
    return chunk;
}

static void *rows_take(struct rows *rows, size_t size, size_t alignment)
{
    struct chunk *chunk = rows->chunks;
    size_t at = chunk ? (chunk->used + alignment - 1) & ~(alignment - 1) : 0;

    if (!chunk || at > chunk->size || chunk->size - at < size) {
        chunk = new_chunk(chunk ? chunk->number + 1 : 0, size);
        if (!chunk)
            return NULL;
        chunk->next = rows->chunks;
        rows->chunks = chunk;
        at = 0;
    }
    chunk->used = at + size;
    return chunk->data + at;
}

void *rows_allocate(struct rows *rows, size_t size)
{
    return rows_take(rows, size, _Alignof(max_align_t));
}

/* The borrowed data that a record has: a bit for each of kind->borrowed. */
static uint64_t pieces_of(const struct record *record)
{
    uint64_t pieces = 0;

    for (size_t i = 0; i < record->kind->borrowed_count; i++)
        pieces |= (uint64_t) !(record->kind->borrowed[i].fields & ~record->has) << i;
    return pieces;
}

static bool is_base_of(const struct base *base, const struct record *record)
{
    return base->plain.record.has == record->has && base->plain.record.kind == record->kind;
}

static uint64_t pieces_by(const struct base *base, const struct record *record)
{
    return is_base_of(base, record) ? base->pieces : pieces_of(record);
}

/* Borrowed bytes and their number of words. `offset`: where the record has the pointer to them. */
struct borrowed_piece {
    const char *data;
    size_t bytes, words, offset;
    bool parted;
    uint32_t parts; /* the kept parts, if `parted` */
};

/* Removes the lowest bit of *pieces, and describes the borrowed data of this bit. Fills *piece,
 * because to return such a large struct costs more. */
static void next_piece(struct borrowed_piece *piece, const struct record *record, uint64_t *pieces,
                       uint32_t unused)
{
    const struct borrowed *borrowed = &record->kind->borrowed[__builtin_ctzll(*pieces)];
    size_t count;

    *pieces &= *pieces - 1;
    piece->offset = borrowed->offset;
    memcpy(&piece->data, (const char *)record + piece->offset, sizeof piece->data);
    memcpy(&count, (const char *)record + piece->offset + sizeof piece->data, sizeof count);
    piece->bytes = count * borrowed->unit;
    piece->parted = unused && borrowed->parted && piece->bytes && piece->bytes <= PARTED_MAX;
    piece->parts = piece->parted ? PARTS(0, piece->bytes) & ~unused : 0;
    piece->words = piece->parted
                       ? (size_t)__builtin_popcount(piece->parts) * rows_words_of(PART_SIZE)
                       : rows_words_of(piece->bytes);
}

/* A record to pack. */
struct packing {
    const struct record *record;
    uint64_t pieces;
    size_t most;              /* largest number of words */
    union packed_words plain; /* the record, with NULL as pointers to borrowed data */
};

/* The words of the saved row (saved.h) of a record; 0: it has none. */
static size_t saved_words_of(const struct record *record)
{
    return record->saved ? rows_words_of(record->saved->size) : 0;
}

static void rows_prepare(struct packing *packing, const struct record *record, uint64_t pieces,
                         uint32_t unused)
{
    struct borrowed_piece piece;

    packing->record = record;
    packing->pieces = pieces;
    packing->most = 1 + COUNT(packing->plain.words) + saved_words_of(record);
    memcpy(&packing->plain, record, record->kind->size);
    while (pieces) {
        next_piece(&piece, record, &pieces, unused);
        memset((char *)&packing->plain + piece.offset, 0, sizeof piece.data);
        packing->most += piece.words;
    }
}

/* Returns the base with the fields of the record, which may be a new base or, if there are too many
 * bases, any base. NULL: memory is short. */
static const struct base *find_base(struct rows *rows, const struct record *record)
{
    struct packing packing;
    size_t i = 0;

    while (i < rows->base_count && !is_base_of(&rows->bases[i], record))
        i++;
    if (!rows->bases)
        rows->bases = rows_allocate(rows, BASES * sizeof *rows->bases);
    if (!rows->bases || i == BASES)
        return rows->bases;
    if (i == rows->base_count) {
        rows_prepare(&packing, record, pieces_of(record), rows->unused);
        memset(&rows->bases[i], 0, sizeof *rows->bases);
        memcpy(&rows->bases[i].plain, &packing.plain, record->kind->size);
        rows->bases[i].plain.record.saved = NULL;
        rows->bases[i].pieces = packing.pieces;
        rows->base_count++;
    }
    return &rows->bases[i];
}

/* Writes a word with a bit for each differing word, the differing words, the borrowed bytes, and
 * the saved row. */
static uint64_t *pack(uint64_t *to, const struct packing *packing, const union packed_words *base,
                      uint32_t unused)
{
    const size_t count = rows_words_of(packing->record->kind->size);
    uint64_t *const differing = to++;
    uint64_t bits = 0, pieces = packing->pieces;
    struct borrowed_piece piece;

    for (size_t i = 0; i < count; i++) {
        const bool differs = packing->plain.words[i] != base->words[i];
        *to = packing->plain.words[i];
        to += differs;
        bits |= (uint64_t)differs << i;
    }
    *differing = bits;
    for (; pieces; to += piece.words) {
        next_piece(&piece, packing->record, &pieces, unused);
        char *part = (char *)to;
        if (piece.bytes && !piece.parted)
            memcpy(to, piece.data, piece.bytes);
        for (uint32_t left = piece.parts; left; left &= left - 1, part += PART_SIZE) {
            const size_t at = (size_t)__builtin_ctz(left) * PART_SIZE, end = piece.bytes - at;
            memcpy(part, piece.data + at, end < PART_SIZE ? end : PART_SIZE);
        }
    }
    if (packing->record->saved)
        memcpy(to, packing->record->saved, packing->record->saved->size);
    return to + saved_words_of(packing->record);
}

static const uint64_t *unpack(const uint64_t *from, union packed_words *plain,
                              const union packed_words *base)
{
    uint64_t bits = *from++ << NUMBER_BITS >> NUMBER_BITS;

    for (*plain = *base; bits; bits &= bits - 1)
        plain->words[__builtin_ctzll(bits)] = *from++;
    return from;
}

/* Copies the kept parts of each borrowed struct to `copies`, and sets its other parts to 0. Other
 * borrowed data stays where it is. */
static const uint64_t *unpack_borrowed(const uint64_t *from, struct record *record, uint64_t pieces,
                                       uint32_t unused, char (*copies)[PARTED_MAX])
{
    struct borrowed_piece piece;

    while (pieces) {
        next_piece(&piece, record, &pieces, unused);
        const char *part = (const char *)from, *data = piece.parted ? *copies++ : part;
        if (piece.parted)
            memset(copies[-1], 0, piece.bytes);
        for (uint32_t left = piece.parts; left; left &= left - 1, part += PART_SIZE)
            memcpy(copies[-1] + (size_t)__builtin_ctz(left) * PART_SIZE, part, PART_SIZE);
        memcpy((char *)record + piece.offset, &data, sizeof data);
        from += piece.words;
    }
    return from;
}

/* Packs a row as a difference to its base, because most words of a record are 0, and rows with the
 * same fields share other words, too. The row of the last run (--delta) is packed as a difference
 * to the row. */
int rows_add(struct rows *rows, const struct record *record)
{
    const struct base *const base = find_base(rows, record);
    const uint64_t **packed =
        array_with_room(rows->packed, &rows->capacity, rows->count + 1, sizeof *packed);
    struct packing now, before;

    if (packed)
        rows->packed = packed;
    if (!packed || !base)
        return -ENOMEM;
    rows_prepare(&now, record, pieces_by(base, record), rows->unused);
    before.most = 0;
    if (record->before)
        rows_prepare(&before, record->before, pieces_by(base, record->before), rows->unused);
    uint64_t *const start =
        rows_take(rows, (now.most + before.most) * sizeof *start, sizeof *start);
    if (!start)
        return -ENOMEM;
    if (rows->netns_index)
        now.plain.record.netns_index = rows->netns_index;
    uint64_t *end = pack(start, &now, &base->plain, rows->unused);
    *start |= (uint64_t)(base - rows->bases) << BASE_SHIFT;
    if (record->before)
        end = pack(end, &before, &now.plain, rows->unused);
    rows->chunks->used = (size_t)((char *)end - rows->chunks->data);
    packed[rows->count++] = start;
    return 0;
}

const struct record *rows_glance(const struct rows *rows, size_t at, struct kept_row *row)
{
    const uint64_t *packed = rows->packed[at];

    unpack(packed, &row->plain, &rows->bases[*packed >> BASE_SHIFT].plain);
    row->plain.record.saved = NULL;
    return &row->plain.record;
}

const struct record *rows_unpack(const struct rows *rows, const uint64_t *packed,
                                 struct kept_row *row)
{
    struct record *const record = &row->plain.record, *const before = &row->before.record;
    const struct base *const base = &rows->bases[*packed >> BASE_SHIFT];

    packed = unpack(packed, &row->plain, &base->plain);
    packed = unpack_borrowed(packed, record, pieces_by(base, record), rows->unused, row->parted[0]);
    if (record->saved)
        record->saved = (const void *)packed;
    if (!record->before)
        return record;
    packed = unpack(packed, &row->before, &row->plain);
    unpack_borrowed(packed, before, pieces_by(base, before), rows->unused, row->parted[1]);
    record->before = before;
    return record;
}

void rows_clear(struct rows *rows)
{
    while (rows->chunks) {
        struct chunk *next = rows->chunks->next;
        free(rows->chunks);
        rows->chunks = next;
    }
    free(rows->packed);
    *rows = (struct rows){0};
}

/* An unpacked row. It is kept, because a merge often compares the same row again. */
struct compared {
    const uint64_t *packed;
    struct kept_row row;
};

struct ordering {
    const struct rows *rows;
    const struct listing *listing;
    struct context context; /* with several network namespaces, context.here is set for each row */
    const struct netns_lookups *seen;
    struct compared left, right;
    bool undecided;      /* rows of one rank may have different values */
    bool unknown, known; /* whether an unknown value, a known value has the rank UINT64_MAX */
};

static struct value rows_value_of(const struct field *field, const struct record *record,
                                  struct ordering *ordering)
{
    if (ordering->seen)
        ordering->context.netns = ordering->seen[record->netns_index];
    return field_value(field, record, &ordering->context);
}

static const struct record *record_of(struct compared *compared, const struct ranked *ranked,
                                      const struct rows *rows)
{
    if (compared->packed != ranked->item)
        rows_unpack(rows, compared->packed = ranked->item, &compared->row);
    return &compared->row.plain.record;
}

static int compare_ranked(const void *left, const void *right, void *arg)
{
    struct ordering *ordering = arg;
    const struct record *a = record_of(&ordering->left, left, ordering->rows);
    const struct record *b = record_of(&ordering->right, right, ordering->rows);
    int order = 0;

    if (!ordering->listing->sort->field)
        return ordering->listing->compare(a, b);
    for (const struct sort_key *key = ordering->listing->sort; key->field && !order; key++) {
        const struct value x = rows_value_of(key->field, a, ordering);
        const struct value y = rows_value_of(key->field, b, ordering);
        order = value_compare(&x, &y);
        if (key->descending && x.type == y.type) /* unknown values are last in both directions */
            order = -order;
    }
    return order;
}

/* A number with which most values can be compared, without the record. */
static uint64_t rows_rank_of(struct ordering *ordering, const struct sort_key *key,
                             const struct record *record)
{
    const struct value value = rows_value_of(key->field, record, ordering);
    bool exact = false;
    uint64_t rank = value_rank(&value, &exact);

    if (key->descending && value.type != VALUE_UNKNOWN)
        rank = ~rank;
    if (rank == UINT64_MAX && value.type == VALUE_UNKNOWN)
        ordering->unknown = true;
    else if (rank == UINT64_MAX)
        ordering->known = true;
    ordering->undecided |= !exact;
    return rank;
}

/* Sorts by the ranks of one key. Rows of equal rank stay in order. */
static int rows_sort_by(const struct sort_key *key, struct ranked *ranked,
                        struct ordering *ordering)
{
    const size_t count = ordering->rows->count;
    struct compared *const space = &ordering->left;

    ordering->unknown = ordering->known = false;
    for (size_t i = 0; i < count; i++) {
        if (i + ROWS_AHEAD < count)
            row_fetch(ranked[i + ROWS_AHEAD].item);
        ranked[i].rank = rows_rank_of(ordering, key, record_of(space, &ranked[i], ordering->rows));
    }
    ordering->undecided |= ordering->unknown && ordering->known;
    return sort_ranked(ranked, count);
}

/* Sorts rows of equal rank by all keys. */
static int sort_alike(struct ranked *ranked, size_t count, struct ordering *ordering)
{
    int error = 0;

    for (size_t i = 0, end; i < count && !error; i = end) {
        for (end = i + 1; end < count && ranked[end].rank == ranked[i].rank; end++)
            ;
        error = sort_stable(&ranked[i], end - i, sizeof *ranked, compare_ranked, ordering);
    }
    return error;
}

int rows_sort(struct rows *rows, const struct listing *listing, const struct context *context,
              const struct netns_lookups *seen)
{
    struct ordering ordering = {
        .rows = rows, .listing = listing, .context = *context, .seen = seen};
    const struct sort_key *key = listing->sort;
    struct ranked *ranked;
    int error = 0;

    if (!key->field && !listing->compare)
        return 0;
    ranked = reallocarray(NULL, rows->count, sizeof *ranked);
    if (!ranked)
        return rows->count ? -ENOMEM : 0;
    for (size_t i = 0; i < rows->count; i++)
        ranked[i] = (struct ranked){.item = rows->packed[i]};
    while (key->field)
        key++;
    while (key-- > listing->sort && !error) /* from the last key to the first */
        error = rows_sort_by(key, ranked, &ordering);
    if (!error && (ordering.undecided || !listing->sort->field))
        error = sort_alike(ranked, rows->count, &ordering);
    for (size_t i = 0; i < rows->count; i++)
        rows->packed[i] = ranked[i].item;
    free(ranked);
    return error;
}
