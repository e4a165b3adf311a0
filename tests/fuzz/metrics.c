/* SPDX-License-Identifier: MIT */
#include "metrics.h"

#include <string.h>

#include "fastnet/text.h"
#include "fuzz.h"

enum { METRICS_MAX = 4000, FAMILIES_MAX = 400 };

struct reading {
    bool open;
    struct text families[FAMILIES_MAX];
    size_t family_count;
    struct text metrics[METRICS_MAX]; /* names with labels */
    size_t metric_count;
    bool ended;
};

static struct text take(struct text *line, size_t length)
{
    const struct text taken = {line->data, length};

    require(length <= line->length);
    line->data += length;
    line->length -= length;
    return taken;
}

static void expect(struct text *line, const char *string)
{
    require(text_is(take(line, strlen(string)), string));
}

static bool begins(struct text line, const char *string)
{
    const size_t length = strlen(string);

    return line.length >= length && memcmp(line.data, string, length) == 0;
}

static bool is_same(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

static struct text take_name(struct text *line)
{
    size_t length = 0;

    while (length < line->length &&
           ((line->data[length] >= 'a' && line->data[length] <= 'z') ||
            (line->data[length] >= '0' && line->data[length] <= '9') || line->data[length] == '_'))
        length++;
    require(length > 0);
    return take(line, length);
}

static void take_label(struct text *line)
{
    take_name(line);
    expect(line, "=\"");
    while (!begins(*line, "\"")) {
        const unsigned char byte = (unsigned char)*take(line, 1).data;
        require(byte >= ' ' && byte != 0x7f);
        if (byte == '\\')
            require(strchr("\\\"n", *take(line, 1).data) != NULL);
    }
    expect(line, "\"");
}

static void take_number(struct text *line)
{
    if (begins(*line, "-"))
        take(line, 1);
    require(line->length > 0);
    for (size_t i = 0; i < line->length; i++)
        require((line->data[i] >= '0' && line->data[i] <= '9') || line->data[i] == '.');
}

/* Begins a family that there was not yet. */
static void read_help(struct reading *reading, struct text line)
{
    const struct text name = take_name(&line);

    expect(&line, " ");
    require(line.length > 0 && reading->family_count < FAMILIES_MAX);
    for (size_t i = 0; i < reading->family_count; i++)
        require(!is_same(reading->families[i], name));
    reading->families[reading->family_count++] = name;
    reading->metric_count = 0;
}

static void read_metric(struct reading *reading, struct text line)
{
    const char *start = line.data;
    struct text name = take_name(&line);

    require(reading->family_count > 0);
    const struct text family = reading->families[reading->family_count - 1];
    require(name.length >= family.length && memcmp(name.data, family.data, family.length) == 0);
    take(&name, family.length);
    require(!name.length || (reading->open && (text_is(name, "_total") || text_is(name, "_info"))));
    if (begins(line, "{")) {
        do {
            take(&line, 1);
            take_label(&line);
        } while (begins(line, ","));
        expect(&line, "}");
    }
    const struct text metric = {start, (size_t)(line.data - start)};
    for (size_t i = 0; i < reading->metric_count; i++)
        require(!is_same(reading->metrics[i], metric));
    if (reading->metric_count < METRICS_MAX)
        reading->metrics[reading->metric_count++] = metric;
    expect(&line, " ");
    take_number(&line);
}

static void read_line(struct reading *reading, struct text line)
{
    require(!reading->ended);
    if (begins(line, "# HELP ")) {
        take(&line, strlen("# HELP "));
        read_help(reading, line);
    } else if (begins(line, "# EOF")) {
        require(reading->open);
        reading->ended = true;
    } else if (begins(line, "# ")) {
        require(begins(line, "# TYPE ") || (reading->open && begins(line, "# UNIT ")));
        take(&line, strlen("# TYPE "));
        require(reading->family_count > 0 && !reading->metric_count);
        require(is_same(take_name(&line), reading->families[reading->family_count - 1]));
    } else {
        read_metric(reading, line);
    }
}

void metrics_check(const char *text, size_t size, bool open)
{
    static struct reading reading;

    reading = (struct reading){.open = open};
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        require(end != NULL);
        read_line(&reading, (struct text){text, (size_t)(end - text)});
        size -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    require(reading.ended == open);
}
