/* SPDX-License-Identifier: MIT */
/* The rows of the old listing are kept packed. A row of the new listing that equals one of them
 * needs no memory; every other new row waits until both listings were read, because a later row may
 * fit an old row better. */
#include "fastnet/differences.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/owners.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "makers/packed_rows.h"

enum { OLD, NOW, SIDES };
enum { HEADS_MAX = 1024, WHAT_MAX = 2048 };

/* How an old row is found. By object: the same object of the kernel. Exactly: the same place, and
 * all compared columns are equal. By place: another row has its place. */
enum find { FIND_OBJECT, FIND_EXACT, FIND_PLACE, FINDS };

/* Numbers of fields (field_at()). */
struct field_list {
    uint16_t numbers[DIFFERENCE_FIELDS_MAX];
    size_t count;
};

/* A row of the old listing, or a row of the new listing that waits. */
struct compared_row {
    const struct packed_row *packed;
    uint64_t object, place, digest; /* hashes; object and place can be 0: the row has none */
    uint32_t next[FINDS];           /* old rows: 1 + the index of the next row with this key */
    uint32_t partner;               /* new rows: 1 + the index of the old row */
    uint32_t host;                  /* a hash */
    bool matched, by_object, client, connection;
};

/* Old rows with one key. */
struct rows_of_key {
    uint64_t key; /* must be first */
    uint32_t first;
};

struct compared_rows {
    struct compared_row *rows;
    size_t count, capacity;
};

/* The old or the new listing that is compared, and its rows. */
struct compared_side {
    struct saved_source *source;
    struct report report;
    struct compared_rows rows;
    uint64_t hosts[HEADS_MAX], boots[HEADS_MAX]; /* hashes of its heads */
    size_t heads;
    uint64_t time, listing; /* the numbers in the last head */
};

/* Columns of differences, made from the columns of a listing. */
struct difference_columns {
    struct difference_columns *next;
    const struct saved_columns *of;
    size_t count; /* columns of `of` that were added */
    struct saved_columns made;
};

struct differences {
    struct saved_source source; /* must be first */
    struct difference_options options;
    const struct kind *of; /* kind of both listings */
    struct difference_kind kind;
    struct difference_summary summary;
    struct compared_side sides[SIDES];
    struct field_list object, place, place_of_client, named, peer, holder;
    struct field_list compared, compared_of_client;
    uint64_t seed;
    bool found_built[FINDS];
    struct hash_table found[FINDS]; /* elements: struct rows_of_key */
    struct hash_table clients;      /* places of clients that both listings have: uint64_t */
    struct rows memory;
    struct row_builder old, now, built;
    struct difference_columns *columns;
    record_fn fn; /* this and the next member: of the current run */
    void *arg;
};

/* --- Fields ----------------------------------------------------------------------------------- */

static bool list_has(const struct field_list *list, size_t number)
{
    bool has = false;

    for (size_t i = 0; i < list->count && !has; i++)
        has = list->numbers[i] == number;
    return has;
}

static void differences_add(struct field_list *list, size_t number)
{
    if (list->count < COUNT(list->numbers) && !list_has(list, number))
        list->numbers[list->count++] = (uint16_t)number;
}

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

/* Adds the fields with these names, without columns that one of the listings lacks. */
static void list_add_names(struct field_list *list, const struct differences *differences,
                           const char *names)
{
    const struct field *field;

    for (size_t i = 0; names && (field = field_at(differences->of, i)); i++)
        if (text_among(names, field->name) && both_have(differences, field->name))
            differences_add(list, i);
}

/* Adds the fields of `from`, without those of `without` (may be NULL). */
static void list_add_list(struct field_list *list, const struct field_list *from,
                          const struct field_list *without)
{
    for (size_t i = 0; i < from->count; i++)
        if (!without || !list_has(without, from->numbers[i]))
            differences_add(list, from->numbers[i]);
}

/* Fills the lists of fields. */
static void differences_choose_fields(struct differences *differences)
{
    static const struct matching none = {.place = NULL};
    const struct kind *kind = differences->of;
    const struct matching *matching = kind->matching ? kind->matching : &none;
    const char *named = differences->options.named;
    const struct field *field;

    list_add_names(&differences->object, differences, matching->object);
    list_add_names(&differences->place, differences, matching->place);
    list_add_names(&differences->named, differences, matching->named);
    list_add_names(&differences->peer, differences, matching->peer);
    list_add_names(&differences->holder, differences, matching->holder);
    for (size_t i = 0; (field = field_at(kind, i)); i++) {
        const bool own = i < kind->field_count;
        if (!both_have(differences, field->name))
            continue;
        const bool chosen = text_has_word(named, field->name);
        if ((own && !matching->place && field->key) ||
            (field->of_netns && field->type == VALUE_NAME))
            differences_add(&differences->place, i);
        if (chosen || (own && difference_compares(field) && !list_has(&differences->object, i)))
            differences_add(&differences->compared, i);
        if (chosen || (list_has(&differences->compared, i) && !list_has(&differences->named, i)))
            differences_add(&differences->compared_of_client, i);
    }
    list_add_list(&differences->place_of_client, &differences->place, &differences->named);
    list_add_names(&differences->place_of_client, differences, matching->client);
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

static struct text row_text(const struct saved_row *row, const struct saved_cell *cell)
{
    return (struct text){(const char *)row + cell->offset, cell->length};
}

static uint64_t hash_text(uint64_t hash, struct text text)
{
    return hash_bytes(hash_word(hash, text.length), text.data, text.length);
}

/* Adds the known cells of these fields to a hash. Returns 0 if no cell is known. */
static uint64_t hash_cells(uint64_t seed, const struct saved_row *row,
                           const struct field_list *fields)
{
    uint64_t hash = seed;
    bool known = false;

    for (size_t i = 0; i < fields->count; i++) {
        const struct saved_cell *cell = row_cell(row, fields->numbers[i]);
        if (!cell)
            continue;
        known = true;
        hash = hash_text(hash_word(hash, (uint64_t)fields->numbers[i] << 3 | cell->type),
                         row_text(row, cell));
    }
    return known ? hash | 1 : 0;
}

/* True if one of these cells is known and not 0. */
static bool row_has_any(const struct saved_row *row, const struct field_list *fields)
{
    bool any = false;

    for (size_t i = 0; i < fields->count && !any; i++) {
        const struct saved_cell *cell = row_cell(row, fields->numbers[i]);
        any = cell && cell->length && !text_is(row_text(row, cell), "0");
    }
    return any;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* Refuses the listings, with a message that lives as long as the program. */
static int differences_refuse(struct differences *differences, const char *message)
{
    differences->summary.refused = message;
    return -ECANCELED;
}

/* Takes the head of the rows that follow, if it is another head. A file of -c has several listings
 * of one host; which of them to compare is not known. */
static int side_take_head(struct differences *differences, struct compared_side *side)
{
    const struct saved_head *head = side->source->head;
    const bool is_old = side == &differences->sides[OLD];
    const char *refused = NULL;
    uint64_t host;

    if (!head)
        return 0;
    host = hash_text(differences->seed, as_text(head->host));
    if (side->heads && head->time == side->time && head->listing == side->listing &&
        host == side->hosts[side->heads - 1])
        return 0;
    for (size_t i = 0; i < side->heads && (head->time || head->listing); i++)
        if (side->hosts[i] == host)
            return differences_refuse(differences, "has several listings of one machine");
    if (side->heads == HEADS_MAX)
        return differences_refuse(differences, "has listings of too many machines");
    side->hosts[side->heads] = host;
    side->boots[side->heads++] =
        head->boot_id && *head->boot_id ? hash_text(differences->seed, as_text(head->boot_id)) : 0;
    side->time = head->time;
    side->listing = head->listing;
    if (differences->options.refuses)
        refused = differences->options.refuses(differences->options.arg, head, is_old);
    return refused ? differences_refuse(differences, refused) : 0;
}

/* Computes the keys and the digest of a row. */
static struct compared_row compared_row_of(const struct differences *differences,
                                           const struct compared_side *side,
                                           const struct record *record)
{
    const struct matching *matching = differences->of->matching;
    const struct saved_row *row = record->saved;
    const uint64_t seed = differences->seed, boot = side->heads ? side->boots[side->heads - 1] : 0;
    struct compared_row compared = {.connection = row_has_any(row, &differences->peer)};

    compared.client =
        matching && matching->is_client && !compared.connection && matching->is_client(record);
    if (compared.client)
        compared.place = hash_cells(seed, row, &differences->place_of_client);
    else if (!matching || !matching->named || row_has_any(row, &differences->named))
        compared.place = hash_cells(seed, row, &differences->place);
    if (boot && row_has_any(row, &differences->object))
        compared.object = hash_cells(boot, row, &differences->object);
    compared.digest = hash_cells(
        seed, row, compared.client ? &differences->compared_of_client : &differences->compared);
    compared.host = side->heads ? (uint32_t)side->hosts[side->heads - 1] : 0;
    return compared;
}

static struct compared_row *rows_of_side_add(struct differences *differences,
                                             struct compared_rows *rows,
                                             const struct compared_row *row,
                                             const struct saved_row *saved)
{
    const struct packed_row *packed =
        rows->count < UINT32_MAX / 2 ? packed_row_add(&differences->memory, saved) : NULL;
    struct compared_row *added = packed ? ARRAY_ADD(rows->rows, rows->count, rows->capacity) : NULL;

    if (!added)
        return NULL;
    *added = *row;
    added->packed = packed;
    return added;
}

/* --- Finding old rows ------------------------------------------------------------------------- */

/* The host belongs to the place only if the old listing has several hosts: two machines can be
 * compared with each other. */
static uint64_t key_of_place(const struct differences *differences, const struct compared_row *row)
{
    return differences->sides[OLD].heads > 1 ? hash_word(row->place, row->host) : row->place;
}

/* The key by which the row is found; 0: it cannot be found so. */
static uint64_t difference_key(const struct differences *differences, enum find by,
                               const struct compared_row *row)
{
    if (by == FIND_OBJECT)
        return row->object;
    if (by == FIND_PLACE)
        return row->place ? key_of_place(differences, row) : 0;
    return hash_word(key_of_place(differences, row), row->digest);
}

/* Collects the old rows that have no partner yet, by their key. */
static int found_build(struct differences *differences, enum find by)
{
    struct compared_rows *rows = &differences->sides[OLD].rows;

    differences->found_built[by] = true;
    for (size_t i = rows->count; i-- > 0;) {
        struct compared_row *row = &rows->rows[i];
        const uint64_t key = difference_key(differences, by, row);
        if (row->matched || !key)
            continue;
        struct rows_of_key *of = hash_table_find_number(&differences->found[by], key, key);
        if (!of && (of = hash_table_add(&differences->found[by], key, sizeof *of)))
            of->key = key;
        if (!of)
            return -ENOMEM;
        row->next[by] = of->first;
        of->first = (uint32_t)i + 1;
    }
    return 0;
}

/* Returns the next old row without a partner that has the key of `row`, and its partner; or NULL.
 */
static int found_take(struct differences *differences, enum find by, const struct compared_row *row,
                      struct compared_row **old)
{
    const uint64_t key = difference_key(differences, by, row);
    const int error = differences->found_built[by] ? 0 : found_build(differences, by);
    struct rows_of_key *of =
        key && !error ? hash_table_find_number(&differences->found[by], key, key) : NULL;

    *old = NULL;
    while (of && of->first && !*old) {
        struct compared_row *first = &differences->sides[OLD].rows.rows[of->first - 1];
        of->first = first->next[by];
        *old = first->matched ? NULL : first;
    }
    return error;
}

/* Notes that an old row has a partner, and that both listings have this client. */
static int row_match(struct differences *differences, struct compared_row *old)
{
    const uint64_t key = key_of_place(differences, old);
    uint64_t *client;

    old->matched = true;
    if (!old->client || hash_table_find_number(&differences->clients, key, key))
        return 0;
    client = hash_table_add(&differences->clients, key, sizeof *client);
    if (!client)
        return -ENOMEM;
    *client = key;
    return 0;
}

static bool is_known_client(const struct differences *differences, const struct compared_row *row)
{
    const uint64_t key = key_of_place(differences, row);

    return row->client && hash_table_find_number(&differences->clients, key, key);
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
    if (before->type == after->type && text_equal(row_text(old, before), row_text(now, after)))
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
    bool stays = true;

    for (size_t i = 0; i < differences->holder.count && stays; i++) {
        const size_t number = differences->holder.numbers[i];
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
                        const struct saved_row *now, size_t number, struct text *what)
{
    const char *name = field_at(differences->of, number)->name;
    char *const to = (char *)(uintptr_t)what->data;
    char before[VALUE_PART], after[VALUE_PART];
    const struct value first = value_of(differences, old, number);
    const size_t length = value_write_part(before, &first, UNIT_NONE);
    const struct value second = value_of(differences, now, number);
    const size_t length_now = value_write_part(after, &second, UNIT_NONE);
    const int added =
        snprintf(to + what->length, WHAT_MAX - what->length, "%s%s %.*s -> %.*s",
                 what->length ? ", " : "", name, (int)length, before, (int)length_now, after);

    if (added > 0)
        what->length =
            what->length + (size_t)added < WHAT_MAX ? what->length + (size_t)added : WHAT_MAX - 1;
}

/* Compares two rows. Sets *change, and describes the differences in `what`. Returns false if there
 * is no difference. what: empty, with room for WHAT_MAX bytes. */
static bool rows_compare(const struct differences *differences, const struct compared_row *old,
                         const struct compared_row *now, const struct saved_row *old_row,
                         const struct saved_row *new_row, enum difference *change,
                         struct text *what)
{
    const struct field_list *fields =
        old->client && now->client ? &differences->compared_of_client : &differences->compared;
    const bool stays = holder_stays(differences, old_row, new_row);

    for (size_t i = 0; i < fields->count; i++) {
        const size_t number = fields->numbers[i];
        if ((!stays || !field_at(differences->of, number)->owner) &&
            cells_differ(differences, old_row, new_row, number))
            what_append(differences, old_row, new_row, number, what);
    }
    *change = stays ? DIFFERENCE_CHANGED : DIFFERENCE_REPLACED;
    if (what->length || !now->connection || !old->object || !now->object ||
        old->object == now->object)
        return what->length;
    for (size_t i = 0; i < differences->object.count; i++)
        what_append(differences, old_row, new_row, differences->object.numbers[i], what);
    *change = DIFFERENCE_REPLACED;
    return what->length;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static int take_old(const struct record *record, void *arg)
{
    struct differences *differences = arg;
    struct compared_side *side = &differences->sides[OLD];
    const int error = side_take_head(differences, side);

    if (error)
        return error;
    const struct compared_row row = compared_row_of(differences, side, record);
    return rows_of_side_add(differences, &side->rows, &row, record->saved) ? 0 : -ENOMEM;
}

/* True if objects of this new row can be found among the old rows: both are of one boot. */
static bool has_boot_of_old(const struct differences *differences)
{
    const struct compared_side *old = &differences->sides[OLD], *now = &differences->sides[NOW];
    const uint64_t boot = now->heads ? now->boots[now->heads - 1] : 0;
    bool found = false;

    for (size_t i = 0; i < old->heads && boot && !found; i++)
        found = old->boots[i] == boot;
    return found;
}

/* Compares a new row with the old row of the same object. Returns 1 if nothing differs, else 0. */
static int is_same_object(struct differences *differences, const struct compared_row *old,
                          const struct compared_row *row, const struct saved_row *new_row)
{
    char space[WHAT_MAX] = "";
    struct text what = {.data = space};
    const struct saved_row *old_row;
    enum difference change;

    if (old->digest == row->digest && old->place == row->place)
        return 1;
    old_row = packed_row_unpack(old->packed, &differences->old);
    return old_row ? !rows_compare(differences, old, row, old_row, new_row, &change, &what)
                   : -ENOMEM;
}

static int take_now(const struct record *record, void *arg)
{
    struct differences *differences = arg;
    struct compared_side *side = &differences->sides[NOW];
    struct compared_row *old = NULL, row, *added;
    int error = side_take_head(differences, side), same = 1;

    if (error)
        return error;
    row = compared_row_of(differences, side, record);
    const bool by_object = row.object && has_boot_of_old(differences);
    error = found_take(differences, by_object ? FIND_OBJECT : FIND_EXACT, &row, &old);
    if (!error && old)
        error = row_match(differences, old);
    if (!error && old && by_object)
        same = is_same_object(differences, old, &row, record->saved);
    if (error || same < 0 || (old && same))
        return error ? error : same < 0 ? same : 0;
    added = rows_of_side_add(differences, &side->rows, &row, record->saved);
    if (!added)
        return -ENOMEM;
    added->by_object = by_object && old;
    added->partner = old ? (uint32_t)(old - differences->sides[OLD].rows.rows) + 1 : 0;
    return 0;
}

/* Reads one listing. Problems make it incomplete. Returns 0 or -ENOMEM. */
static int side_read(struct differences *differences, size_t of, const struct query *query,
                     record_fn fn)
{
    struct compared_side *side = &differences->sides[of];
    struct query own = *query;
    int error;

    own.report = &side->report;
    own.saved = side->source;
    own.where = NULL;
    error = side->source->read(side->source, &own, fn, differences);
    differences->summary.incomplete[of] =
        differences->options.incomplete[of] || side->report.partial || error < 0;
    for (size_t i = 0; i < side->report.count; i++)
        report_note(query->report, "%s", side->report.lines[i]);
    if (error < 0 && error != -ECANCELED && error != -ENOMEM)
        report_note(query->report, "cannot read the %s listing: %s", of == OLD ? "old" : "new",
                    strerror(-error));
    return error == -ENOMEM || error == -ECANCELED ? error : 0;
}

/* Finds partners of new rows that wait: first equal rows, then rows of the same place. */
static int differences_match(struct differences *differences)
{
    static const enum find ways[] = {FIND_EXACT, FIND_PLACE};
    struct compared_rows *rows = &differences->sides[NOW].rows;
    int error = 0;

    for (size_t way = 0; way < COUNT(ways); way++)
        for (size_t i = 0; i < rows->count && !error; i++) {
            struct compared_row *row = &rows->rows[i], *old;
            if (row->partner)
                continue;
            error = found_take(differences, ways[way], row, &old);
            if (!error && old) {
                row->partner = (uint32_t)(old - differences->sides[OLD].rows.rows) + 1;
                error = row_match(differences, old);
            }
        }
    return error;
}

/* --- Rows of differences ---------------------------------------------------------------------- */

enum { ADDED_COLUMNS = 2 }; /* change and what: the first cells, and the last fields */

/* Adds the columns that `of` has had since the last call. */
static void columns_extend(struct differences *differences, struct difference_columns *columns)
{
    const struct kind *kind = &differences->kind.kind;
    const size_t own = kind->field_count - ADDED_COLUMNS;
    const struct field *field;

    columns->count = columns->of->count;
    columns->made.count = columns->of->count + ADDED_COLUMNS;
    if (columns->made.count > SAVED_COLUMNS_MAX)
        columns->made.count = SAVED_COLUMNS_MAX;
    for (size_t i = 0; (field = field_at(kind, i < own ? i : i + ADDED_COLUMNS)); i++) {
        const size_t number = i < own ? i : i + ADDED_COLUMNS;
        const size_t column = columns->of->place[i];
        if (!column || column + ADDED_COLUMNS > SAVED_COLUMNS_MAX)
            continue;
        columns->made.place[number] = (uint16_t)(column + ADDED_COLUMNS);
        columns->made.fields[column + ADDED_COLUMNS - 1] = field;
    }
}

static const struct saved_columns *columns_for(struct differences *differences,
                                               const struct saved_columns *of)
{
    struct difference_columns *columns = differences->columns;

    while (columns && columns->of != of)
        columns = columns->next;
    if (!columns) {
        const struct kind *kind = &differences->kind.kind;
        const size_t own = kind->field_count - ADDED_COLUMNS;
        columns = calloc(1, sizeof *columns);
        if (!columns)
            return NULL;
        columns->next = differences->columns;
        differences->columns = columns;
        columns->of = of;
        columns->made.kind = kind;
        columns->made.head = of->head;
        for (size_t i = 0; i < ADDED_COLUMNS; i++) {
            columns->made.fields[i] = &kind->fields[own + i];
            columns->made.place[own + i] = (uint16_t)(i + 1);
        }
    }
    if (columns->count < of->count)
        columns_extend(differences, columns);
    return &columns->made;
}

/* Passes on a row with its change. what: NULL data if it was opened or closed. */
static int difference_emit(struct differences *differences, enum difference change,
                           struct text what, const struct saved_row *row)
{
    const struct kind *kind = &differences->kind.kind;
    const struct field *field = &kind->fields[kind->field_count - ADDED_COLUMNS];
    const struct built_cell added[ADDED_COLUMNS] = {
        {SAVED_STRING, as_text(field->word(change))},
        {what.data ? SAVED_STRING : SAVED_NULL, what},
    };
    const struct saved_columns *columns = row ? columns_for(differences, row->columns) : NULL;
    const struct saved_row *built =
        columns ? row_build(&differences->built, columns, added, ADDED_COLUMNS, row) : NULL;
    struct record record;

    if (!built)
        return -ENOMEM;
    record_begin(&record, kind, sizeof record - offsetof(struct record, socket));
    record.saved = built;
    saved_restore(&record, built);
    return differences->fn(&record, differences->arg);
}

/* A row that only one listing has. lacking: the listing that lacks it. */
static int emit_alone(struct differences *differences, const struct compared_row *row,
                      size_t lacking)
{
    if (is_known_client(differences, row))
        return 0;
    if (differences->summary.incomplete[lacking]) {
        differences->summary.unknown[!lacking]++;
        return 0;
    }
    return difference_emit(differences, lacking == OLD ? DIFFERENCE_OPENED : DIFFERENCE_CLOSED,
                           (struct text){.data = NULL},
                           packed_row_unpack(row->packed, &differences->now));
}

/* A new row and its partner. If both listings are incomplete, nobody knows whether two rows of one
 * place follow each other. */
static int emit_pair(struct differences *differences, const struct compared_row *row)
{
    const struct compared_row *old = &differences->sides[OLD].rows.rows[row->partner - 1];
    const struct saved_row *old_row = packed_row_unpack(old->packed, &differences->old);
    const struct saved_row *new_row = packed_row_unpack(row->packed, &differences->now);
    char space[WHAT_MAX] = "";
    struct text what = {.data = space};
    enum difference change;

    if (!old_row || !new_row)
        return -ENOMEM;
    if (!rows_compare(differences, old, row, old_row, new_row, &change, &what))
        return 0;
    if (!row->by_object && differences->summary.incomplete[OLD] &&
        differences->summary.incomplete[NOW]) {
        differences->summary.unknown[OLD]++;
        differences->summary.unknown[NOW]++;
        return 0;
    }
    return difference_emit(differences, change, what, new_row);
}

static int differences_emit(struct differences *differences)
{
    const struct compared_rows *old = &differences->sides[OLD].rows;
    const struct compared_rows *now = &differences->sides[NOW].rows;
    int result = 0;

    for (size_t i = 0; i < now->count && result >= 0; i++)
        result = now->rows[i].partner ? emit_pair(differences, &now->rows[i])
                                      : emit_alone(differences, &now->rows[i], OLD);
    for (size_t i = 0; i < old->count && result >= 0; i++)
        if (!old->rows[i].matched)
            result = emit_alone(differences, &old->rows[i], NOW);
    return result;
}

/* For struct saved_source. */
static int differences_read(struct saved_source *source, const struct query *query, record_fn fn,
                            void *arg)
{
    struct differences *differences = (struct differences *)(void *)source;
    int result = side_read(differences, OLD, query, take_old);

    differences->fn = fn;
    differences->arg = arg;
    if (result == 0)
        result = side_read(differences, NOW, query, take_now);
    if (result == 0)
        result = differences_match(differences);
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

struct differences *differences_create(const struct difference_options *options)
{
    struct differences *differences = calloc(1, sizeof *differences);

    if (!differences)
        return NULL;
    differences->options = *options;
    differences->of = options->old->kind;
    differences->seed = hash_seed();
    differences->sides[OLD].source = options->old;
    differences->sides[NOW].source = options->now;
    difference_kind_init(&differences->kind, differences->of);
    differences->source.kind = &differences->kind.kind;
    differences->source.read = differences_read;
    differences->source.has = differences_has;
    differences->source.head = options->now->head;
    differences_choose_fields(differences);
    return differences;
}

void differences_destroy(struct differences *differences)
{
    if (!differences)
        return;
    for (size_t i = 0; i < SIDES; i++) {
        saved_source_close(differences->sides[i].source);
        free(differences->sides[i].rows.rows);
    }
    for (size_t i = 0; i < FINDS; i++)
        hash_table_finish(&differences->found[i]);
    hash_table_finish(&differences->clients);
    while (differences->columns) {
        struct difference_columns *next = differences->columns->next;
        free(differences->columns);
        differences->columns = next;
    }
    row_builder_finish(&differences->old);
    row_builder_finish(&differences->now);
    row_builder_finish(&differences->built);
    rows_clear(&differences->memory);
    free(differences);
}

struct saved_source *differences_source(struct differences *differences)
{
    return &differences->source;
}

const struct difference_summary *differences_summary(const struct differences *differences)
{
    return &differences->summary;
}
