/* SPDX-License-Identifier: MIT */
/* Saved rows of files, one file after another (saved.h). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/saved/decompress.h"
#include "backend/saved/marks.h"
#include "fastnet/array.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"
#include "model/saved.h"

enum { PROBLEMS_MAX = 3 /* broken rows of a file that get a line of their own */ };

/* The file that is read now. */
struct open_file {
    const char *name;
    struct row_file bytes;
    uint64_t rows;     /* rows of the listing so far */
    uint64_t problems; /* broken rows, and rows of another kind */
    size_t columns;    /* number of columns in the last row that was compared with the kind */
    bool headed;       /* a head came, and no end yet */
    bool skipped;      /* rows are not wanted until the next head */
};

struct file_name {
    char *name;
    bool listed; /* by a directory: it must be a regular file */
};

struct saved_files {
    struct saved_source source; /* must be first */
    struct file_name *names;
    size_t name_count, name_room;
    size_t next;   /* index of the next file to open */
    size_t opened; /* number of files that could be opened */
    struct open_file file;
    struct mark_head mark;
    struct decompress decompress;
    struct saved_maker *maker;
    struct json_row row;         /* read, but not passed on yet */
    struct json_member *members; /* a copy of its members, or NULL */
    bool has_row;
};

/* --- Names of files --------------------------------------------------------------------------- */

/* Adds a file. directory: that lists it, or NULL. */
static int files_add_name(struct saved_files *files, const char *directory, const char *name)
{
    struct file_name *place = ARRAY_ADD(files->names, files->name_count, files->name_room);
    const size_t size = strlen(directory ? directory : "") + strlen(name) + 2;

    if (!place)
        return -ENOMEM;
    *place = (struct file_name){malloc(size), directory};
    if (!place->name) {
        files->name_count--;
        return -ENOMEM;
    }
    snprintf(place->name, size, "%s%s%s", directory ? directory : "", directory ? "/" : "", name);
    return 0;
}

static int is_listed_name(const struct dirent *entry)
{
    const char *name = entry->d_name, *end = strrchr(name, '.');

    return end && *name != '.' &&
           (strcmp(end, ".json") == 0 || strcmp(end, ".ndjson") == 0 || decompress_is_needed(name));
}

/* alphasort(3) would depend on the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Adds a file, or the files of a directory, sorted by their names. Returns 0 or -ENOMEM. */
static int files_add(struct saved_files *files, const char *name, struct report *report)
{
    struct dirent **entries;
    struct stat status;
    int error = 0;

    if (strcmp(name, "-") == 0 || stat(name, &status) < 0 || !S_ISDIR(status.st_mode))
        return files_add_name(files, NULL, name);
    const int count = scandir(name, &entries, is_listed_name, compare_names);
    if (count < 0)
        report_loss(report, "%s: %s", name, strerror(errno));
    else if (!count)
        report_loss(report, "%s: no file with a name that ends with .json, .ndjson, .zst or .gz",
                    name);
    for (int i = 0; i < count; i++) {
        error = error ? error : files_add_name(files, name, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return error;
}

/* --- One file --------------------------------------------------------------------------------- */

/* Opens a file, as --proc-root does, with the rights of the user. Does not wait for the writer of a
 * FIFO that only a directory lists. */
static int file_open_named(const struct file_name *file)
{
    struct stat status;
    const bool is_stdin = !file->listed && strcmp(file->name, "-") == 0;
    rights_raise(RIGHT_READ); /* not lent: a user opens only files that he may read */
    const int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                            : proc_open(AT_FDCWD, file->name,
                                        O_RDONLY | O_NOCTTY | (file->listed ? O_NONBLOCK : 0));
    rights_lower();

    if (fd < 0)
        return is_stdin ? -errno : fd;
    if (fstat(fd, &status) == 0 &&
        (S_ISDIR(status.st_mode) || (file->listed && !S_ISREG(status.st_mode)))) {
        close(fd);
        return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
    }
    return fd;
}

static int file_open(struct saved_files *files, const struct file_name *named)
{
    struct open_file *file = &files->file;
    const int fd = file_open_named(named);
    const char *name = strcmp(named->name, "-") == 0 ? "stdin" : named->name;

    *file = (struct open_file){.name = name};
    mark_forget_head(&files->mark, file->name);
    return fd < 0 ? fd : row_file_open(&file->bytes, &files->decompress, name, fd);
}

/* Reports a listing without an end: rows may be missing. */
static void report_unended(struct open_file *file, struct report *report)
{
    if (file->headed && !file->skipped)
        report_loss(report, "%s: the listing has no end, so rows are missing after row %" PRIu64,
                    file->name, file->rows);
    file->headed = false;
}

/* Closes the file after its last row, and reports which rows are missing. */
static void file_end(struct open_file *file, struct report *report)
{
    report_unended(file, report);
    if (file->problems > PROBLEMS_MAX)
        report_loss(report, "%s: %" PRIu64 " more rows cannot be read", file->name,
                    file->problems - PROBLEMS_MAX);
    row_file_close(&file->bytes, report);
}

static void report_row(struct open_file *file, uint64_t line, const char *problem,
                       struct report *report)
{
    if (file->problems++ < PROBLEMS_MAX)
        report_loss(report, "%s: line %" PRIu64 ": %s", file->name, line, problem);
}

static void report_broken(struct open_file *file, struct report *report)
{
    uint64_t line = 0;
    const char *problem = json_reader_problem(file->bytes.reader, &line);

    report_row(file, line, problem, report);
}

/* --- Marks ------------------------------------------------------------------------------------ */

/* Reports why rows after a head are not wanted. Returns true if they are wanted. */
static bool head_is_wanted(const struct saved_files *files, const struct kind *kind,
                           struct report *report)
{
    const struct mark_head *mark = &files->mark;
    const struct kind *wanted = files->source.kind;
    const char *file = files->file.name;
    const uint64_t line = files->row.line;

    if (mark->segment)
        report_loss(report, "%s: this is a part of a recording (try --record=DIR --at=TIME)", file);
    else if (mark->format > SAVED_FORMAT)
        report_loss(report,
                    "%s: line %" PRIu64 ": format %" PRIu64
                    " is newer than this fastnet, which reads format %d",
                    file, line, mark->format, SAVED_FORMAT);
    else if (!mark->format || !kind)
        report_loss(report, "%s: line %" PRIu64 ": rows of an unknown kind", file, line);
    else if (wanted && strcmp(kind->name, wanted->name) != 0)
        report_loss(report, "%s: line %" PRIu64 ": rows of another kind: %s, not %s", file, line,
                    kind->name, wanted->name);
    else
        return true;
    return false;
}

static int files_take_head(struct saved_files *files, struct report *report)
{
    struct open_file *file = &files->file;

    report_unended(file, report);
    if (mark_take_head(&files->mark, &files->row, file->name) < 0)
        return -ENOMEM;
    const struct kind *kind = kind_by_name(as_text(files->mark.kind_name));
    file->headed = true;
    file->rows = 0;
    file->skipped = !head_is_wanted(files, kind, report);
    if (!file->skipped && !files->source.kind)
        files->source.kind = kind;
    files->mark.head.kind = kind;
    if (files->maker)
        saved_maker_set_head(files->maker, &files->mark.head);
    return 0;
}

static void files_take_end(struct saved_files *files, struct report *report)
{
    struct open_file *file = &files->file;
    uint64_t rows = 0;
    const bool counted = mark_number(&files->row, "rows", &rows);

    if (!file->headed)
        report_loss(report, "%s: line %" PRIu64 ": an end without a head", file->name,
                    files->row.line);
    else if (!file->skipped && !file->problems && (!counted || rows != file->rows))
        report_loss(report,
                    "%s: line %" PRIu64 ": the listing had %" PRIu64
                    " rows, and the file has %" PRIu64,
                    file->name, files->row.line, rows, file->rows);
    else if (!file->skipped && !mark_is_true(&files->row, "complete"))
        report_loss(report, "%s: the listing was incomplete when it was saved", file->name);
    file->headed = false;
}

/* Handles a mark. Returns 0 or -ENOMEM. */
static int files_take_mark(struct saved_files *files, struct report *report)
{
    if (mark_is_named(&files->row, "head"))
        return files_take_head(files, report);
    if (mark_is_named(&files->row, "end"))
        files_take_end(files, report);
    else if (!files->file.skipped)
        report_loss(report, "%s: line %" PRIu64 ": a mark that this fastnet does not understand",
                    files->file.name, files->row.line);
    return 0;
}

/* --- The kind of rows without a head ---------------------------------------------------------- */

/* The number of columns that a group of --count-by has after the columns of its kind, and that
 * begin with the column of counts; 0: the row is no group of this kind. */
static size_t group_columns(const struct kind *kind, const struct json_row *row)
{
    const struct json_member *count = mark_member(row, field_count.name);

    return !count || field_named(kind, field_count.name)
               ? 0
               : row->count - (size_t)(count - row->members);
}

/* The number of columns of a row that its kind does not have. */
static size_t count_strange(const struct kind *kind, const struct json_row *row)
{
    const size_t own = row->count - group_columns(kind, row);
    size_t strange = 0;

    for (size_t i = 0; i < own; i++) {
        const struct text key = json_key(row, &row->members[i]);
        const struct field *field = field_find(kind, key.data, key.length);
        strange += !field || !field_is_named(field, key.data, key.length);
    }
    return strange;
}

/* True if at most half of the columns are strange: a program may have added columns. */
static bool fits_kind(const struct kind *kind, const struct json_row *row)
{
    return row->count && 2 * count_strange(kind, row) <= row->count;
}

/* Finds the kind that has all columns of the first row. hint: the kind that the command lists, or
 * NULL. Returns NULL after a report. */
static const struct kind *find_kind(const struct saved_files *files, const struct kind *hint,
                                    struct report *report)
{
    const struct json_row *row = &files->row;
    const struct kind *found = NULL, *kind;
    char names[REPORT_LENGTH / 2] = "";
    size_t count = 0;

    if (hint && row->count && !count_strange(hint, row))
        return hint;
    for (size_t i = 0; row->count && (kind = kind_at(i)); i++)
        if (!count_strange(kind, row)) {
            found = kind;
            count++;
            (void)text_list(names, sizeof names, ", ", as_text(kind->name));
        }
    if (count == 1)
        return found;
    if (hint && fits_kind(hint, row))
        return hint;
    report_loss(report,
                count
                    ? "%s: the columns fit several kinds of rows: %s; name the command that lists "
                      "them, such as fastnet s --from=FILE"
                    : "%s: the columns are those of no listing of fastnet%s",
                files->file.name, names);
    return NULL;
}

/* Checks that a row has columns of the wanted kind, if it has another number of columns than the
 * row before. Returns false after a report. */
static bool file_fits(struct saved_files *files, struct report *report)
{
    struct open_file *file = &files->file;

    if (files->mark.head.counted && !mark_member(&files->row, field_count.name)) {
        report_row(file, files->row.line, "the row is not a group", report);
        return false;
    }
    if (!files->source.kind || files->mark.head.counted || file->columns == files->row.count)
        return true;
    if (!fits_kind(files->source.kind, &files->row)) {
        report_row(file, files->row.line,
                   files->row.count ? "the row has another kind" : "the row has no column", report);
        return false;
    }
    file->columns = files->row.count;
    return true;
}

/* --- Groups ----------------------------------------------------------------------------------- */

/* True if `words`, separated by commas, have the column with the length of a network after it. */
static bool is_network(const char *words, struct text column)
{
    bool found = false;

    for (struct text word; !found && text_next(&words, ',', &word);)
        found = word.length > column.length && word.data[column.length] == '/' &&
                memcmp(word.data, column.data, column.length) == 0;
    return found;
}

/* Cuts values of networks that rows were counted by: a network becomes its address, of which
 * --count-by makes the network again. Returns 0 or -ENOMEM. */
static int files_cut_networks(struct saved_files *files)
{
    struct json_row *row = &files->row;

    if (!files->members)
        files->members = malloc(JSON_MEMBERS_MAX * sizeof *files->members);
    if (!files->members)
        return -ENOMEM;
    memcpy(files->members, row->members, row->count * sizeof *files->members);
    for (size_t i = 0; i < row->count; i++) {
        struct json_member *member = &files->members[i];
        const char *value = row->text + member->value, *slash = memchr(value, '/', member->length);
        if (slash && is_network(files->mark.head.count_by, json_key(row, member)))
            member->length = (uint32_t)(slash - value);
    }
    row->members = files->members;
    return 0;
}

/* Writes the keys of members to *end, joined by commas and without shares. Moves *end. */
static const char *join_keys(const struct json_row *row, size_t first, size_t last, char **end)
{
    static const char share[] = "_percent";
    const char *const joined = *end;

    for (size_t i = first; i < last; i++) {
        const struct text key = json_key(row, &row->members[i]);
        if (key.length >= strlen(share) && first &&
            memcmp(key.data + key.length - strlen(share), share, strlen(share)) == 0)
            continue;
        if (*end > joined)
            *(*end)++ = ',';
        memcpy(*end, key.data, key.length);
        *end += key.length;
    }
    *(*end)++ = '\0';
    return joined;
}

/* Groups without a head: the columns before the count are those of --count-by, if any, the columns
 * after it are sums and shares. Returns 0 or -ENOMEM. */
static int files_guess_groups(struct saved_files *files)
{
    const struct json_row *row = &files->row;
    const size_t more = group_columns(files->source.kind, row), own = row->count - more;
    struct mark_head *mark = &files->mark;
    size_t size = 2;
    char *end;

    if (!more || files->file.headed || mark->head.counted)
        return 0;
    for (size_t i = 0; i < row->count; i++)
        size += row->members[i].key_length + 1;
    mark->texts = malloc(size);
    if (!mark->texts)
        return -ENOMEM;
    end = mark->texts;
    mark->head.counted = true;
    mark->head.count_by = join_keys(row, 0, own, &end);
    mark->head.sum = join_keys(row, own + 1, row->count, &end);
    mark->head.percent = mark_member(row, "count_percent");
    return 0;
}

/* Opens the next file that can be opened. Returns 1, 0 after the last file, or -ENOMEM. */
static int files_open_next(struct saved_files *files, struct report *report)
{
    while (files->next < files->name_count) {
        const int error = file_open(files, &files->names[files->next++]);
        if (error == -ENOMEM)
            return error;
        if (!error && files->maker)
            saved_maker_set_head(files->maker, &files->mark.head);
        files->opened += !error;
        if (!error)
            return 1;
        report_loss(report, "%s: %s", files->file.name,
                    error == -EINVAL ? "is not a regular file" : strerror(-error));
    }
    return 0;
}

/* Reads one row, mark, or end of a file. Returns 1, 0 at the end of the last file, or -ENOMEM. Sets
 * files->has_row if it is a row that is wanted. */
static int files_step(struct saved_files *files, struct report *report)
{
    struct open_file *file = &files->file;

    if (!file->bytes.reader)
        return files_open_next(files, report);
    const int result = json_reader_next(file->bytes.reader, &files->row);
    if (result == -ENOMEM)
        return result;
    if (result == -EBADMSG) {
        report_broken(file, report);
    } else if (result <= 0) {
        if (result < 0)
            report_loss(report, "%s: %s", file->name, strerror(-result));
        else if (json_reader_is_empty(file->bytes.reader))
            report_loss(report, "%s: is empty, so rows may be missing (a saved listing has a head)",
                        file->name);
        file_end(file, report);
    } else if (mark_is(&files->row)) {
        return files_take_mark(files, report) < 0 ? -ENOMEM : 1;
    } else if (!file->skipped) {
        file->rows++;
        files->has_row = file_fits(files, report);
        if (file->rows == 1 && files->source.kind)
            return files_guess_groups(files) < 0 ? -ENOMEM : 1;
    }
    return 1;
}

/* Reads the next row that is wanted into files->row. Returns as files_step(). */
static int files_next(struct saved_files *files, struct report *report)
{
    int result = 1;

    while (result > 0 && !files->has_row)
        result = files_step(files, report);
    return result;
}

static int files_pass(struct saved_files *files, record_fn fn, void *arg)
{
    struct record record;

    files->has_row = false;
    if (strchr(files->mark.head.count_by, '/') && files_cut_networks(files) < 0)
        return -ENOMEM;
    if (!saved_maker_record(files->maker, &files->row, &record))
        return -ENOMEM;
    return fn(&record, arg);
}

static int files_read(struct saved_source *source, const struct query *query, record_fn fn,
                      void *arg)
{
    struct saved_files *files = (struct saved_files *)source;
    int result;

    if (!files->maker) {
        files->maker = saved_maker_create(source->kind);
        if (!files->maker)
            return -ENOMEM;
        saved_maker_set_head(files->maker, &files->mark.head);
    }
    while ((result = files_next(files, query->report)) > 0) {
        result = files_pass(files, fn, arg);
        if (result < 0)
            break;
    }
    return result;
}

/* --- The source ------------------------------------------------------------------------------- */

static bool files_have(const struct saved_source *source, const char *column)
{
    const struct saved_files *files = (const struct saved_files *)source;

    return files->has_row && (!column || mark_member(&files->row, column));
}

static void files_destroy(struct saved_source *source)
{
    struct saved_files *files = (struct saved_files *)source;

    if (files->file.bytes.reader)
        row_file_close(&files->file.bytes, NULL);
    decompress_finish(&files->decompress);
    saved_maker_destroy(files->maker);
    mark_forget_head(&files->mark, "");
    for (size_t i = 0; i < files->name_count; i++)
        free(files->names[i].name);
    free(files->names);
    free(files->members);
    free(files);
}

/* Reads the first row, or the head of a listing without rows. Returns 0, or -1 after a report. */
static int files_begin(struct saved_files *files, const struct kind *kind, struct report *report)
{
    bool is_compressed = false;

    for (size_t i = 0; i < files->name_count; i++)
        is_compressed |= decompress_is_needed(files->names[i].name);
    if (is_compressed && decompress_begin(&files->decompress) < 0)
        return -1;
    const int result = files_next(files, report);
    if (result < 0) {
        report_loss(report, "%s", strerror(-result));
        return -1;
    }
    if (files->source.kind)
        return 0;
    if (files->has_row)
        files->source.kind = find_kind(files, kind, report);
    if (files->has_row && files->source.kind)
        return files_guess_groups(files);
    if (files->has_row)
        return -1;
    if (kind && files->opened)
        files->source.kind = kind;
    else if (!report->partial)
        report_loss(report,
                    "%s: no row and no head, so the kind of its rows is unknown; name the command "
                    "that lists them, such as fastnet s --from=FILE",
                    files->file.name);
    return files->source.kind ? 0 : -1;
}

struct saved_source *saved_files_open(const char *const *names, size_t count,
                                      const struct kind *kind, struct report *report)
{
    struct saved_files *files = calloc(1, sizeof *files);
    int error = files ? 0 : -ENOMEM;

    if (files) {
        files->source = (struct saved_source){.read = files_read,
                                              .head = &files->mark.head,
                                              .has = files_have,
                                              .destroy = files_destroy};
        files->decompress.socket = -1;
        mark_forget_head(&files->mark, "");
    }
    rights_raise(RIGHT_READ);
    for (size_t i = 0; i < count && !error; i++)
        error = files_add(files, names[i], report);
    rights_lower();
    if (error)
        report_loss(report, "%s", strerror(-error));
    else if (files_begin(files, kind, report) == 0)
        return &files->source;
    if (files)
        files_destroy(&files->source);
    return NULL;
}

void saved_source_close(struct saved_source *source)
{
    if (source)
        source->destroy(source);
}
