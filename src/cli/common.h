/* What every personality has besides its own options: other forms of output, and where to read. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/completion/completion.h"
#include "cli/options.h"
#include "fastnet/engine.h"

extern const struct option_table common_options;

enum output_format { FORMAT_PLAIN, FORMAT_JSON, FORMAT_NDJSON, FORMAT_CSV, FORMAT_CSV_SAFE };

/* Zeroed to start with. */
struct common {
    enum output_format format;
    const char *columns, *sort, *count_by; /* as typed, or NULL */
    const char *proc_root;                 /* NULL: /proc */
    const char *completion;                /* a shell, or NULL */
    bool no_header, exact;
    enum backend_choice backend;

    /* Filled by common_resolve(). */
    const struct field *shown[LISTING_COLUMNS_MAX];
    size_t shown_count;
    struct field counted[LISTING_COLUMNS_MAX]; /* the columns that --count-by makes */
};

/*
 * Takes an option of common_options; another one is left alone, *taken then stays false. Returns
 * 0, or an exit status after a line on stderr.
 */
int common_take(struct common *common, const struct option *option, const char *argument,
                const char *program, bool *taken);

/*
 * Turns names of columns into columns of this kind; without --columns, defaults are shown. Sets
 * what the listing owes to the common options: needs, sort, count_by, backend, proc_root, exact.
 * Returns 0, or an exit status after a line on stderr (--columns=help: STATUS_OK on stdout, with
 * *done set).
 */
int common_resolve(struct common *common, const struct kind *kind,
                   const struct field *const *defaults, size_t default_count,
                   struct listing *listing, const char *program, bool *done);

/* Appends the columns of these names, separated by blanks, to what is shown without --columns. */
void common_add_columns(const struct kind *kind, const char *names,
                        const struct field *columns[LISTING_COLUMNS_MAX], size_t *count);

/*
 * What --completion=SHELL asks for: a script for this grammar's name, or for fastnet with this
 * grammar where no personality is named. Returns an exit status.
 */
int common_complete(const struct common *common, const struct grammar *grammar, bool for_fastnet,
                    const char *program);

/* Whether rows go through columns, and not through the personality's own layout. */
bool common_uses_columns(const struct common *common);

/* The sink for rows that go through columns. NULL when memory is short. */
struct sink *common_sink(const struct common *common, struct writer *writer,
                         const struct context *context);

/* Whether states on stdout may be coloured: a terminal, NO_COLOR unset. */
bool common_colour(void);

#endif
