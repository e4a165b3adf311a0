/* Multicast groups that interfaces are in, out of /proc/net/igmp and igmp6. */
#include "backend/group/proc_igmp.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/proc/scan.h"
#include "fastnet/report.h"

const struct table table_groups = {
    .name = "igmp", .file = "igmp", .kind = &kind_group, .family = AF_INET, .unidentified = true};
const struct table table_groups6 = {.name = "igmp6",
                                    .file = "igmp6",
                                    .kind = &kind_group,
                                    .family = AF_INET6,
                                    .unidentified = true};

enum { FIELDS = GROUP_INTERFACE | GROUP_ADDRESS | GROUP_USERS };

/* --- Lines ------------------------------------------------------------------------------------ */

static bool take_number(struct scan *scan, uint32_t *number)
{
    uint64_t value;

    scan_blanks(scan);
    if (!scan_decimal(scan, &value, INT32_MAX))
        return false;
    *number = (uint32_t)value;
    return scan->at == scan->end || *scan->at == ' ' || *scan->at == '\t';
}

/* "1\tlo        :     1      V3": a name holds neither blanks nor a colon. */
static int take_interface(struct scan scan, struct igmp_interface *interface)
{
    const char *colon, *end;

    interface->length = 0;
    if (!take_number(&scan, &interface->index) || !scan_char(&scan, '\t'))
        return -EBADMSG;
    colon = memchr(scan.at, ':', (size_t)(scan.end - scan.at));
    for (end = colon; end && end > scan.at && end[-1] == ' '; end--)
        continue;
    if (!end || end == scan.at || (size_t)(end - scan.at) > sizeof interface->name)
        return -EBADMSG;
    interface->length = (size_t)(end - scan.at);
    memcpy(interface->name, scan.at, interface->length);
    return 0;
}

/* Eight digits that are the address as a number of this machine; more of them stand in a row. */
static bool take_word(struct scan *scan, uint32_t *word)
{
    if (scan->end - scan->at < 8 || !scan_eight(scan->at, word))
        return false;
    scan->at += 8;
    return true;
}

/* "\t\t\t\t010000E0     1 0:00000000\t\t0" */
static int take_group(struct scan scan, const struct igmp_interface *interface,
                      struct record *record)
{
    struct group_record *group = &record->group;
    uint32_t word;

    *record = (struct record){.kind = &kind_group, .has = FIELDS, .group.address.family = AF_INET};
    while (scan_char(&scan, '\t'))
        continue;
    if (!interface->length || !take_word(&scan, &word) || !scan_char(&scan, ' ') ||
        !take_number(&scan, &group->users))
        return -EBADMSG;
    memcpy(group->address.bytes, &word, sizeof word);
    group->index = interface->index;
    group->interface = (struct text){interface->name, interface->length};
    return 1;
}

int igmp_decode(const struct line *line, struct igmp_interface *interface, struct record *record)
{
    const struct scan scan = {line->data, line->data + line->length};

    if (line->cut || !line->length)
        return -EBADMSG;
    if (line->data[0] == '\t')
        return take_group(scan, interface, record);
    return take_interface(scan, interface);
}

/* "4    eth0            ff020000000000000000000000000001     1 0000000C 0" */
int igmp6_decode(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct group_record *group = &record->group;
    uint32_t word;

    *record = (struct record){.kind = &kind_group, .has = FIELDS, .group.address.family = AF_INET6};
    if (line->cut || !take_number(&scan, &group->index))
        return -EBADMSG;
    scan_blanks(&scan);
    group->interface.data = scan.at;
    while (scan.at < scan.end && *scan.at != ' ')
        scan.at++;
    group->interface.length = (size_t)(scan.at - group->interface.data);
    if (!group->interface.length || group->interface.length > INTERFACE_TEXT_MAX)
        return -EBADMSG;
    scan_blanks(&scan);
    for (size_t i = 0; i < sizeof group->address.bytes; i += sizeof word) {
        if (!take_word(&scan, &word))
            return -EBADMSG;
        word = htobe32(word);
        memcpy(group->address.bytes + i, &word, sizeof word);
    }
    if (!scan_char(&scan, ' ') || !take_number(&scan, &group->users))
        return -EBADMSG;
    return 1;
}

/* --- Files ------------------------------------------------------------------------------------ */

/* igmp has a heading, which may be all there is; igmp6 has none. */
static bool is_heading(const struct query *query, const struct lines *lines,
                       const struct line *line)
{
    return query->table == &table_groups && lines->number == 1 &&
           memmem(line->data, line->length, "Device", 6);
}

static int read_lines(const struct query *query, struct lines *lines, record_fn fn, void *arg)
{
    struct igmp_interface interface = {.length = 0};
    struct record record;
    struct line line;
    size_t skipped = 0, first = 0;
    int result;

    while ((result = lines_next(lines, &line)) > 0) {
        if (line.unended)
            report_loss(query->report, "%s/net/%s is cut: its last line has no end",
                        query->proc_root, query->table->name);
        if (is_heading(query, lines, &line))
            continue;
        result = query->table == &table_groups6 ? igmp6_decode(&line, &record)
                                                : igmp_decode(&line, &interface, &record);
        if (result < 0 && !skipped++)
            first = lines->number;
        if (result > 0 && (result = fn(&record, arg)) < 0)
            break;
    }
    if (result == 0 && !lines->number && query->table == &table_groups)
        report_loss(query->report, "%s/net/igmp is empty: not even a heading", query->proc_root);
    if (skipped)
        report_loss(query->report, "%s/net/%s: skipped %zu malformed line%s, the first is line %zu",
                    query->proc_root, query->table->name, skipped, skipped == 1 ? "" : "s", first);
    return result;
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    struct lines lines;
    int result = lines_open_table(&lines, query->proc_root, query->table->name);

    if (result < 0)
        return result;
    result = read_lines(query, &lines, fn, arg);
    lines_close(&lines);
    return result;
}

static uint64_t fields(const struct table *table)
{
    return table == &table_groups || table == &table_groups6 ? FIELDS : 0;
}

const struct backend backend_proc_igmp = {
    .name = "proc",
    .source = BACKEND_PROC,
    .fields = fields,
    .dump = dump,
};
