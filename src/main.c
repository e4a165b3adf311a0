/* SPDX-License-Identifier: MIT */
/* Finds the personality that the user asked for, and runs it. Its status is the exit status. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/common.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/personality.h"
#include "fastnet/array.h"
#include "fastnet/rights.h"

#ifndef FASTNET_COMMIT /* make defines it for this file only, because each commit changes it */
#define FASTNET_COMMIT "unknown"
#endif

/* Only traffic, doctor and record (by the doctor) read packets, only why connects as another
 * process, and only ss reads BPF maps. */
#define SOCKET_RIGHTS                                                                              \
    (RIGHTS_OF_NAMESPACES | (RIGHTS_ALL & ~(1u << RIGHT_PACKETS | RIGHTS_OF_ATTEMPTS)))
#define LISTING_RIGHTS (SOCKET_RIGHTS & ~(1u << RIGHT_MAPS))

static const struct personality {
    const char *name; /* the program's name, or the first argument; matched exactly */
    int (*run)(int argc, char *const argv[]);
    const struct grammar *grammar;
    unsigned rights; /* all rights that its listings may need (rights.h) */
} personalities[] = {
    {"netstat", netstat_run, &netstat_grammar, LISTING_RIGHTS},
    {"arp", arp_run, &arp_grammar, 1u << RIGHT_READ | RIGHTS_OF_NAMESPACES},
    {"neigh", neigh_run, &neigh_grammar, 1u << RIGHT_READ | RIGHTS_OF_NAMESPACES},
    {"conntrack", conntrack_run, &conntrack_grammar, LISTING_RIGHTS},
    {"ss", ss_run, &ss_grammar, SOCKET_RIGHTS},
    {"sockets", sockets_run, &sockets_grammar, LISTING_RIGHTS},
    {"s", sockets_run, &sockets_grammar, LISTING_RIGHTS},
    {"doctor", doctor_run, &doctor_grammar, LISTING_RIGHTS | 1u << RIGHT_PACKETS},
    {"why", why_run, &why_grammar, LISTING_RIGHTS | RIGHTS_OF_ATTEMPTS},
    {"diff", diff_run, &diff_grammar, SOCKET_RIGHTS | 1u << RIGHT_PACKETS},
    {"drops", drops_run, &drops_grammar, LISTING_RIGHTS},
    {"closed", closed_run, &closed_grammar, LISTING_RIGHTS},
    {"trace", trace_run, &trace_grammar, LISTING_RIGHTS},
    {"top", top_run, &top_grammar, LISTING_RIGHTS},
    {"traffic", traffic_run, &traffic_grammar, LISTING_RIGHTS | 1u << RIGHT_PACKETS},
    {"record", record_run, &record_grammar, LISTING_RIGHTS | 1u << RIGHT_PACKETS},
};

/* The words that may be the first argument of fastnet. */
static const struct grammar *const words[] = {
    &sockets_grammar, &doctor_grammar, &why_grammar,   &top_grammar,
    &traffic_grammar, &closed_grammar, &trace_grammar, &drops_grammar,
    &diff_grammar,    &record_grammar, &neigh_grammar, &conntrack_grammar,
    &netstat_grammar, &ss_grammar,     &arp_grammar,   NULL};

static const struct personality *find_personality(const char *name)
{
    for (size_t i = 0; i < COUNT(personalities); i++)
        if (strcmp(personalities[i].name, name) == 0)
            return &personalities[i];
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Answers the completion of a shell (completion.h). After fastnet, the first word may be a
 * personality; after help, it is the only word. */
static int main_complete(int count, char *const typed[])
{
    const struct personality *personality = find_personality(base_name(typed[0]));
    const bool is_fastnet = !personality;
    const bool is_help = is_fastnet && count == 3 && strcmp(typed[1], "help") == 0;

    if (is_fastnet && count > 2)
        personality = find_personality(typed[1]);
    if (is_fastnet && personality) {
        count--;
        typed++;
    }
    completion_offer(personality ? personality->grammar : &netstat_grammar, words,
                     is_fastnet && !personality && (count == 2 || is_help), count, typed, stdout);
    return fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILURE;
}

static int main_run(const struct personality *personality, int argc, char *argv[])
{
    rights_limit(personality->rights);
    return personality->run(argc, argv);
}

/* Runs fastnet with the words after its name, the first of which may name a personality. */
static int main_run_words(int argc, char *argv[])
{
    const struct personality *personality = argc > 1 ? find_personality(argv[1]) : NULL;

    if (!personality)
        return fastnet_run(argc, argv, words, FASTNET_COMMIT, main_run_words);
    argv[1] = argv[0];
    return main_run(personality, argc - 1, argv + 1);
}

/* Changes argv: `fastnet help COMMAND` becomes `fastnet COMMAND --help`, and `fastnet version`
 * becomes `fastnet --version`. Further words do not change the help. Returns the number of
 * arguments that are left; 0: the word after help is not a command. */
static int main_take_word(int argc, char *argv[])
{
    static char help[] = "--help", version[] = "--version";

    if (argc == 2 && strcmp(argv[1], "version") == 0)
        argv[1] = version;
    if (argc < 2 || strcmp(argv[1], "help") != 0)
        return argc;
    if (argc == 2 || strcmp(argv[2], "help") == 0 || strcmp(argv[2], help) == 0 ||
        strcmp(argv[2], "fastnet") == 0) {
        argv[1] = help;
        return 2;
    }
    if (!find_personality(argv[2]))
        return 0;
    argv[1] = argv[2];
    argv[2] = help;
    return 3;
}

/* Runs the personality, or without a personality fastnet with words. With --nagios, returns the
 * status of a monitoring plugin. Each failure becomes 3 (unknown), also a wrong command line: its
 * parser may have stopped before it read --nagios. */
static int main_answer(const struct personality *personality, int argc, char *argv[])
{
    enum { NAGIOS_WARNING = 1, NAGIOS_CRITICAL, NAGIOS_UNKNOWN };
    const struct personality *word = personality ? personality
                                     : argc > 1  ? find_personality(argv[1])
                                                 : NULL;
    const struct grammar *grammar = word ? word->grammar : &netstat_grammar;
    const int status = personality ? main_run(personality, argc, argv) : main_run_words(argc, argv);
    bool nagios = false;

    for (int i = 1; status != STATUS_OK && i < argc && !nagios; i++)
        nagios = options_is(grammar->tables, argv[i], OPTION_NAGIOS);
    return !nagios                    ? status
           : status == STATUS_WARNING ? NAGIOS_WARNING
           : status == STATUS_FAULT   ? NAGIOS_CRITICAL
                                      : NAGIOS_UNKNOWN;
}

int main(int argc, char *argv[])
{
    static char program[] = "fastnet", *no_arguments[] = {program, NULL};
    const struct personality *personality;

    if (rights_init() < 0) {
        fprintf(stderr, "fastnet: cannot set up descriptors and capabilities\n");
        return STATUS_FAILURE;
    }
    signal(SIGPIPE, SIG_IGN); /* write(2) returns EPIPE if the reader has left */
    signal(SIGXFSZ, SIG_IGN); /* write(2) returns EFBIG if the file may not grow */
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, the exit status of a child would be lost */
    if (argc < 1) {
        argc = 1;
        argv = no_arguments;
    }
    if (completion_is_asked(argc, argv)) {
        rights_limit(0);
        return main_complete(argc - 3, argv + 3);
    }
    personality = find_personality(base_name(argv[0]));
    if (personality) {
        static char names[16];
        snprintf(names, sizeof names, "%s", personality->name);
        argv[0] = names;
        return main_answer(personality, argc, argv);
    }
    argv[0] = program;
    argc = main_take_word(argc, argv);
    if (argc == 0) {
        rights_limit(0);
        return help_word(words, argv[2]);
    }
    return main_answer(NULL, argc, argv);
}
