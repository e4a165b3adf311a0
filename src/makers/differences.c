/* SPDX-License-Identifier: MIT */
/* Both listings are read and kept packed. Then rows are matched by sorting keys of both: a later row
 * may fit better than an earlier row. */
#include "fastnet/differences.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "fastnet/owners.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "makers/packed_rows.h"

enum { OLD, NOW, SIDES };
enum { HEADS_MAX = 1024, WHAT_MAX = 2048 };

/* How rows of both listings are matched, in this order. By object: the same object of the kernel.
 * Exactly: the same place, and all compared columns are equal. By place: the same place. */
enum match_by { BY_OBJECT, BY_ALL, BY_PLACE, MATCHES };

/* Numbers of fields (field_at()). */
struct field_list {
    uint16_t numbers[DIFFERENCE_FIELDS_MAX];
    size_t count;
};

struct compared_row {
    const struct packed_row *packed;
    uint64_t object, place, digest; /* hashes; object and place can be 0: the row has none */
    struct compared_row *partner;   /* new rows: the old row */
    uint32_t host, boot;            /* hashes */
    bool matched, by_object, client, connection;
};

/* A row with the key by which it is matched. */
struct keyed_row {
    _Alignas(8) uint64_t key; /* aligned, so that the struct has 16 bytes on 32-bit machines */
    struct compared_row *row;
};

/* The old or the new listing that is compared, and its rows. */
struct compared_side {
    struct saved_source *source;
    struct report report;
    struct compared_row *rows;
    size_t count, capacity;
    uint64_t hosts[HEADS_MAX], boots[HEADS_MAX]; /* hashes of its heads */
    size_t heads;
    uint64_t time, listing; /* the numbers in the last head */
};

/* Columns of differences, made from the columns of a listing. */
struct difference_columns {
    struct difference_columns *next;
    const struct saved_columns *of;
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
    struct packed_rows memory;
    struct row_builder builders[SIDES];
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
    compared.boot = (uint32_t)boot;
    return compared;
}

static int side_take(struct differences *differences, struct compared_side *side,
                     const struct record *record)
{
    const int error = side_take_head(differences, side);
    const struct packed_row *packed =
        error ? NULL : packed_row_add(&differences->memory, record);
    struct compared_row *added = packed ? ARRAY_ADD(side->rows, side->count, side->capacity) : NULL;

    if (!added)
        return error ? error : -ENOMEM;
    *added = compared_row_of(differences, side, record);
    added->packed = packed;
    return 0;
}

static int take_old(const struct record *record, void *arg)
{
    struct differences *differences = arg;

    return side_take(differences, &differences->sides[OLD], record);
}

static int take_now(const struct record *record, void *arg)
{
    struct differences *differences = arg;

    return side_take(differences, &differences->sides[NOW], record);
}

/* Reads one listing. Problems make it incomplete. Returns 0, -ENOMEM or -ECANCELED. */
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

/* --- Matching --------------------------------------------------------------------------------- */

/* The key by which the row is matched; 0: the row has none. The host belongs to the place only if
 * the old listing has several hosts: two machines can be compared with each other. */
static uint64_t match_key(const struct differences *differences, enum match_by by,
                          const struct compared_row *row)
{
    const bool of_host = differences->sides[OLD].heads > 1;
    const uint64_t place = of_host ? hash_word(row->place, row->host) : row->place;

    if (by == BY_OBJECT)
        return row->object;
    if (by == BY_PLACE)
        return row->place ? place : 0;
    return hash_word(place, row->digest);
}

/* Sorts the rows that are not matched yet. With BY_PLACE also matched clients: their place shows
 * that both listings have the client. */
static int side_sort(const struct differences *differences, size_t of, enum match_by by,
                     struct keyed_row **sorted, size_t *count)
{
    const struct compared_side *side = &differences->sides[of];

    *count = 0;
    *sorted = reallocarray(NULL, side->count, sizeof **sorted);
    if (!*sorted)
        return side->count ? -ENOMEM : 0;
    for (size_t i = 0; i < side->count; i++) {
        struct compared_row *row = &side->rows[i];
        const uint64_t key = match_key(differences, by, row);
        if (key && (!row->matched || (by == BY_PLACE && row->client)))
            (*sorted)[(*count)++] = (struct keyed_row){key, row};
    }
    return sort_numbers(*sorted, *count, offsetof(struct keyed_row, key));
}

/* Returns the number of rows at the start that have the key of the first row. */
static size_t rows_alike(const struct keyed_row *rows, size_t count)
{
    size_t alike = 1;

    while (alike < count && rows[alike].key == rows->key)
        alike++;
    return alike;
}

/* Matches rows of one key, in their order. Clients that are left need no partner, because their
 * number is not compared. */
static void rows_match(struct keyed_row *old, size_t old_count, struct keyed_row *now,
                       size_t now_count, enum match_by by)
{
    for (size_t i = 0, j = 0;; i++, j++) {
        while (i < old_count && old[i].row->matched)
            i++;
        while (j < now_count && now[j].row->matched)
            j++;
        if (i >= old_count || j >= now_count)
            break;
        now[j].row->partner = old[i].row;
        now[j].row->by_object = by == BY_OBJECT;
        old[i].row->matched = now[j].row->matched = true;
    }
    for (size_t i = 0; i < old_count; i++)
        old[i].row->matched |= old[i].row->client;
    for (size_t j = 0; j < now_count; j++)
        now[j].row->matched |= now[j].row->client;
}

static int differences_match(const struct differences *differences, enum match_by by)
{
    struct keyed_row *old = NULL, *now = NULL;
    size_t old_count, now_count;
    int error = side_sort(differences, OLD, by, &old, &old_count);

    if (!error)
        error = side_sort(differences, NOW, by, &now, &now_count);
    for (size_t i = 0, j = 0; !error && i < old_count && j < now_count;) {
        const size_t alike = rows_alike(old + i, old_count - i);
        const size_t alike_now = rows_alike(now + j, now_count - j);
        if (old[i].key == now[j].key)
            rows_match(old + i, alike, now + j, alike_now, by);
        const bool both = old[i].key == now[j].key, first = old[i].key < now[j].key;
        i += both || first ? alike : 0;
        j += both || !first ? alike_now : 0;
    }
    free(old);
    free(now);
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

/* True if both rows are connections of one place and one boot, but not the same connection. */
static bool is_next_connection(const struct compared_row *old, const struct compared_row *now)
{
    return now->connection && old->boot == now->boot && old->object && now->object &&
           old->object != now->object;
}

/* Describes the columns that differ in `what`, which is empty and has room for WHAT_MAX bytes.
 * stays: the holder stays, so columns of owners are not compared. */
static void rows_compare(const struct differences *differences, const struct field_list *fields,
                         const struct saved_row *old, const struct saved_row *now, bool stays,
                         struct text *what)
{
    for (size_t i = 0; i < fields->count; i++) {
        const size_t number = fields->numbers[i];
        if ((!stays || !field_at(differences->of, number)->owner) &&
            cells_differ(differences, old, now, number))
            what_append(differences, old, now, number, what);
    }
}

/* --- Rows of differences ---------------------------------------------------------------------- */

enum { ADDED_COLUMNS = 2 }; /* change and what: the first cells, and the last fields */

/* Returns the columns of differences between rows with the columns `of`; NULL: memory is short. */
static const struct saved_columns *columns_for(struct differences *differences,
                                               const struct saved_columns *of)
{
    const struct kind *kind = &differences->kind.kind;
    const size_t own = kind->field_count - ADDED_COLUMNS;
    struct difference_columns *columns = differences->columns;
    const struct field *field;

    while (columns && columns->of != of)
        columns = columns->next;
    if (columns)
        return &columns->made;
    columns = calloc(1, sizeof *columns);
    if (!columns)
        return NULL;
    columns->next = differences->columns;
    differences->columns = columns;
    columns->of = of;
    columns->made.kind = kind;
    columns->made.head = of->head;
    columns->made.count = of->count + ADDED_COLUMNS;
    if (columns->made.count > SAVED_COLUMNS_MAX)
        columns->made.count = SAVED_COLUMNS_MAX;
    for (size_t i = 0; (field = field_at(kind, i)); i++) {
        const bool is_added = i >= own && i < own + ADDED_COLUMNS;
        const size_t place = of->place[i < own ? i : i - ADDED_COLUMNS];
        const size_t column = is_added ? i - own + 1 : place ? place + ADDED_COLUMNS : 0;
        if (!column || column > SAVED_COLUMNS_MAX)
            continue;
        columns->made.place[i] = (uint16_t)column;
        columns->made.fields[column - 1] = field;
    }
    return &columns->made;
}

/* Passes on a row with its change. what: NULL data if it was opened or closed. */
static int difference_emit(struct differences *differences, enum difference change,
                           struct text what, const struct compared_row *row)
{
    const struct kind *kind = &differences->kind.kind;
    const struct field *field = &kind->fields[kind->field_count - ADDED_COLUMNS];
    const struct built_cell added[ADDED_COLUMNS] = {
        {SAVED_STRING, as_text(field->word(change))},
        {what.data ? SAVED_STRING : SAVED_NULL, what},
    };
    const struct saved_columns *columns =
        columns_for(differences, packed_row_columns(row->packed));
    const struct saved_row *built =
        columns ? packed_row_unpack(&differences->memory, row->packed, &differences->builders[NOW],
                                    columns, added, ADDED_COLUMNS)
                : NULL;
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
    if (differences->summary.incomplete[lacking]) {
        differences->summary.unknown[!lacking]++;
        return 0;
    }
    return difference_emit(differences, lacking == OLD ? DIFFERENCE_OPENED : DIFFERENCE_CLOSED,
                           (struct text){.data = NULL}, row);
}

static const struct saved_row *row_unpack(struct differences *differences, size_t of,
                                          const struct compared_row *row)
{
    return packed_row_unpack(&differences->memory, row->packed, &differences->builders[of],
                             packed_row_columns(row->packed), NULL, 0);
}

/* A new row and its partner. If both listings are incomplete, nobody knows whether two rows of one
 * place follow each other. */
static int emit_pair(struct differences *differences, const struct compared_row *row)
{
    const struct compared_row *old = row->partner;
    const struct field_list *fields =
        old->client && row->client ? &differences->compared_of_client : &differences->compared;
    struct difference_summary *summary = &differences->summary;
    const bool is_next = is_next_connection(old, row);
    char space[WHAT_MAX] = "";
    struct text what = {.data = space};

    if (old->digest == row->digest && old->place == row->place && !is_next)
        return 0;
    const struct saved_row *before = row_unpack(differences, OLD, old);
    const struct saved_row *after = row_unpack(differences, NOW, row);
    if (!before || !after)
        return -ENOMEM;
    const bool stays = holder_stays(differences, before, after);
    rows_compare(differences, fields, before, after, stays, &what);
    const bool replaced = !stays || (is_next && !what.length);
    if (is_next && !what.length)
        rows_compare(differences, &differences->object, before, after, false, &what);
    if (!what.length)
        return 0;
    if (!row->by_object && summary->incomplete[OLD] && summary->incomplete[NOW]) {
        summary->unknown[OLD]++;
        summary->unknown[NOW]++;
        return 0;
    }
    return difference_emit(differences, replaced ? DIFFERENCE_REPLACED : DIFFERENCE_CHANGED, what,
                           row);
}

static int differences_emit(struct differences *differences)
{
    const struct compared_side *old = &differences->sides[OLD], *now = &differences->sides[NOW];
    int result = 0;

    for (size_t i = 0; i < now->count && result >= 0; i++)
        if (now->rows[i].partner)
            result = emit_pair(differences, &now->rows[i]);
        else if (!now->rows[i].matched)
            result = emit_alone(differences, &now->rows[i], OLD);
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
        free(differences->sides[i].rows);
        free(differences->builders[i].row);
    }
    while (differences->columns) {
        struct difference_columns *next = differences->columns->next;
        free(differences->columns);
        differences->columns = next;
    }
    packed_rows_finish(&differences->memory);
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
