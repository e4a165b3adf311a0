/*
 * Words that are no options: netstat takes none. As fastnet they are an error that says what was
 * probably meant; as netstat they are ignored, as there.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/nearest.h"
#include "cli/netstat/netstat.h"
#include "cli/options.h"
#include "cli/where/parser.h"
#include "fastnet/array.h"
#include "fastnet/field.h"

enum { MEANT_MAX = 160 };

/* What other tools, or habits, call the same; what is to be typed here. */
static const struct {
    const char *word, *meant;
} habits[] = {
    {"neighbour", "fastnet neigh"}, {"neighbours", "fastnet neigh"}, {"neighbor", "fastnet neigh"},
    {"neighbors", "fastnet neigh"}, {"flows", "fastnet conntrack"},  {"sockets", "fastnet ss"},
    {"routes", "fastnet -r"},       {"route", "fastnet -r"},         {"interfaces", "fastnet -i"},
    {"link", "fastnet -i"},         {"statistics", "fastnet -s"},    {"lsof", "fastnet -tuap"},
    {"listening", "fastnet -l"},    {"processes", "fastnet -p"},     {"continuous", "fastnet -c"},
};

static bool is_number(const char *word, unsigned long most)
{
    const size_t digits = strspn(word, "0123456789");

    return digits > 0 && digits <= 5 && !word[digits] && strtoul(word, NULL, 10) <= most;
}

/* An address, or a network. */
static bool is_host(const char *word)
{
    struct in6_addr address;
    char host[INET6_ADDRSTRLEN];
    const size_t length = strcspn(word, "/");
    const char *prefix = word[length] ? word + length + 1 : "0";

    if (length >= sizeof host)
        return false;
    memcpy(host, word, length);
    host[length] = '\0';
    return (inet_pton(AF_INET, host, &address) == 1 && is_number(prefix, 32)) ||
           (inet_pton(AF_INET6, host, &address) == 1 && is_number(prefix, 128));
}

/* The state of that name, in any case and with '-' or '_'; or NULL. */
static const char *state_named(const char *word)
{
    struct nearest nearest = nearest_to(word, strlen(word));

    nearest.distance = 1; /* none other will do */
    for (uint64_t number = 0; number <= UINT8_MAX; number++) {
        const char *name = where_word(field_named(&kind_socket, "state"), number);
        if (name)
            nearest_offer(&nearest, name);
    }
    return nearest.word;
}

/* The command, or the long option, that is nearest to the word. */
static bool name_nearest(const struct common *common, const char *word, char meant[MEANT_MAX])
{
    struct nearest command = nearest_to(word, strlen(word)), option = command;
    const struct option *known;

    for (size_t i = 0; common->words[i]; i++)
        nearest_offer(&command, common->words[i]->name);
    for (size_t i = 0; (known = options_at(common->grammar->tables, i)); i++)
        if (known->name && known->help)
            nearest_offer(&option, known->name);
    if (command.word && (!option.word || command.distance <= option.distance))
        snprintf(meant, MEANT_MAX, "fastnet %s", command.word);
    else if (option.word)
        snprintf(meant, MEANT_MAX, "--%s", option.word);
    return command.word || option.word;
}

/* What can be typed in place of the word; false if nobody knows. next: the operand behind it. */
static bool guess(const struct netstat_options *options, const char *word, const char *next,
                  char meant[MEANT_MAX])
{
    const char *port = *word == ':' ? word + 1 : word;
    const char *state = state_named(next && strcmp(word, "state") == 0 ? next : word);
    char typed[TYPED_MAX];

    for (size_t i = 0; i < COUNT(habits); i++)
        if (strcasecmp(habits[i].word, word) == 0) {
            snprintf(meant, MEANT_MAX, "%s", habits[i].meant);
            return true;
        }
    if (is_number(port, UINT16_MAX))
        snprintf(meant, MEANT_MAX, "--port=%s", port);
    else if (is_host(word))
        snprintf(meant, MEANT_MAX, "--host=%s", word);
    else if (state)
        snprintf(meant, MEANT_MAX, "--state=%s", state);
    else if (options->symbolic && isalpha((unsigned char)*word))
        snprintf(meant, MEANT_MAX, "fastnet ss -N %.80s", options_typed(typed, word, strlen(word)));
    else if (name_nearest(&options->common, word, meant))
        return true;
    else if (options->continuous)
        snprintf(meant, MEANT_MAX, "-c 5");
    else
        return false;
    return true;
}

int netstat_operands(const struct netstat_options *options)
{
    const char *word = options->operands[0];
    char typed[TYPED_MAX], meant[MEANT_MAX];

    if (!word)
        return 0;
    options_typed(typed, word, strlen(word));
    if (!options->common.words) {
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "%s: '%s' is ignored, as netstat ignores what is no option\n",
                    options->common.program, typed);
        return 0;
    }
    if (guess(options, word, options->operands[1], meant))
        return common_misuse(&options->common, "unexpected '%s'; did you mean %s?", typed, meant);
    return common_misuse(&options->common, "unexpected '%s'", typed);
}
