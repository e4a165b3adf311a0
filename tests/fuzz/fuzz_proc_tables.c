/* SPDX-License-Identifier: MIT */
/*
 * Other tables of /proc/net: snmp, snmp6, igmp, igmp6, sockstat, softnet_stat,
 * protocols. The first byte says
 * which of them the rest is.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/counter/decode.h"
#include "backend/group/proc_igmp.h"
#include "backend/proc/proc_file.h"
#include "backend/summary/summary.h"
#include "fuzz.h"
#include "written.h"

static struct written statistics, summary, groups;

static bool is_within(const struct text *text, const struct line *line)
{
    return text->data >= line->data && text->data + text->length <= line->data + line->length;
}

static void check_counter(const struct record *record)
{
    const struct counter_record *counter = &record->counter;

    require(record->kind == &kind_counter && counter->name.length > 0);
    require(!counter->negative || counter->magnitude);
    require(!counter->negative || counter->magnitude <= UINT64_C(1) << 63);
    require(!memchr(counter->name.data, ' ', counter->name.length));
    written_row(&statistics, record);
    written_row(&summary, record);
}

/* values NULL: a line of sockstat. */
static void decode_block(const struct line *names, const struct line *values)
{
    struct snmp_block block;
    struct record record;
    size_t count = 0;
    int result =
        values ? snmp_block_init(&block, names, values) : sockstat_block_init(&block, names);

    require(result == 0 || result == -EBADMSG);
    while (result == 0) {
        int found = snmp_block_next(&block, &record);
        require(found == 0 || found == 1 || found == -EBADMSG);
        require(++count <= (values ? SNMP_NAMES_MAX : names->length / 2) + 1);
        if (found == 0)
            return;
        if (found < 0)
            continue;
        check_counter(&record);
        require(is_within(&record.counter.name, names));
        require(is_within(&record.counter.protocol, names));
    }
}

static void decode_pair(const struct line *line)
{
    struct record record;

    memset(&record, 0xa5, sizeof record);
    if (snmp_pair_decode(line, &record) < 0)
        return;
    require(!line->cut && is_within(&record.counter.name, line));
    check_counter(&record);
    const struct text protocol = snmp_protocol_of(record.counter.name);
    require(protocol.length > 0 && protocol.length <= record.counter.name.length);
}

static void decode_softnet(const struct line *line, size_t number)
{
    struct softnet softnet;
    struct record record;

    memset(&softnet, 0xa5, sizeof softnet);
    if (softnet_decode(line, number, &softnet) < 0)
        return;
    require(!line->cut && softnet.count >= 3 && softnet.count <= SOFTNET_COUNTERS);
    require(memchr(softnet.name, '\0', sizeof softnet.name) != NULL);
    for (size_t i = 0; i < softnet.count; i++) {
        softnet_row(&softnet, i, &record);
        require(record.counter.magnitude <= UINT32_MAX);
        check_counter(&record);
    }
}

static void decode_protocol(const struct line *line)
{
    uint64_t sockets = UINT64_MAX;
    struct text name;

    if (protocols_decode(line, &name, &sockets) < 0)
        return;
    require(!line->cut && sockets <= UINT32_MAX);
    require(is_within(&name, line) && name.length > 0);
    require(!memchr(name.data, ' ', name.length));
}

static void check_group(const struct record *record, uint8_t family)
{
    const struct group_record *group = &record->group;

    require(record->kind == &kind_group);
    require_address(&group->address, family);
    require(group->interface.length > 0 && group->interface.length <= INTERFACE_TEXT_MAX);
    require(group->users <= INT32_MAX && group->index <= INT32_MAX);
    written_row(&groups, record);
}

static void decode_igmp(const struct line *line, struct igmp_interface *interface)
{
    struct record record;
    int result;

    memset(&record, 0xa5, sizeof record);
    result = igmp_decode(line, interface, &record);
    require(result == 0 || result == NO_ROW || result == -EBADMSG);
    require(interface->length <= sizeof interface->name);
    if (result == 0)
        check_group(&record, AF_INET);
}

static void decode_igmp6(const struct line *line)
{
    struct record record;

    memset(&record, 0xa5, sizeof record);
    if (igmp6_decode(line, &record) < 0)
        return;
    check_group(&record, AF_INET6);
    require(is_within(&record.group.interface, line));
}

static void begin_layouts(void)
{
    static const struct context no_names;
    const struct statistics_layout counted = {.header = true};
    static bool mixed;
    const struct ss_summary_layout summarised = {&mixed};
    const struct netstat_layout listed = {.numeric_hosts = true, .header = true};

    written_begin(&statistics,
                  sink_create(&sink_statistics, &counted, written_writer(&statistics), &no_names),
                  "", true);
    written_begin(&summary,
                  sink_create(&sink_ss_summary, &summarised, written_writer(&summary), &no_names),
                  "\t", false);
    written_begin(&groups, sink_create(&sink_netstat, &listed, written_writer(&groups), &no_names),
                  "", true);
}

static void decode_lines(uint8_t which, struct lines *lines)
{
    struct igmp_interface interface = {.length = 0};
    char *names = malloc(LINES_CAPACITY);
    struct line line, heading;
    int result;

    require(names != NULL);
    while ((result = lines_next(lines, &line)) > 0) {
        if (which == 1)
            decode_pair(&line);
        else if (which == 2)
            decode_igmp(&line, &interface);
        else if (which == 3)
            decode_igmp6(&line);
        else if (which == 4)
            decode_block(&line, NULL);
        else if (which == 5)
            decode_softnet(&line, lines->number);
        else if (which == 6)
            decode_protocol(&line);
        else {
            heading = line;
            heading.data = memcpy(names, line.data, line.length);
            if (lines_next(lines, &line) > 0)
                decode_block(&heading, &line);
        }
    }
    require(result == 0);
    free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lines lines;
    int fd;

    if (size == 0)
        return 0;
    fd = memfd_create("file", 0);
    require(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    require(lseek(fd, 0, SEEK_SET) == 0 && lines_init(&lines, fd) == 0);
    begin_layouts();
    decode_lines(data[0] & 7, &lines);
    written_end(&statistics);
    written_end(&summary);
    written_end(&groups);
    lines_close(&lines);
    return 0;
}
