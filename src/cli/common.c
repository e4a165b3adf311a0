/* SPDX-License-Identifier: MIT */
/* Messages, pages of text, and widths, which depend on the common options. */
#include "cli/common.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/writer.h"

const char *common_command(const struct common *common, char command[COMMON_COMMAND])
{
    const char *name = common->grammar->name;
    const bool by_name = strcmp(common->program, name) == 0;

    snprintf(command, COMMON_COMMAND, "%s%s", by_name ? "" : "fastnet ", name);
    return common->words ? "fastnet" : command;
}

void common_put_letters(FILE *stream, const struct option_table *table, unsigned group,
                        const struct common *common)
{
    const char *before = " -";

    for (size_t i = 0; i < table->count; i++) {
        const struct option *option = &table->options[i];
        if (option->group == group && option->letter && option->member &&
            *((const bool *)common + option->member)) {
            fprintf(stream, "%s%c", before, option->letter);
            before = "";
        }
    }
}

void common_put_filters(FILE *stream, const struct common *common)
{
    const struct filters *filters = &common->filters;

    for (size_t i = 0; i < filters->count; i++) {
        const bool is_word = filters->typed[i].option == &filters_word;
        fprintf(stream, " %s%s", is_word ? "" : "--", filters->typed[i].option->name);
        text_put_word(stream, is_word ? "" : "=", filters->typed[i].text);
    }
    if (common->netns)
        text_put_word(stream, " --netns=", common->netns);
    fputs(common->all_netns ? " --all-netns" : "", stream);
}

unsigned common_width(const struct common *common)
{
    struct winsize size;

    if (common->output || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}

bool common_is_metrics(const struct common *common)
{
    return common->format == FORMAT_PROMETHEUS || common->format == FORMAT_OPENMETRICS;
}

bool common_counts(const struct common *common)
{
    return common->count_by || common->sum || common->avg || common->min || common->max ||
           common->median || common->quantile || common->unknown || common->warn || common->crit;
}

bool common_uses_columns(const struct common *common)
{
    return common->format != FORMAT_PLAIN || common->columns || common_counts(common) ||
           common->human || common->delta || common->table;
}

/* A hosts_wait_fn: shows a line on stderr while names are looked up. */
static void show_waiting(size_t count, const char *name)
{
    if (count == 0)
        fputs("\r\033[K", stderr); /* erases the line */
    else if (name)
        fprintf(stderr, "looking up the address of %s...", TYPED_SHORT(name));
    else
        fprintf(stderr, "looking up names of %zu address%s...", count, count == 1 ? "" : "es");
}

bool common_can_erase(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

hosts_wait_fn common_waiting(void)
{
    return common_can_erase() ? show_waiting : NULL;
}

/* --- Errors ----------------------------------------------------------------------------------- */

enum { MESSAGE_MAX = 1024 };

/* True if the message names what to type, or a list of columns. --help would help less. */
static bool names_way_out(const char *message)
{
    static const char *const ways[] = {"=help", "; did you mean ", "(try ",
                                       "; for a process type "};
    bool found = false;

    for (size_t i = 0; i < COUNT(ways); i++)
        found |= strstr(message, ways[i]) != NULL;
    return found;
}

int common_refuse(const struct common *common, const struct misuse *misuse)
{
    const struct manner *manner = &common->grammar->manner;
    const char *own = misuse->help == HELP_OWN ? manner->help : NULL;
    struct misuse rest = *misuse;
    char message[MESSAGE_MAX], help[128] = "";

    if (own && manner->above && misuse->subject) {
        fprintf(stderr, "%s: %s: %s\n", common->program, misuse->subject, misuse->words);
        rest.subject = rest.words = NULL;
    }
    misuse_put(&rest, message, sizeof message);
    if (own || (misuse->help != HELP_NONE && !names_way_out(message))) {
        char command[COMMON_COMMAND];
        misuse_put_words(own ? own : " (see %s --help)", common_command(common, command), help,
                         sizeof help);
    }
    fprintf(stderr, "%s: %s%s\n", common->program, message, help);
    return manner->status ? manner->status : STATUS_REFUSED;
}

int common_complain(const struct common *common, enum misuse_help help, const char *format, ...)
{
    char message[MESSAGE_MAX];
    va_list arguments;

    va_start(arguments, format);
    text_print(message, sizeof message, format, arguments);
    va_end(arguments);
    return common_misuse_of(common, .wrong = message, .help = help);
}

const char *common_original(const char *name, char path[ORIGINAL_SIZE])
{
    static const char *const directories[] = {"/usr/sbin", "/usr/bin", "/sbin", "/bin"};
    struct stat self = {.st_ino = 0}, found;

    (void)!stat("/proc/self/exe", &self);
    for (size_t i = 0; i < COUNT(directories); i++) {
        snprintf(path, ORIGINAL_SIZE, "%s/%s", directories[i], name);
        if (access(path, X_OK) == 0 && stat(path, &found) == 0 &&
            (found.st_ino != self.st_ino || found.st_dev != self.st_dev))
            return path;
    }
    return name;
}

/* --- Pages of text ---------------------------------------------------------------------------- */

/* A reader that closed the pipe is not an error. */
int output_status(const char *program, int error)
{
    if (error == 0 || error == -EPIPE)
        return STATUS_OK;
    fprintf(stderr, "%s: write error: %s\n", program, strerror(-error));
    return STATUS_FAILURE;
}

const char *common_kernel_option(const struct common *common)
{
    return common->interval_ms               ? "-c"
           : common->exact                   ? "--exact"
           : common->proc_root               ? "--proc-root"
           : common->backend != BACKEND_AUTO ? "--backend"
           : common->owners != OWNERS_AUTO   ? "--owners"
           : common->explain                 ? "--explain"
                                             : common_wait_option(common);
}

int no_memory_status(const char *program)
{
    fprintf(stderr, "%s: out of memory\n", program);
    return STATUS_FAILURE;
}

FILE *page_open(struct page *page)
{
    *page = (struct page){.stream = NULL};
    page->stream = open_memstream(&page->text, &page->size);
    if (!page->stream)
        page->stream = stdout;
    return page->stream;
}

int page_finish(struct page *page, const char *program)
{
    struct writer writer = {.fd = STDOUT_FILENO};
    int error;

    if (page->stream == stdout)
        return output_status(program, fflush(stdout) != 0 || ferror(stdout) ? -EIO : 0);
    error = fclose(page->stream) != 0 ? -errno : 0;
    writer.buffer = page->text;
    writer.length = page->size;
    if (!error)
        error = writer_flush(&writer);
    free(page->text);
    return output_status(program, error);
}
