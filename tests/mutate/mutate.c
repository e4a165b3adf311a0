/* SPDX-License-Identifier: MIT */
/*
 * Runs the program again and again on input that is mutated, and tells what must never be: a crash,
 * a sanitizer's report, a run of more than ten seconds, an exit status other than 0 and 1 (of the
 * doctor also 10 and 20), JSON or CSV that is not valid, control bytes.
 *
 *     mutate netlink LISTINGS DIRECTORY INTERPOSER    with INTERPOSER between it and netlink
 *     mutate tree LISTINGS DIRECTORY TREE...          with --proc-root, mutated copies of the TREEs
 *
 * LISTINGS has a command line in each line, in words; one that begins with "tabs:" has tabs in its
 * layout. DIRECTORY takes what the current run reads and writes; after a finding it stays there, in
 * a directory named after the seed, and a run with that seed reads it again. From the environment:
 *
 *     FASTNET, HELPERS   the program, and the directory of the helpers
 *     SEED               the first run's seed; the next run has the next number
 *     RUNS               how many runs; without it
 *     MUTATE_SECONDS     how long
 *     AGAIN              what is printed to repeat a run, with SEED=NUMBER RUNS=1 behind it
 */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "chance.h"
#include "tree.h"
#include "trial.h"

enum { LISTINGS_MAX = 256, FINDINGS_MAX = 32, LINE_SIZE = 1024, REPORT_LINES = 12 };

struct finding {
    char what[LINE_SIZE];
    unsigned long times;
};

struct campaign {
    bool netlink;
    char listings[LISTINGS_MAX][LINE_SIZE];
    size_t listing_count;
    const char *directory;
    const char *interposer;
    char **trees;
    size_t tree_count;
    uint64_t seed;        /* of the current run */
    char run[PATH_MAX];   /* its files */
    char kept[PATH_MAX];  /* where they stay after a finding */
    char input[PATH_MAX]; /* the tree, or what the kernel sent */
    bool repeated;        /* the input is there from an earlier run */
    unsigned long runs, mutated;
    struct finding findings[FINDINGS_MAX];
    size_t finding_count;
};

static const char *needed(const char *name)
{
    const char *value = getenv(name);

    if (!value || !*value)
        errx(2, "%s is not set", name);
    return value;
}

/* 0 where it is not set. */
static uint64_t number_of(const char *name)
{
    const char *value = getenv(name);
    char *end = NULL;
    uint64_t number;

    if (!value || !*value)
        return 0;
    errno = 0;
    number = strtoull(value, &end, 10);
    if (errno || *end)
        errx(2, "%s is no number: %s", name, value);
    return number;
}

static void path_join(char path[static PATH_MAX], const char *directory, const char *name)
{
    if (snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX)
        errx(2, "%s: its name is too long", directory);
}

static void read_listings(struct campaign *campaign, const char *path)
{
    char line[LINE_SIZE] = "";
    FILE *file = fopen(path, "re");

    if (!file)
        err(2, "%s", path);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (campaign->listing_count == LISTINGS_MAX)
            errx(2, "%s: too many listings", path);
        memcpy(campaign->listings[campaign->listing_count++], line, sizeof line);
    }
    fclose(file);
    if (!campaign->listing_count)
        errx(2, "%s: no listing", path);
}

/* --- Findings --------------------------------------------------------------------------------- */

/* As details of a finding; control bytes are left out, because they may be what was found. */
static void print_file(const char *path, size_t lines)
{
    char line[LINE_SIZE];
    FILE *file = fopen(path, "re");

    if (!file)
        return;
    while (lines-- > 0 && fgets(line, sizeof line, file)) {
        fputs("#   ", stdout);
        for (const char *next = line; *next; next++)
            if (*next >= ' ' && *next <= '~')
                putchar(*next);
        putchar('\n');
    }
    fclose(file);
}

/* A sanitizer's last line says which problem it is, and where: "SUMMARY: ...". */
static void read_summary(const char *path, char what[static LINE_SIZE])
{
    char line[LINE_SIZE];
    FILE *file = fopen(path, "re");

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "SUMMARY: ", 9) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(what, LINE_SIZE, "%s", line + 9);
        }
    if (file)
        fclose(file);
}

/* Returns whether it is a new one. */
static bool note(struct campaign *campaign, const char *what)
{
    size_t i = 0;

    while (i < campaign->finding_count && strcmp(campaign->findings[i].what, what) != 0)
        i++;
    if (i == FINDINGS_MAX)
        return false;
    campaign->findings[i].times++;
    if (i < campaign->finding_count)
        return false;
    snprintf(campaign->findings[i].what, LINE_SIZE, "%s", what);
    campaign->finding_count++;
    return true;
}

static void tell(struct campaign *campaign, const struct trial *trial, const char *listing)
{
    char what[LINE_SIZE], report[PATH_MAX];

    snprintf(what, sizeof what, "%s: %s", listing, trial->reason);
    path_join(report, campaign->run, trial->report[0] ? trial->report : "err");
    if (trial->report[0])
        read_summary(report, what);
    if (!note(campaign, what))
        return;
    printf("not ok %s\n# fastnet %s: %s\n", what, listing, trial->reason);
    print_file(report, REPORT_LINES);
    if (!campaign->repeated) {
        tree_remove(campaign->kept);
        if (rename(campaign->run, campaign->kept) < 0)
            err(2, "%s", campaign->kept);
    }
    printf("# what it read and wrote: %s\n# again: %s SEED=%llu RUNS=1\n", campaign->kept,
           needed("AGAIN"), (unsigned long long)campaign->seed);
}

/* --- Runs ------------------------------------------------------------------------------------- */

/* The program's environment, which jsonlint has, too; but that asks no netlink. */
static void prepare_netlink(const struct campaign *campaign)
{
    char number[32], trace[PATH_MAX];

    snprintf(number, sizeof number, "%llu", (unsigned long long)campaign->seed);
    path_join(trace, campaign->run, "trace");
    setenv("LD_PRELOAD", campaign->interposer, 1);
    setenv("MUTATE_SEED", number, 1);
    setenv("MUTATE_TRACE", trace, 1);
    setenv(campaign->repeated ? "MUTATE_REPLAY" : "MUTATE_RECORD", campaign->input, 1);
    unsetenv(campaign->repeated ? "MUTATE_RECORD" : "MUTATE_REPLAY");
}

static void prepare_tree(const struct campaign *campaign)
{
    struct chance chance = {campaign->seed};
    const size_t which = chance_below(&chance, campaign->tree_count);

    if (!campaign->repeated)
        tree_mutate(campaign->trees[which], campaign->input, &chance);
}

static void prepare(struct campaign *campaign)
{
    const char *input = campaign->netlink ? "datagrams" : "tree";
    char number[32];

    snprintf(number, sizeof number, "%llu", (unsigned long long)campaign->seed);
    path_join(campaign->run, campaign->directory, "run");
    path_join(campaign->kept, campaign->directory, number);
    path_join(campaign->input, campaign->kept, input);
    campaign->repeated = access(campaign->input, F_OK) == 0;
    if (!campaign->repeated)
        path_join(campaign->input, campaign->run, input);
    tree_remove(campaign->run);
    if (mkdir(campaign->run, 0755) < 0)
        err(2, "%s", campaign->run);
    if (campaign->netlink)
        prepare_netlink(campaign);
    else
        prepare_tree(campaign);
}

/* Returns how many words there are then. */
static size_t split(char *line, char **words, size_t count)
{
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        if (count == WORDS_MAX - 1)
            errx(2, "too many words in a listing");
        words[count++] = word;
    }
    return count;
}

/* The words of a listing, and of one of a tree the option that names it. */
static bool run_listing(const struct campaign *campaign, struct trial *trial, const char *listing)
{
    char program[PATH_MAX], line[LINE_SIZE], option[PATH_MAX + sizeof "--proc-root="];
    size_t count = 0;

    snprintf(program, sizeof program, "%s", needed("FASTNET"));
    snprintf(line, sizeof line, "%s", listing);
    snprintf(option, sizeof option, "--proc-root=%s", campaign->input);
    trial->words[count++] = program;
    count = split(line, trial->words, count);
    if (!campaign->netlink)
        trial->words[count++] = option;
    trial->words[count] = NULL;
    return trial_run(trial);
}

static bool was_mutated(const struct campaign *campaign)
{
    char trace[PATH_MAX];
    struct stat status;

    path_join(trace, campaign->run, "trace");
    return !campaign->netlink || (stat(trace, &status) == 0 && status.st_size > 0);
}

static void run_once(struct campaign *campaign)
{
    static const char tabs[] = "tabs: ";
    const char *listing = campaign->listings[campaign->seed % campaign->listing_count];
    struct trial trial = {.directory = campaign->run, .helpers = needed("HELPERS")};
    bool well;

    trial.tabs = strncmp(listing, tabs, strlen(tabs)) == 0;
    if (trial.tabs)
        listing += strlen(tabs);
    prepare(campaign);
    well = run_listing(campaign, &trial, listing);
    campaign->runs++;
    campaign->mutated += was_mutated(campaign);
    if (!well)
        tell(campaign, &trial, listing);
}

static void run_all(struct campaign *campaign)
{
    const uint64_t runs = number_of("RUNS");
    const uint64_t first = campaign->seed;
    const time_t end = time(NULL) + (time_t)number_of("MUTATE_SECONDS");

    while (runs ? campaign->runs < runs : time(NULL) < end) {
        campaign->seed = first + campaign->runs;
        run_once(campaign);
    }
}

/* A mutator that mutates nothing finds nothing. */
static bool judge(const struct campaign *campaign, const char *name)
{
    printf("# %lu runs of %zu listings, %lu of them with mutated input\n", campaign->runs,
           campaign->listing_count, campaign->mutated);
    for (size_t i = 0; i < campaign->finding_count; i++)
        printf("# %lu times: %s\n", campaign->findings[i].times, campaign->findings[i].what);
    if (!campaign->mutated && !number_of("RUNS")) {
        printf("not ok %s: no input was mutated\n", name);
        return false;
    }
    if (!campaign->finding_count)
        printf("ok %s\n", name);
    return !campaign->finding_count;
}

int main(int argc, char *argv[])
{
    static struct campaign campaign;
    sigset_t child;
    uint32_t number;

    if (argc < 5)
        errx(2, "usage: mutate netlink|tree LISTINGS DIRECTORY INTERPOSER|TREE...");
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    campaign.seed = number_of("SEED");
    campaign.netlink = strcmp(argv[1], "netlink") == 0;
    read_listings(&campaign, argv[2]);
    campaign.directory = argv[3];
    campaign.interposer = argv[4];
    campaign.trees = argv + 4;
    campaign.tree_count = (size_t)(argc - 4);
    if (!campaign.seed && getrandom(&number, sizeof number, 0) == sizeof number)
        campaign.seed = number;
    printf("# SEED=%llu\n", (unsigned long long)campaign.seed);
    run_all(&campaign);
    return judge(&campaign, argv[1]) ? 0 : 1;
}
