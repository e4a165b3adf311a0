/* SPDX-License-Identifier: MIT */
/*
 * Words that are not options: any word is a filter, which --where reads and writes, or is refused
 * with one line that a terminal can show. No row is met by a word and by its opposite. The input:
 * the kind, the length of the word, the word, a row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/words.h"
#include "fuzz.h"
#include "made_records.h"

static const struct context no_names;

enum { WORD_MAX = 255 };

static void require_line(const char *message)
{
    require(message[0] && strlen(message) < WHERE_MESSAGE);
    for (; *message; message++)
        require((unsigned char)*message >= ' ' && *message != 0x7f);
}

/* The filter of the word; NULL: it was refused, and the message is a line. */
static const struct predicate *filter_of(struct where *where, const struct kind *kind,
                                         const char *word)
{
    struct word_filter filter = {.kind = kind};
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    require(stream != NULL);
    const bool is_filter = words_put(&filter, word, stream);
    require(fclose(stream) == 0);
    const char *kept = where_keep(where, text);
    free(text);
    if (!is_filter) {
        require_line(filter.message);
        return NULL;
    }
    const struct predicate *predicate = where_parse(where, kind, kept);
    require(predicate != NULL);
    return predicate;
}

static void check_written(const struct kind *kind, const struct predicate *predicate,
                          const struct record *record)
{
    struct where where = {0};
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    require(stream != NULL);
    where_put(stream, predicate);
    require(fclose(stream) == 0);
    const struct predicate *again = where_parse(&where, kind, text);
    require(again != NULL);
    require(predicate_holds(again, record, &no_names) ==
            predicate_holds(predicate, record, &no_names));
    free(text);
    where_finish(&where);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const uint8_t number = bytes_u8(&bytes);
    const size_t length = bytes_u8(&bytes);
    char text[WORD_MAX + 2] = "!", *word = text + 1;
    struct where where = {0};
    struct made_record made;

    for (size_t i = 0; i < length; i++)
        word[i] = (char)bytes_u8(&bytes);
    made_record_init(&made, number, &bytes);
    const struct kind *kind = made.record.kind;
    const struct predicate *predicate = filter_of(&where, kind, word);
    if (predicate)
        check_written(kind, predicate, &made.record);
    if (predicate && *word && *word != '!') {
        const struct predicate *opposite = filter_of(&where, kind, text);
        require(opposite != NULL);
        check_written(kind, opposite, &made.record);
        require(!predicate_holds(predicate, &made.record, &no_names) ||
                !predicate_holds(opposite, &made.record, &no_names));
    }
    (void)words_have_name(kind, word);
    where_finish(&where);
    made_record_finish(&made);
    return 0;
}
