/* SPDX-License-Identifier: MIT */
/* Both listings are read and kept packed. Then rows are matched by sorting keys of both: a later
 * row may fit better than an earlier row. */
#include "fastnet/differences.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "fastnet/owners.h"
#include "fastnet/report.h"
#include "makers/packed_rows.h"
#include "model/saved.h"

enum { OLD, NOW, SIDES };
enum { HEADS_MAX = 1024, WHAT_MAX = 2048 };

/* How rows of both listings are matched, in this order. By object: the same object of the kernel.
 * Exactly: the same place, and all compared columns are equal. By place: the same place. */
enum match_by { BY_OBJECT, BY_ALL, BY_PLACE, MATCHES };

/* The uses of a field; see struct matching. USE_COMPARED: fields that may be a difference. */
enum field_use {
    USE_OBJECT,
    USE_PLACE,
    USE_NAMED,
    USE_PEER,
    USE_HOLDER,
    USE_COMPARED,
    USE_PLACE_OF_CLIENT,
    USE_COMPARED_OF_CLIENT,
    USES,
};

/* Numbers of fields (field_at()). */
struct field_list {
    uint16_t numbers[DIFFERENCE_FIELDS_MAX];
    size_t count;
};

struct compared_row {
    const struct packed_row *packed;
    uint64_t object, place, digest;     /* hashes; object and place can be 0: the row has none */
    const struct compared_row *partner; /* new rows: the old row */
    uint32_t host, boot;                /* hashes */
    bool is_old, matched, by_object, client, connection;
};

/* A row with the key by which it is matched. */
struct keyed_row {
    _Alignas(8) uint64_t key; /* aligned, so that the struct has 16 bytes on 32-bit machines */
    struct compared_row *row;
};

/* The old or the new listing that is compared, and its rows. */
struct compared_side {
    struct differences *differences;
    struct saved_source *source;
    struct compared_row *rows;
    size_t count, capacity;
    struct packed_rows packed;
    const struct saved_columns *columns; /* all rows have them */
    struct saved_columns of_differences;
    uint64_t hosts[HEADS_MAX]; /* hashes */
    size_t heads;
    uint64_t boot, time, listing; /* from the last head; boot: a hash, or 0 */
};

struct differences {
    struct saved_source source; /* must be first */
    struct difference_options options;
    const struct kind *of; /* kind of both listings */
    struct difference_kind kind;
    struct difference_summary summary;
    struct compared_side sides[SIDES];
    struct field_list fields[USES];
    record_fn fn; /* this and the next member: of the current run */
    void *arg;
};

/* --- Fields ----------------------------------------------------------------------------------- */

/* True if both listings have the column. */
static bool both_have(const struct differences *differences, const char *name)
{
    bool have = true;

    for (size_t i = 0; i < SIDES && have; i++) {
        const struct saved_source *source = differences->sides[i].source;
        have = !source->has || !source->has(source, NULL) || source->has(source, name);
    }
    return have;
}

/* Fills the lists of fields. */
static void differences_choose_fields(struct differences *differences)
{
    static const struct matching no_matching = {.place = NULL};
    const struct kind *kind = differences->of;
    const struct matching *matching = kind->matching ? kind->matching : &no_matching;
    const struct field *field;

    for (size_t i = 0; (field = field_at(kind, i)); i++) {
        const char *name = field->name;
        if (!both_have(differences, name))
            continue;
        const bool own = i < kind->field_count, object = text_among(matching->object, name);
        const bool place =
            (matching->place ? text_among(matching->place, name) : own && field->key) ||
            (field->of_netns && field->type == VALUE_NAME);
        const bool named = text_among(matching->named, name);
        const bool chosen = text_has_word(differences->options.named, name);
        const bool compared = chosen || (own && difference_compares(field) && !object);
        const bool wanted[USES] = {
            [USE_OBJECT] = object,
            [USE_PLACE] = place,
            [USE_NAMED] = named,
            [USE_PEER] = text_among(matching->peer, name),
            [USE_HOLDER] = text_among(matching->holder, name),
            [USE_COMPARED] = compared,
            [USE_PLACE_OF_CLIENT] = (place && !named) || text_among(matching->client, name),
            [USE_COMPARED_OF_CLIENT] = chosen || (compared && !named),
        };
        for (size_t use = 0; use < USES; use++) {
            struct field_list *list = &differences->fields[use];
            if (wanted[use])
                list->numbers[list->count++] = (uint16_t)i;
        }
    }
}

/* --- Cells ------------------------------------------------------------------------------------ */

static bool row_has_column(const struct saved_row *row, size_t number)
{
    const size_t column = row->columns->place[number];

    return column && column <= row->count;
}

/* The cell of a field; NULL: the row has no such cell, or it is null. */
static const struct saved_cell *row_cell(const struct saved_row *row, size_t number)
{
    const struct saved_cell *cell =
        row_has_column(row, number) ? &row->cells[row->columns->place[number] - 1] : NULL;

    return cell && cell->type != SAVED_NULL ? cell : NULL;
}

static uint64_t hash_text(uint64_t hash, struct text text)
{
    return hash_bytes(hash_word(hash, text.length), text.data, text.length);
}

/* Adds the known cells of these fields to a hash. Returns 0 if no cell is known. */
static uint64_t hash_cells(uint64_t seed, const struct differences *differences, enum field_use use,
                           const struct saved_row *row)
{
    const struct field_list *fields = &differences->fields[use];
    uint64_t hash = seed;

    for (size_t i = 0; i < fields->count; i++) {
        const struct saved_cell *cell = row_cell(row, fields->numbers[i]);
        if (cell)
            hash = hash_text(hash_word(hash, (uint64_t)fields->numbers[i] << 3 | cell->type),
                             saved_text(row, cell));
    }
    return hash == seed ? 0 : hash | 1;
}

/* True if one of these cells is known and not 0. */
static bool row_has_any(const struct differences *differences, enum field_use use,
                        const struct saved_row *row)
{
    const struct field_list *fields = &differences->fields[use];
    bool any = false;

    for (size_t i = 0; i < fields->count && !any; i++) {
        const struct saved_cell *cell = row_cell(row, fields->numbers[i]);
        any = cell && cell->length && !text_is(saved_text(row, cell), "0");
    }
    return any;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* Takes the head of the rows that follow, if it is another head. A file of -c has several listings
 * of one host; which of them to compare is not known. Returns -ECANCELED if the listings cannot be
 * compared. */
static int side_take_head(struct compared_side *side)
{
    struct differences *differences = side->differences;
    const struct difference_options *options = &differences->options;
    const struct saved_head *head = side->source->head;
    const char *refused = side->heads == HEADS_MAX ? "has listings of too many machines" : NULL;
    const uint64_t host = head ? hash_text(hash_seed(), as_text(head->host)) : 0;

    if (!head || (side->heads && head->time == side->time && head->listing == side->listing &&
                  host == side->hosts[side->heads - 1]))
        return 0;
    for (size_t i = 0; i < side->heads && (head->time || head->listing); i++)
        if (side->hosts[i] == host)
            refused = "has several listings of one machine";
    if (!refused && options->refuses)
        refused = options->refuses(options->arg, head);
    if ((differences->summary.refused = refused))
        return -ECANCELED;
    side->hosts[side->heads++] = host;
    side->boot = *head->boot_id ? hash_text(hash_seed(), as_text(head->boot_id)) : 0;
    side->time = head->time;
    side->listing = head->listing;
    return 0;
}

/* Computes the keys and the digest of a row. */
static struct compared_row compared_row_of(const struct compared_side *side,
                                           const struct record *record)
{
    const struct differences *differences = side->differences;
    const struct matching *matching = differences->of->matching;
    const struct saved_row *row = record->saved;
    const uint64_t seed = hash_seed();
    struct compared_row compared = {
        .is_old = side == &differences->sides[OLD],
        .boot = (uint32_t)side->boot,
        .host = side->heads ? (uint32_t)side->hosts[side->heads - 1] : 0,
        .connection = row_has_any(differences, USE_PEER, row),
    };

    compared.client =
        matching && matching->is_client && !compared.connection && matching->is_client(record);
    if (compared.client)
        compared.place = hash_cells(seed, differences, USE_PLACE_OF_CLIENT, row);
    else if (!matching || !matching->named || row_has_any(differences, USE_NAMED, row))
        compared.place = hash_cells(seed, differences, USE_PLACE, row);
    if (side->boot && row_has_any(differences, USE_OBJECT, row))
        compared.object = hash_cells(side->boot, differences, USE_OBJECT, row);
    compared.digest =
        hash_cells(seed, differences, compared.client ? USE_COMPARED_OF_CLIENT : USE_COMPARED, row);
    return compared;
}

/* A record_fn: keeps a row. */
static int side_take(const struct record *record, void *arg)
{
    struct compared_side *side = arg;
    const int error = side_take_head(side);
    const struct packed_row *packed = error ? NULL : packed_row_add(&side->packed, record);
    struct compared_row *added = packed ? ARRAY_ADD(side->rows, side->count, side->capacity) : NULL;

    if (!added)
        return error ? error : -ENOMEM;
    *added = compared_row_of(side, record);
    added->packed = packed;
    side->columns = record->saved->columns;
    return 0;
}

/* Reads one listing. Problems make it incomplete. Returns 0, -ENOMEM or -ECANCELED. */
static int side_read(struct differences *differences, size_t of, const struct query *query)
{
    enum { LINES = REPORT_LINES / SIDES - 1 }; /* the report has room for both listings */
    struct compared_side *side = &differences->sides[of];
    struct report report = {.partial = false};
    struct query own = *query;

    own.report = &report;
    own.saved = side->source;
    own.where = NULL;
    const int error = side->source->read(side->source, &own, side_take, side);
    differences->summary.incomplete[of] =
        differences->options.incomplete[of] || report.partial || error < 0;
    for (size_t i = 0; i < report.count && i < LINES; i++)
        report_note(query->report, "%s", report.lines[i]);
    if (report.count > LINES)
        report_note(query->report, "and %zu more about the %s listing", report.count - LINES,
                    of == OLD ? "old" : "new");
    if (error < 0 && error != -ECANCELED && error != -ENOMEM)
        report_note(query->report, "cannot read the %s listing: %s", of == OLD ? "old" : "new",
                    strerror(-error));
    return error == -ENOMEM || error == -ECANCELED ? error : 0;
}

/* --- Matching --------------------------------------------------------------------------------- */

/* The key by which the row is matched; 0: the row has none. The host belongs to the place only if
 * the old listing has several hosts: two machines can be compared with each other. */
static uint64_t match_key(const struct differences *differences, enum match_by by,
                          const struct compared_row *row)
{
    const bool of_host = differences->sides[OLD].heads > 1 && (by == BY_ALL || row->place);
    const uint64_t place = of_host ? hash_word(row->place, row->host) : row->place;

    if (by == BY_OBJECT)
        return row->object;
    return by == BY_PLACE ? place : hash_word(place, row->digest);
}

/* Matches rows of one key, in their order; old rows come first. Clients that are left need no
 * partner, because their number is not compared. */
static void rows_match(const struct keyed_row *rows, size_t count, enum match_by by)
{
    size_t old_end = 0;

    while (old_end < count && rows[old_end].row->is_old)
        old_end++;
    for (size_t old = 0, now = old_end;; old++, now++) {
        while (old < old_end && rows[old].row->matched)
            old++;
        while (now < count && rows[now].row->matched)
            now++;
        if (old >= old_end || now >= count)
            break;
        rows[now].row->partner = rows[old].row;
        rows[now].row->by_object = by == BY_OBJECT;
        rows[old].row->matched = rows[now].row->matched = true;
    }
    for (size_t i = 0; i < count && old_end && old_end < count; i++)
        rows[i].row->matched |= rows[i].row->client;
}

/* Matches rows that are not matched yet, by sorting their keys. BY_PLACE also sorts matched
 * clients: their place shows that both listings have the client. */
static int differences_match(const struct differences *differences, enum match_by by)
{
    const size_t most = differences->sides[OLD].count + differences->sides[NOW].count;
    struct keyed_row *sorted = reallocarray(NULL, most, sizeof *sorted);
    size_t count = 0;

    for (size_t of = 0; sorted && of < SIDES; of++)
        for (size_t i = 0; i < differences->sides[of].count; i++) {
            struct compared_row *row = &differences->sides[of].rows[i];
            const uint64_t key = match_key(differences, by, row);
            if (key && (!row->matched || (by == BY_PLACE && row->client)))
                sorted[count++] = (struct keyed_row){key, row};
        }
    const int error = sorted ? sort_numbers(sorted, count, offsetof(struct keyed_row, key))
                      : most ? -ENOMEM
                             : 0;
    for (size_t i = 0, end; i < count && !error; i = end) {
        for (end = i + 1; end < count && sorted[end].key == sorted[i].key; end++)
            ;
        rows_match(sorted + i, end - i, by);
    }
    free(sorted);
    return error;
}

/* --- Comparing two rows ----------------------------------------------------------------------- */

static const struct context no_names;

static struct value value_of(const struct differences *differences, const struct saved_row *row,
                             size_t number)
{
    const struct record record = {.kind = differences->of, .saved = row};

    return field_value(field_at(differences->of, number), &record, &no_names);
}

/* True if the values differ for certain. What a lookup did not find may exist: an owner of a
 * process that this user may not see. */
static bool cells_differ(const struct differences *differences, const struct saved_row *old,
                         const struct saved_row *now, size_t number)
{
    const uint64_t certain = NEED_INTERFACES | NEED_LABELS | NEED_LINKS;
    const struct saved_cell *before = row_cell(old, number), *after = row_cell(now, number);

    if (!row_has_column(old, number) || !row_has_column(now, number) || (!before && !after))
        return false;
    if (!before || !after)
        return !(field_at(differences->of, number)->lookups & ~certain);
    if (before->type == after->type && text_equal(saved_text(old, before), saved_text(now, after)))
        return false;
    const struct value first = value_of(differences, old, number);
    const struct value second = value_of(differences, now, number);
    return first.type == VALUE_UNKNOWN || first.type != second.type ||
           value_compare(&first, &second) != 0;
}

/* True if one of the row's owners has this pid. */
static bool row_is_held_by(const struct differences *differences, const struct saved_row *row,
                           size_t number, uint64_t pid)
{
    const struct value owners = value_of(differences, row, number);
    bool held = false;

    for (size_t i = 0; owners.type == VALUE_OWNERS && i < owners.owners.count && !held; i++)
        held = owners.owners.first[i].process->pid == (pid_t)pid;
    return held;
}

/* True unless another holds the row for certain. A service with several processes stays if one of
 * them stays: its workers come and go. */
static bool holder_stays(const struct differences *differences, const struct saved_row *old,
                         const struct saved_row *now)
{
    const struct field_list *fields = &differences->fields[USE_HOLDER];
    bool stays = true;

    for (size_t i = 0; i < fields->count && stays; i++) {
        const size_t number = fields->numbers[i];
        const struct field *field = field_at(differences->of, number);
        if (!row_cell(old, number) || !row_cell(now, number) ||
            !cells_differ(differences, old, now, number))
            continue;
        const size_t owners = field->owner ? number + (size_t)(field_owners(field) - field) : 0;
        stays =
            owners &&
            (row_is_held_by(differences, now, owners, value_of(differences, old, number).number) ||
             row_is_held_by(differences, old, owners, value_of(differences, now, number).number));
    }
    return stays;
}

/* Appends "NAME OLD -> NEW". */
static void what_append(const struct differences *differences, const struct saved_row *old,
                        const struct saved_row *now, size_t number, char what[WHAT_MAX])
{
    char before[VALUE_PART], after[VALUE_PART];
    const struct value first = value_of(differences, old, number);
    const size_t length = value_write_part(before, &first, UNIT_NONE);
    const struct value second = value_of(differences, now, number);
    const size_t length_now = value_write_part(after, &second, UNIT_NONE);
    const size_t used = strlen(what);

    snprintf(what + used, WHAT_MAX - used, "%s%s %.*s -> %.*s", used ? ", " : "",
             field_at(differences->of, number)->name, (int)length, before, (int)length_now, after);
}

/* Describes the columns that differ. what: empty. stays: the holder stays, so columns of owners are
 * not compared. */
static void rows_compare(const struct differences *differences, enum field_use use,
                         const struct saved_row *old, const struct saved_row *now, bool stays,
                         char what[WHAT_MAX])
{
    const struct field_list *fields = &differences->fields[use];

    for (size_t i = 0; i < fields->count; i++) {
        const size_t number = fields->numbers[i];
        if ((!stays || !field_at(differences->of, number)->owner) &&
            cells_differ(differences, old, now, number))
            what_append(differences, old, now, number, what);
    }
}

/* --- Rows of differences ---------------------------------------------------------------------- */

/* Passes on a row of `side` with its change. what: NULL if it was opened or closed. */
static int difference_emit(struct compared_side *side, enum difference change, const char *what,
                           const struct compared_row *row)
{
    const struct differences *differences = side->differences;
    const struct kind *kind = &differences->kind.kind;
    const struct field *field = &kind->fields[kind->field_count - DIFFERENCE_COLUMNS];
    const struct text added[DIFFERENCE_COLUMNS] = {as_text(field->word(change)),
                                                   {what, what ? strlen(what) : 0}};
    struct record record;

    if (!side->of_differences.kind)
        difference_columns_init(&side->of_differences, kind, side->columns);
    const struct saved_row *saved = packed_row_unpack(
        &side->packed, row->packed, &side->of_differences, added, DIFFERENCE_COLUMNS);
    if (!saved)
        return -ENOMEM;
    record_begin(&record, kind, sizeof record - offsetof(struct record, socket));
    record.saved = saved;
    saved_restore(&record, saved);
    return differences->fn(&record, differences->arg);
}

/* A new row and its partner. If both listings are incomplete, nobody knows whether two rows of one
 * place follow each other. */
static int emit_pair(struct differences *differences, const struct compared_row *row)
{
    const struct compared_row *old = row->partner;
    const bool both_clients = old->client && row->client;
    /* another connection of the same place and boot */
    const bool is_next = row->connection && old->boot == row->boot && old->object && row->object &&
                         old->object != row->object;
    struct difference_summary *summary = &differences->summary;
    struct compared_side *from = &differences->sides[OLD], *now = &differences->sides[NOW];
    char what[WHAT_MAX] = "";

    if (old->digest == row->digest && old->place == row->place && !is_next)
        return 0;
    const struct saved_row *before =
        packed_row_unpack(&from->packed, old->packed, from->columns, NULL, 0);
    const struct saved_row *after =
        packed_row_unpack(&now->packed, row->packed, now->columns, NULL, 0);
    if (!before || !after)
        return -ENOMEM;
    const bool stays = holder_stays(differences, before, after);
    enum difference change = stays ? DIFFERENCE_CHANGED : DIFFERENCE_REPLACED;
    rows_compare(differences, both_clients ? USE_COMPARED_OF_CLIENT : USE_COMPARED, before, after,
                 stays, what);
    if (!*what && is_next) {
        change = DIFFERENCE_REPLACED;
        rows_compare(differences, USE_OBJECT, before, after, false, what);
    }
    if (!*what)
        return 0;
    if (row->by_object || !summary->incomplete[OLD] || !summary->incomplete[NOW])
        return difference_emit(now, change, what, row);
    summary->unknown[OLD]++;
    summary->unknown[NOW]++;
    return 0;
}

/* Passes on the differences: first new rows, then old rows that were closed. */
static int differences_emit(struct differences *differences)
{
    static const enum difference alone[SIDES] = {DIFFERENCE_CLOSED, DIFFERENCE_OPENED};
    struct difference_summary *summary = &differences->summary;
    int result = 0;

    for (size_t of = SIDES; of-- > 0;)
        for (size_t i = 0; i < differences->sides[of].count && result >= 0; i++) {
            const struct compared_row *row = &differences->sides[of].rows[i];
            if (row->partner)
                result = emit_pair(differences, row);
            else if (!row->matched && summary->incomplete[!of])
                summary->unknown[of]++;
            else if (!row->matched)
                result = difference_emit(&differences->sides[of], alone[of], NULL, row);
        }
    return result;
}

/* For struct saved_source. */
static int differences_read(struct saved_source *source, const struct query *query, record_fn fn,
                            void *arg)
{
    struct differences *differences = (struct differences *)(void *)source;
    int result = side_read(differences, OLD, query);

    differences->fn = fn;
    differences->arg = arg;
    if (result == 0)
        result = side_read(differences, NOW, query);
    for (enum match_by by = 0; by < MATCHES && result == 0; by++)
        result = differences_match(differences, by);
    if (result == 0)
        result = differences_emit(differences);
    return result == -ECANCELED && differences->summary.refused ? 0 : result;
}

/* For struct saved_source. */
static bool differences_has(const struct saved_source *source, const char *column)
{
    const struct differences *differences = (const struct differences *)(const void *)source;
    bool has = column && text_among("change what", column);

    for (size_t i = 0; i < SIDES && !has; i++) {
        const struct saved_source *of = differences->sides[i].source;
        has = !of->has || of->has(of, column);
    }
    return has;
}

/* --- The object ------------------------------------------------------------------------------- */

/* For struct saved_source. */
static void differences_destroy(struct saved_source *source)
{
    struct differences *differences = (struct differences *)(void *)source;

    for (size_t i = 0; i < SIDES; i++) {
        saved_source_close(differences->sides[i].source);
        free(differences->sides[i].rows);
        packed_rows_finish(&differences->sides[i].packed);
    }
    free(differences);
}

struct saved_source *differences_open(const struct difference_options *options)
{
    struct differences *differences = calloc(1, sizeof *differences);

    if (!differences)
        return NULL;
    differences->options = *options;
    differences->of = options->old->kind;
    for (size_t i = 0; i < SIDES; i++) {
        differences->sides[i].differences = differences;
        differences->sides[i].source = i == OLD ? options->old : options->now;
    }
    difference_kind_init(&differences->kind, differences->of);
    differences->source = (struct saved_source){.kind = &differences->kind.kind,
                                                .read = differences_read,
                                                .head = options->now->head,
                                                .has = differences_has,
                                                .destroy = differences_destroy};
    differences_choose_fields(differences);
    return &differences->source;
}

const struct difference_summary *differences_summary(const struct saved_source *source)
{
    return &((const struct differences *)(const void *)source)->summary;
}
