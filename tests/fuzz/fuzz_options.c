/*
 * Command lines: words, each up to a NUL byte, go through netstat's parser and what comes of it.
 * What it prints is thrown away.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/netstat_options.h"
#include "cli/personality.h"
#include "fuzz.h"

enum { WORDS_MAX = 64 };

static void silence(void)
{
    static FILE *nowhere;

    if (nowhere)
        return;
    nowhere = fopen("/dev/null", "w");
    require(nowhere != NULL);
    stdout = nowhere;
    stderr = nowhere;
}

static int split(char *text, size_t size, char *words[])
{
    char *at = text;
    int count = 1;

    while (at < text + size && count < WORDS_MAX) {
        words[count++] = at;
        at += strlen(at) + 1;
    }
    return count;
}

static void check(const struct netstat_options *options, int status, int done)
{
    require(status >= STATUS_OK && status <= STATUS_MISUSE);
    if (status != STATUS_OK || done)
        return;
    require(!options->continuous || (options->interval_ms > 0));
    require(options->other_tables <= 1);
    require(!options->tcp || options->inet || options->inet6);
}

static void resolve(struct netstat_options *options)
{
    const struct column *defaults[] = {column_find(RECORD_SOCKET, "proto", 5)};
    struct listing listing = {.tables = NULL};
    bool done = false;
    int status;

    status =
        common_resolve(&options->common, RECORD_SOCKET, defaults, 1, &listing, "netstat", &done);
    require(status == STATUS_OK || status == STATUS_MISUSE || status == STATUS_FAILURE);
    if (status != STATUS_OK || done)
        return;
    require(options->common.shown_count > 0 && options->common.shown_count <= LISTING_COLUMNS_MAX);
    for (size_t i = 0; i < options->common.shown_count; i++)
        require(options->common.shown[i] != NULL);
    require(listing.proc_root != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char program[] = "netstat";
    char *words[WORDS_MAX + 1] = {program}, *text = malloc(size + 1);
    struct netstat_options options = {.all = false};
    bool done = false;
    int status;

    require(text != NULL);
    silence();
    memcpy(text, data, size);
    text[size] = '\0';
    status = netstat_parse(&options, split(text, size, words), words, &done);
    check(&options, status, done);
    if (status == STATUS_OK && !done)
        resolve(&options);
    free(text);
    return 0;
}
