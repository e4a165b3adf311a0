/* SPDX-License-Identifier: MIT */
/* Fields: the parts of a record that users can show, sort, count and filter by. Each field is one
 * line in the table of the record's kind. A field yields a value; sinks write it, the engine
 * compares it. Field names are columns, JSON keys and words in filters, so they stay after a
 * release. */
#ifndef FASTNET_FIELD_H
#define FASTNET_FIELD_H

#include <string.h>

#include "fastnet/record.h"
#include "fastnet/value.h"

/* What a listing needs for each row: fields from a backend, and lookups (NEED_*). */
#define NEED_OWNERS     (UINT64_C(1) << 0)  /* socket's inode -> its owners */
#define NEED_COMMANDS   (UINT64_C(1) << 1)  /* with NEED_OWNERS: their argv[0] is read */
#define NEED_USERS      (UINT64_C(1) << 2)  /* uid -> name */
#define NEED_SERVICES   (UINT64_C(1) << 3)  /* port -> name */
#define NEED_HOSTS      (UINT64_C(1) << 4)  /* address -> name */
#define NEED_INTERFACES (UINT64_C(1) << 5)  /* index -> name */
#define NEED_LABELS     (UINT64_C(1) << 6)  /* bit of a connection label -> name */
#define NEED_SENDERS    (UINT64_C(1) << 7)  /* netlink port -> name of the process that has it */
#define NEED_LINKS      (UINT64_C(1) << 8)  /* interface -> its master, netns of its peer */
#define NEED_NETWORKS   (UINT64_C(1) << 9)  /* address of a network -> name */
#define NEED_CGROUPS    (UINT64_C(1) << 10) /* id of a control group -> path */
#define NEED_EPHEMERAL  (UINT64_C(1) << 11) /* range of ports that the kernel chooses from */
#define NEED_PEERS      (UINT64_C(1) << 12) /* socket -> its other end on this machine */
#define NEED_THREADS    (UINT64_C(1) << 13) /* with NEED_OWNERS: process -> threads */
/* With NEED_HOSTS: look up an IPv4-mapped address as its IPv4 address, not as it is. */
#define NEED_UNMAPPED (UINT64_C(1) << 14)
#define NEED_MACHINE  (UINT64_C(1) << 15) /* names of this machine and of its network namespace */
#define NEED_LISTING  (UINT64_C(1) << 16) /* start and number of the run; rows of the run before */
/* With NEED_CGROUPS: if no backend fills a row's group (kind.cgroup), use its owner's group. */
#define NEED_OWNERS_CGROUPS (UINT64_C(1) << 17)
#define NEED_PIDS_INSIDE    (UINT64_C(1) << 18) /* with NEED_OWNERS: pid in its own pid namespace */
#define NEED_CONTAINERS     (UINT64_C(1) << 19) /* with NEED_CGROUPS: names of containers and pods */
#define NEED_CONNECTS       (UINT64_C(1) << 20) /* when a connection was made, and by whom */
#define NEED_RPC_PROGRAMS   (UINT64_C(1) << 21) /* port -> name of its RPC program */
#define NEED_ADDRESSES      (UINT64_C(1) << 22) /* address -> interfaces that have it */
#define NEED_FIREWALL       (UINT64_C(1) << 23) /* socket -> what rules do with packets to it */
#define NEED_PROFILES       (UINT64_C(1) << 26) /* process -> its arguments, start and ancestors */
#define NEED_PROGRAMS       (UINT64_C(1) << 27) /* with NEED_PROFILES: its program and directory */

/* Both search for owners: to show them, or to use their control groups. */
#define NEED_ANY_OWNERS (NEED_OWNERS | NEED_OWNERS_CGROUPS)

/* Lookups by the C library, which may load and run any code for them (nsswitch.conf(5)). */
#define NEED_NAMES (NEED_USERS | NEED_SERVICES | NEED_HOSTS | NEED_NETWORKS | NEED_RPC_PROGRAMS)

struct needs {
    uint64_t fields;  /* bits of the record's kind (SOCKET_*, FLOW_* ...), as in record.has */
    uint64_t lookups; /* NEED_* */
    uint32_t parts;   /* PARTS() that must be read of a struct with borrowed.parted; 0: all */
};

/* PARTS() sets a bit for each part that has some of the `size` bytes from `offset` on. A part has
 * PART_SIZE bytes; PARTED_MAX is the size of the largest struct. */
enum { PART_SIZE = 16, PARTED_MAX = 32 * PART_SIZE };
#define PARTS(offset, size)                                                                        \
    ((uint32_t)((UINT64_C(2) << ((offset) + (size)-1) / PART_SIZE) -                               \
                (UINT64_C(1) << (offset) / PART_SIZE)))

/* Adds `more` to `needs`. */
static inline void needs_add(struct needs *needs, struct needs more)
{
    needs->fields |= more.fields;
    needs->lookups |= more.lookups;
    needs->parts |= more.parts;
}

struct owner;
struct owners;
struct profiles;
struct users;
struct services;
struct hosts;
struct interfaces;
struct labels;
struct senders;
struct networks;
struct cgroups;
struct peers;
struct interface_sets;
struct firewall;
struct netns;

/* Lookups that differ from one network namespace to the next. */
struct netns_lookups {
    struct interfaces *interfaces;
    /* First and last port that the kernel chooses (ip_local_port_range of ip(7)); 0: unknown. */
    uint64_t ephemeral[2];
    struct peers *peers;
    struct interface_sets *interface_sets;
    struct firewall *firewall;
    const struct netns *netns; /* the network namespace (namespace.h) */
};

/* True if the kernel chooses this port (host byte order) for sockets without one. */
static inline bool port_is_ephemeral(const struct netns_lookups *lookups, uint16_t port)
{
    return port >= lookups->ephemeral[0] && port <= lookups->ephemeral[1];
}

enum { HOST_NAME_SIZE = 65 }; /* __NEW_UTS_LEN + 1 of linux/utsname.h */

/* The lookups of a listing; a member is NULL if no field needs it. */
struct context {
    struct owners *owners;
    struct profiles *profiles;
    struct users *users;
    struct services *services;
    struct rpc_programs *rpc_programs;
    struct hosts *hosts;
    struct labels *labels;
    struct senders *senders;
    struct networks *networks;
    struct cgroups *cgroups;
    char host[HOST_NAME_SIZE];  /* name of this machine; empty: unknown */
    struct netns_lookups netns; /* lookups of the network namespace that the row was read in */
    uint64_t time, number;      /* start (ns since 1970) and number of the run; 0: unknown */
    bool ascii;                 /* views use only ASCII for signs of their own, as x4 */
};

/* Type of the record member that a field shows. For numbers, the size in bytes. */
enum member_type {
    MEMBER_NONE,
    MEMBER_UINT8, /* numbers are in host byte order */
    MEMBER_UINT16 = sizeof(uint16_t),
    MEMBER_UINT32 = sizeof(uint32_t),
    MEMBER_UINT64 = sizeof(uint64_t),
    MEMBER_TEXT,
    MEMBER_ADDRESS,
    MEMBER_ULONG = sizeof(unsigned long) == 8 ? MEMBER_UINT64 : MEMBER_UINT32,
};

/* The unit of a number. */
enum unit {
    UNIT_NONE,
    UNIT_BYTES,
    UNIT_SECONDS,
    UNIT_PACKETS,
    UNIT_PERCENT,
    UNIT_BYTES_PER_SECOND,
    UNIT_PACKETS_PER_SECOND,
    UNIT_PER_SECOND,      /* events without a unit of their own */
    UNIT_BITS_PER_SECOND, /* no field has it: value_write_human() converts bytes per second */
};

/* One field of one record: the input of field_fn. */
struct cell {
    const struct field *field;
    const struct record *record;
    const struct context *context;
    const struct owner *owner; /* for fields with `each_owner`: the owner that is meant; NULL: the
                                  first */
};

/* field_fn makes the value of a cell. word_fn returns the name of a number, or NULL. */
typedef struct value field_fn(const struct cell *cell);
typedef const char *word_fn(uint64_t number);

/* Keep this struct small: the loader relocates its pointers at start, and each page costs time. */
struct field {
    const char *name;  /* name in --columns, JSON and CSV; in capitals the heading of a table */
    const char *help;  /* meaning of the column, one line */
    uint64_t fields;   /* fields that the backend must fill (SOCKET_*, FLOW_* ...) */
    uint64_t optional; /* fields that a backend is also asked for; they may be absent */
    uint32_t lookups;  /* NEED_* */
    uint32_t parts;    /* parts of borrowed structs that the field reads, as in struct needs */
    uint16_t offset;   /* bytes from the start of the record to the member */
    enum value_type type : 5;
    enum unit unit : 4;
    enum member_type member : 4; /* type of the member, or MEMBER_NONE */
    bool key : 1;                /* all key fields together identify a row across listings */
    bool constant : 1;           /* a key field with the same value in every row */
    bool counter : 1;            /* only grows until it is reset, so it has a rate */
    bool partly : 1;             /* a counter only in rows that have all `optional` fields */
    bool gauge : 1;              /* a number that rises and falls */
    bool moving : 1;             /* any other value that changes without a cause worth reporting */
    bool plain : 1;              /* the value is always the member itself */
    bool coloured : 1;           /* the values are states: a table may colour them */
    bool port : 1;      /* a port of a transport protocol: filters also take names of services */
    bool rate : 1;      /* the change per second of the counter `of` */
    bool of_netns : 1;  /* names the network namespace of the row */
    bool pair : 1;      /* computed from two fields: of[0] and of[1] */
    bool spaced : 1;    /* a text in which tables for people keep spaces (value.spaced) */
    bool exact : 1;     /* people need all its digits (value_write_human()) */
    bool sum : 1;       /* a sum over the rows of a group; `help` describes the added number */
    bool aggregate : 1; /* the same, but no sum; the name of the field ends with _avg, _p95 ... */
    bool turnover : 1;  /* only groups of the live store have it (listing.turnover) */
    bool any_case : 1;  /* names of the kernel, such as bbr: filters ignore upper and lower case */
    bool owner : 1; /* belongs to the first owner; filters compare all owners (field_owners()) */
    bool each_owner : 1; /* the same, and filters compare its value for each owner */
    /* Number of a bit in `optional`, or 0. Without this bit filters treat the field as unknown. But
     * a field of flags is a set of findings: flags that are set are certain, and no value is an
     * empty set. */
    unsigned confirmed : 6;
    unsigned marks : 7; /* reasons in the kind's field "attention" that colour this field */
    /* The words that a value can be. Without them a value can be any text. */
    union {
        const struct flag_names *flags; /* VALUE_FLAGS: names of the bits */
        word_fn *word;                  /* name of a number, or NULL */
    };
    union {
        size_t index;           /* number of the part of the record that the field shows */
        view_fn *write;         /* for VIEW_BY() */
        const struct field *of; /* fields that a rate or a pair is computed from */
        /* A number inside a member of type struct text, which may be too short for it. */
        struct {
            enum member_type type;
            uint16_t offset, size;
        } part;
    };
    /* Returns a value of field->type, or an unknown value; it borrows from the record and the
     * context. field_value() calls it only if all needed fields are filled. */
    field_fn *value;
};

/* Returns the unit that decides how a number is shortened for people (K, M ...). */
static inline int field_shown_unit(const struct field *field)
{
    const bool is_start = field->type == VALUE_TIME && field->each_owner; /* start of a process */

    return field->exact ? UNIT_NONE : is_start ? UNIT_SECONDS : (int)field->unit;
}

/* Returns the value of a field of a saved row (saved.h): a saved column comes from the row. Views
 * of other columns, and processes of saved owners, are made again. Any other field is unknown.
 * Lists and link-layer addresses are valid until SAVED_LISTS more were made. */
struct value saved_value(const struct cell *cell);

/* Returns the value of the field in this record, or unknown. It borrows from record and context. */
static inline struct value field_value(const struct field *field, const struct record *record,
                                       const struct context *context)
{
    if (record->saved)
        return saved_value(&(struct cell){field, record, context, NULL});
    if (field->fields & ~record->has)
        return (struct value){.type = VALUE_UNKNOWN};
    return field->value(&(struct cell){field, record, context, NULL});
}

/* Read and set the member of a field as a number. field_set_number() stores at most the member's
 * maximum. If the member is in borrowed bytes, field_set_number() changes these bytes. */
uint64_t field_number(const struct field *field, const struct record *record);
void field_set_number(const struct field *field, struct record *record, uint64_t number);

/* True if the field is a counter that grows in this row. */
static inline bool field_grows(const struct field *field, const struct record *record)
{
    const uint64_t optional = field->partly ? field->optional : 0;

    return field->counter && !((field->fields | optional) & ~record->has);
}

/* Returns what a listing needs to show the field. */
static inline struct needs field_needs(const struct field *field)
{
    return (struct needs){field->fields | field->optional, field->lookups, field->parts};
}

/* Returns the presence bits that filters need; if one is missing, the field is unknown to them. */
static inline uint64_t field_compares(const struct field *field)
{
    return field->fields | (field->confirmed ? UINT64_C(1) << field->confirmed : 0);
}

/* Returns the field with all owners, which follows the fields of the first owner in the table. */
static inline const struct field *field_owners(const struct field *first)
{
    while (first->type != VALUE_OWNERS)
        first++;
    return first;
}

/* Returns field number i of a kind. After the kind's own fields come the fields of every kind:
 * time, listing, host, netns ... NULL after the last field. */
const struct field *field_at(const struct kind *kind, size_t i);

/* Returns i for field_at(kind, i); SIZE_MAX if the field is none of these. */
size_t field_index(const struct kind *kind, const struct field *field);

/* True if `name` (`length` bytes) means this field. Ignores case; '-' is the same as '_'. */
bool field_is_named(const struct field *field, const char *name, size_t length);

/* Returns another name that users may type: mac for lladdr, src_mac for src_lladdr; NULL: there is
 * none. The result may be in `name`. */
enum { FIELD_OTHER = 16 };
const char *field_other_name(const struct field *field, char name[FIELD_OTHER]);

/* Short headings of tables and screens, which users may type instead of the column's name:
 * field_heading(i) is number i of all fields, NULL after the last. The heading means the column
 * `name` unless the kind has a column that is called like the heading. */
struct field_heading {
    const char *heading, *name;
};
const struct field_heading *field_heading(size_t i);

/* Finds a field by its name (`length` bytes), or else by its heading. A rate can also be found by
 * the name of its counter. Returns NULL if the kind has no such field. */
const struct field *field_find(const struct kind *kind, const char *name, size_t length);

/* Finds a field to compare or count by: for a view (VALUE_VIEW), the field that it begins with. */
const struct field *field_compared(const struct kind *kind, const char *name, size_t length);

/* Finds a field by a name that ends with NUL. */
static inline const struct field *field_named(const struct kind *kind, const char *name)
{
    return field_find(kind, name, strlen(name));
}

/* Returns the group of columns that a field of the kind belongs to, or NULL. */
const struct field_group *field_group(const struct kind *kind, const struct field *field);

/* Makes *dst a field of kind_count that shows values[index] under the name of `of`. */
void field_counted(struct field *dst, const struct field *of, size_t index);

/* A field that shows the network of an address: its first `ipv4` or `ipv6` bits. */
struct network_field {
    struct field field;
    const struct field *of; /* a field of type VALUE_ADDRESS */
    uint8_t ipv4, ipv6;
};
/* Makes *dst a field that shows the networks of the addresses in field `of`, which is borrowed. */
void field_network(struct network_field *dst, const struct field *of, uint8_t ipv4, uint8_t ipv6);

/* The number of rows in a group (kind_count). */
extern const struct field field_count;
/* The level of a group; unknown if a value that --warn or --crit compares is unknown. */
extern const struct field field_level;

#endif
