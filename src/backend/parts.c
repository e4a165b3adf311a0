#include "backend/parts.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/lines.h"
#include "backend/scan.h"
#include "backend/shards.h"

enum { SOCKETS_THAT_PAY = 8000 };

/* The number behind a label that begins a line of a file; 0 when it is not there. */
static uint64_t number_behind(const struct query *query, const char *path, const char *label)
{
    size_t length = strlen(label);
    struct lines lines;
    struct line line;
    uint64_t number = 0;

    if (lines_open_path(&lines, query->proc_root, path) < 0)
        return 0;
    while (!number && lines_next(&lines, &line) > 0) {
        struct scan scan = {line.data + length, line.data + line.length};
        if (line.length > length && memcmp(line.data, label, length) == 0)
            scan_decimal(&scan, &number, UINT64_MAX);
    }
    lines_close(&lines);
    return number;
}

/* How many sockets a table of TCP has, about: those in TIME_WAIT and SYN_RECV are not counted. */
static uint64_t count_sockets(const struct query *query)
{
    if (query->table->family == AF_INET6)
        return number_behind(query, "net/sockstat6", "TCP6: inuse ");
    return number_behind(query, "net/sockstat", "TCP: inuse ");
}

/* The fourth field of /proc/loadavg is RUNNING/ALL, in threads, this one among them (proc(5)). */
static uint64_t count_running(const struct query *query)
{
    struct lines lines;
    struct line line;
    uint64_t running = 1;

    if (lines_open_path(&lines, query->proc_root, "loadavg") < 0)
        return running;
    if (lines_next(&lines, &line) > 0) {
        char *slash = memchr(line.data, '/', line.length);
        char *blank = slash ? memrchr(line.data, ' ', (size_t)(slash - line.data)) : NULL;
        struct scan scan = {blank ? blank + 1 : slash, slash};
        if (slash)
            scan_decimal(&scan, &running, UINT64_MAX);
    }
    lines_close(&lines);
    return running ? running : 1;
}

/* Those that are free for this process, the one it runs on among them. */
static size_t count_idle_processors(const struct query *query)
{
    uint64_t others = count_running(query) - 1;
    cpu_set_t processors;
    size_t count = 1;

    if (sched_getaffinity(0, sizeof processors, &processors) == 0)
        count = (size_t)CPU_COUNT(&processors);
    return others < count ? count - (size_t)others : 1;
}

size_t parts_that_pay(const struct query *query)
{
    size_t idle;

    if (query->table->protocol != IPPROTO_TCP || query->states == 1u << TCP_LISTEN ||
        count_sockets(query) < SOCKETS_THAT_PAY)
        return 1;
    idle = count_idle_processors(query);
    return idle < SHARDS_MAX ? idle : SHARDS_MAX;
}
