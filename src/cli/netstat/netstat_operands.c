/* SPDX-License-Identifier: MIT */
/* Words that are not options. Under the name fastnet they are an error, which suggests a correct
 * command line. Under the name netstat they are ignored, as netstat ignores them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/filters.h"
#include "cli/misuse.h"
#include "cli/netstat/netstat.h"
#include "cli/options.h"
#include "cli/words.h"
#include "fastnet/array.h"
#include "fastnet/interfaces.h"
#include "fastnet/text.h"

/* Words that people know from other tools, and what they can type here instead. */
static const struct {
    const char *meant, *words;
} habits[] = {
    {"fastnet neigh", "neighbour neighbours neighbor neighbors"},
    {"fastnet conntrack", "flows"},
    {"fastnet -r", "route routes"},
    {"fastnet -i", "interfaces link"},
    {"fastnet -s", "statistics"},
    {"fastnet s", "connections conns list ls lsof ps"},
    {"fastnet s -l", "listening"},
    {"fastnet s -c", "watch"},
    {"fastnet -p", "processes"},
    {"fastnet -c", "continuous"},
    {"fastnet top", "bandwhich monitor nethogs"},
    {"fastnet traffic", "tcpdump"},
    {"fastnet doctor", "status"},
    {"fastnet help", "man"},
};

static bool is_habit(const char *word, char meant[FILTERS_MEANT])
{
    struct text known;

    for (size_t i = 0; i < COUNT(habits); i++)
        for (const char *words = habits[i].words; text_next(&words, ' ', &known);)
            if (known.length == strlen(word) && strncasecmp(known.data, word, known.length) == 0) {
                snprintf(meant, FILTERS_MEANT, "%s", habits[i].meant);
                return true;
            }
    return false;
}

/* Finds the command or the long option that is nearest to the word. */
static bool name_nearest(const struct common *common, const char *word, char meant[FILTERS_MEANT])
{
    struct misuse command = {.typed = as_text(word)}, option = command;
    const struct option *known;

    for (size_t i = 0; common->words[i]; i++)
        misuse_offer(&command, common->words[i]->name);
    for (size_t i = 0; (known = options_at(common->grammar->tables, i)); i++)
        if (known->name && known->help)
            misuse_offer(&option, known->name);
    if (command.meant.data && (!option.meant.data || command.distance <= option.distance))
        snprintf(meant, FILTERS_MEANT, "fastnet %s", command.meant.data);
    else if (option.meant.data)
        snprintf(meant, FILTERS_MEANT, "--%s", option.meant.data);
    return command.meant.data || option.meant.data;
}

/* Writes `fastnet s` with the word, which is a filter there. Returns false if it is no filter, or
 * if a terminal cannot show it. */
static bool meant_sockets(const char *word, char meant[FILTERS_MEANT])
{
    struct word_filter filter = {.kind = &kind_socket};
    FILE *stream = fmemopen(meant, FILTERS_MEANT - 1, "w");
    const char *at = word;

    while (*at >= ' ' && *at <= '~')
        at++;
    const bool is_filter = stream && !*at && words_put(&filter, word, stream);
    if (is_filter) {
        rewind(stream);
        text_put_word(stream, "fastnet s ", word);
        fputc('\0', stream);
    }
    return stream && fclose(stream) == 0 && is_filter;
}

/* Finds what can be typed instead of `word`, or returns false. next: the operand after `word`. */
static bool guess(const struct netstat_options *options, const char *word, const char *next,
                  char meant[FILTERS_MEANT])
{
    const char *filter = next && text_among("state port", word) ? next : word;
    char option[FILTERS_MEANT];
    uint32_t index;

    if (is_habit(word, meant))
        return true;
    if (filters_meant(options->kind, filter, option)) {
        if (!options->no_options)
            snprintf(meant, FILTERS_MEANT, "%s", option);
        else if (filter != word || words_have_name(&kind_socket, word) ||
                 !meant_sockets(word, meant))
            snprintf(meant, FILTERS_MEANT, "%s", MESSAGE_TEXT("fastnet s %s", option));
        return true;
    }
    if (interfaces_find(word, &index) == 0)
        snprintf(meant, FILTERS_MEANT, "-I=%s", TYPED(word));
    else if (options->symbolic && isalpha((unsigned char)*word))
        snprintf(meant, FILTERS_MEANT, "fastnet ss -N %s", TYPED(word));
    else if (name_nearest(&options->common, word, meant))
        return true;
    else if (options->common.interval_ms)
        snprintf(meant, FILTERS_MEANT, "-c 5");
    else
        return options->no_options && meant_sockets(word, meant);
    return true;
}

int netstat_operands(const struct netstat_options *options)
{
    const char *word = options->operands[0];
    char meant[FILTERS_MEANT];

    if (!word)
        return 0;
    if (!options->common.words) {
        if (isatty(STDERR_FILENO))
            fprintf(
                stderr,
                "%s: '%s' is ignored: like netstat, fastnet ignores words that are not options\n",
                options->common.program, TYPED(word));
        return 0;
    }
    const bool known = guess(options, word, options->operands[1], meant);
    common_misuse_of(&options->common, .wrong = "unexpected '%s'", .typed = as_text(word),
                     .meant = as_text(known ? meant : NULL));
    return STATUS_REFUSED; /* netstat has no status for it, because it ignores such words */
}
