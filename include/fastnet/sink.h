/* Where rows go. A sink knows columns and bytes; it knows no protocol, backend or personality. */
#ifndef FASTNET_SINK_H
#define FASTNET_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/field.h"
#include "fastnet/query.h"
#include "fastnet/writer.h"

struct sink;

struct sink_ops {
    /* Called once before anything else of a listing. */
    void (*begin)(struct sink *sink);
    /* Called before the rows of each section; NULL where sections mean nothing to the sink. */
    void (*section)(struct sink *sink, unsigned section);
    void (*row)(struct sink *sink, const struct record *record);
    /* No more rows for now: what is held back is written. NULL where nothing is held back. */
    void (*pause)(struct sink *sink);
    /* Called once at the end, whatever happened. */
    void (*end)(struct sink *sink);
    void (*destroy)(struct sink *sink);
    /*
     * Another sink for rows of the same listing, into another writer; only its row() is called, and
     * each row is whole lines. It shares nothing that changes with the first, so that it may run
     * beside it. NULL where rows depend on each other. Returns NULL when memory is short.
     */
    struct sink *(*clone)(const struct sink *sink, struct writer *writer);
    /*
     * Other columns, borrowed until they change again, for the rows that follow. NULL where that
     * cannot be, since a heading or widths depend on them. Returns false when memory is short.
     */
    bool (*set_columns)(struct sink *sink, const struct field *const *columns, size_t count);
};

/* The common start of every sink. Errors are sticky in the writer. */
struct sink {
    const struct sink_ops *ops;
    struct writer *writer;         /* borrowed */
    const struct context *context; /* borrowed */
};

/* What the column-driven sinks are told. */
struct sink_options {
    struct writer *writer;
    const struct context *context;
    const struct field *const *columns; /* borrowed for the sink's life */
    size_t count;
    bool header;      /* a heading line, CSV's header line */
    bool colour;      /* states may be coloured */
    bool spreadsheet; /* CSV: no text can be taken for a formula */
};

/* Each returns NULL when memory is short. */
struct sink *sink_json_create(const struct sink_options *options);
struct sink *sink_ndjson_create(const struct sink_options *options);
struct sink *sink_csv_create(const struct sink_options *options);
struct sink *sink_table_create(const struct sink_options *options); /* fitted widths */

/*
 * Rows of three columns (what the row is of, a name, a number) as objects: those of one thing that
 * follow each other are one row of the sink that `create` makes, with a column of each name. A name
 * that comes twice in an object counts once. Without set_columns in that sink NULL is returned.
 */
typedef struct sink *(*sink_create_fn)(const struct sink_options *options);
struct sink *sink_objects_create(const struct sink_options *options, sink_create_fn create);

/* Accepts NULL. */
void sink_destroy(struct sink *sink);

/* Which sockets a netstat listing shows, and so how it is titled. */
enum show { SHOW_CONNECTED, SHOW_LISTENING, SHOW_ALL };

/* The sections of a netstat listing. */
enum { SECTION_INTERNET, SECTION_UNIX, SECTION_GROUPS };

/* The layout of net-tools 2.10 netstat -W. */
struct netstat_layout {
    enum show show;
    bool extended; /* -ee and -e: user and inode */
    bool programs; /* -p */
    bool timers;   /* -o */
    bool numeric_hosts, numeric_ports, numeric_users;
    /* Blanks in names are escaped, and no program is without a name; else as netstat has it. */
    bool one_word_names;
    bool header;
    bool colour;
};

struct sink *sink_netstat_create(const struct netstat_layout *layout, struct writer *writer,
                                 const struct context *context);

/* The counters of net-tools 2.10 netstat -s. */
struct statistics_layout {
    bool header;
    /* Whether a counter is shown. All are to be handed to the sink: what is not shown of them can
     * be seen in how the next ones are indented. */
    bool (*shows)(const struct record *record, const void *arg);
    const void *arg;
};

struct sink *sink_statistics_create(const struct statistics_layout *layout, struct writer *writer,
                                    const struct context *context);

/* The masqueraded connections of net-tools 2.10 netstat -M. */
struct masquerade_layout {
    bool numeric_hosts, numeric_ports;
    bool extended; /* -e: how sequence numbers are changed */
    bool header;
};

struct sink *sink_masquerade_create(const struct masquerade_layout *layout, struct writer *writer,
                                    const struct context *context);

/* How conntrack prints flows and expectations (conntrack-tools 1.4.7, -o). */
struct conntrack_layout {
    bool extended; /* the network layer's protocol in front */
    bool id;
    bool timestamp;  /* of events: when they were received */
    bool ktimestamp; /* start and stop */
    bool labels;
    bool xml, save;
};

/* A line, or an XML element, a record of any kind of connection tracking. */
struct sink *sink_conntrack_create(const struct conntrack_layout *layout, struct writer *writer,
                                   const struct context *context);
/* For what net-tools' arp says below its rows: the filter counts the rows that it leaves out. */
struct arp_totals {
    size_t skipped;
};

/* The layouts of net-tools 2.10 arp, but that nothing is cut short. */
struct arp_layout {
    bool bsd; /* -a: a line of words; else a table with a heading */
    bool numeric, header;
    bool verbose; /* -v: the totals */
    /* Said when nothing was found: of a host (as typed, not NULL), or of rows chosen otherwise. */
    bool chosen;
    const char *host;
    uint8_t host_address[4];
    const struct arp_totals *totals; /* borrowed; read when the listing ends */
};

struct sink *sink_arp_create(const struct arp_layout *layout, struct writer *writer,
                             const struct context *context);

/* The sections of a listing of routes: tables of a family, one behind the other. */
enum { ROUTE_SECTIONS_MAX = 16 };
struct route_section {
    uint8_t family; /* AF_INET, AF_INET6 */
    bool cache;
};

/* The layout of net-tools 2.10 netstat -r. */
struct route_layout {
    struct route_section sections[ROUTE_SECTIONS_MAX];
    unsigned extended; /* 0: MSS, window and irtt; 1: metric, references and use; 2: all of them */
    bool numeric;
    bool header;
};

struct sink *sink_route_create(const struct route_layout *layout, struct writer *writer,
                               const struct context *context);

/* The layout of net-tools 2.10 netstat -i: a line an interface, or as ifconfig has it. */
struct interface_layout {
    bool extended;
    bool header;
};

struct sink *sink_interface_create(const struct interface_layout *layout, struct writer *writer,
                                   const struct context *context);

#endif
