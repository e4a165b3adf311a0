/* SPDX-License-Identifier: MIT */
#include "cli/known_names.h"

#include <fnmatch.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/where/parser.h"
#include "cli/words.h"
#include "fastnet/cgroups.h"
#include "fastnet/containers.h"
#include "fastnet/field.h"
#include "fastnet/proc_tree.h"
#include "lookup/processes.h"

/* Compares a word with all names that known_offer() gets, and keeps the nearest name. */
struct known_search {
    struct misuse nearest;
    char name[KNOWN_NAME]; /* a copy of the nearest name, to which nearest.meant points */
    bool found;            /* one of the names is the word, or matches it as fnmatch(3) */
};

static void known_offer(const char *name, void *arg)
{
    struct known_search *search = arg;

    search->found |= fnmatch(search->nearest.typed.data, name, 0) == 0;
    misuse_offer(&search->nearest, name);
    if (search->nearest.meant.data == name) {
        snprintf(search->name, sizeof search->name, "%s", name);
        search->nearest.meant = as_text(search->name);
    }
}

/* --- Processes, units, containers and pods ---------------------------------------------------- */

static void known_each_process(const char *root, known_name_fn *fn, void *arg)
{
    struct processes processes = {.items = NULL};
    struct proc_tree tree;

    if (proc_tree_init(&tree, root) == 0 && processes_list(&tree, &processes, false) == 0)
        for (size_t i = 0; i < processes.count; i++) {
            struct process *process = &processes.items[i];
            if (process_read_names(&tree, process, (struct process_names){.cgroup = false}) == 0 &&
                process->named)
                fn(process->name, arg);
        }
    processes_finish(&processes);
    proc_tree_finish(&tree);
}

bool known_process(const char *root, const char *name)
{
    struct known_search search = {.nearest.typed = as_text(name)};

    known_each_process(root, known_offer, &search);
    return search.found;
}

void known_process_nearest(const char *name, char nearest[KNOWN_NAME])
{
    struct known_search search = {.nearest.typed = as_text(name)};

    known_each_process("/proc", known_offer, &search);
    snprintf(nearest, KNOWN_NAME, "%s", search.nearest.meant.data ? search.name : "");
}

/* The value of `field` for group i. */
static struct text known_group(const struct field *field, struct cgroups *cgroups, size_t i)
{
    const struct context context = {.cgroups = cgroups};
    const struct record record = {
        .kind = &kind_socket, .has = SOCKET_CGROUP, .socket.cgroup = cgroups_id(cgroups, i)};
    const struct value value = field_value(field, &record, &context);

    return value.type == VALUE_TEXT ? value.text : as_text(NULL);
}

void known_groups(const struct field *field, known_name_fn *fn, void *arg)
{
    struct cgroups *cgroups;

    if (cgroups_create(&cgroups, NULL) < 0)
        return;
    cgroups_take_names(cgroups, containers_create(NULL));
    for (size_t i = 0; i < cgroups_count(cgroups); i++) {
        const struct text text = known_group(field, cgroups, i);
        size_t first = text.length ? 0 : i;
        while (first < i && !text_is(known_group(field, cgroups, first), text.data))
            first++;
        if (text.length && first == i)
            fn(text.data, arg);
    }
    cgroups_destroy(cgroups);
}

/* Offers a unit also without ".service", and a pod also without its namespace. */
static void known_offer_group(const char *name, void *arg)
{
    const char *slash = strrchr(name, '/');
    char text[256];

    snprintf(text, sizeof text, "%s", slash ? slash + 1 : name);
    known_offer(name, arg);
    if (slash)
        known_offer(text, arg);
    if (strlen(text) > strlen(".service") &&
        strcmp(text + strlen(text) - strlen(".service"), ".service") == 0) {
        text[strlen(text) - strlen(".service")] = '\0';
        known_offer(text, arg);
    }
}

/* --- Other names ------------------------------------------------------------------------------ */

/* Offers the first word of each line: of passwd(5), or of services(5). The files are read here,
 * because no module of nsswitch.conf(5) may run while there are rights. */
static void known_each_line(const char *path, struct known_search *search)
{
    FILE *file = fopen(path, "re");
    char line[512];

    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, ":# \t\n")] = '\0';
        if (*line)
            known_offer(line, search);
    }
    if (file)
        fclose(file);
}

static void known_each_interface(struct known_search *search)
{
    struct if_nameindex *const interfaces = if_nameindex();

    for (size_t i = 0; interfaces && interfaces[i].if_index; i++)
        known_offer(interfaces[i].if_name, search);
    if_freenameindex(interfaces);
}

static void known_search_all(const struct kind *kind, struct known_search *search)
{
    static const char *const groups[] = {"unit", "container", "container_name", "pod_name"};
    const bool processes = field_named(kind, "process");
    const struct field *states = field_named(kind, "state");

    if (processes)
        known_each_process("/proc", known_offer, search);
    for (size_t i = 0; processes && i < COUNT(groups); i++)
        known_groups(field_named(&kind_socket, groups[i]), known_offer_group, search);
    if (processes)
        known_each_line("/etc/passwd", search);
    if (!processes || field_named(kind, "reason"))
        known_each_interface(search);
    if (states)
        where_offer_words(&search->nearest, kind, states);
    if (field_named(kind, "remote_port") || field_named(kind, "dport"))
        known_each_line("/etc/services", search);
}

/* --- The note --------------------------------------------------------------------------------- */

static void known_note(const struct kind *kind, const char *name, bool near_only,
                       struct report *report)
{
    struct known_search search = {.nearest.typed = as_text(name)};
    const struct text *near = &search.nearest.meant;

    known_search_all(kind, &search);
    if (search.found || (near_only && !near->data))
        return;
    if (near->data)
        report_note(report, "nothing here is called %s; did you mean %.*s?", TYPED(name),
                    (int)near->length, near->data);
    else if (field_named(kind, "interfaces") && if_nametoindex(name))
        report_note(report, "%s is an interface: --interface=%s", TYPED(name), TYPED(name));
    else
        report_note(report, "nothing here is called %s%s", TYPED(name),
                    strchr(name, '.') ? " (names of hosts are not looked up)" : "");
}

void known_names_report(const struct common *common, const struct kind *kind, bool near_only,
                        struct report *report)
{
    const struct filters *filters = &common->filters;

    if (!isatty(STDERR_FILENO) || common->proc_root)
        return;
    for (size_t i = 0; i < filters->count; i++) {
        const char *rest = filters->typed[i].text;
        if (filters->typed[i].option != &filters_word || *rest == '!')
            continue;
        for (struct text name; text_next(&rest, ',', &name);) {
            char text[256];
            snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
            if (*text && !strchr(text, '*') && words_have_name(kind, text))
                known_note(kind, text, near_only, report);
        }
    }
}
