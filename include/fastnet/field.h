/* SPDX-License-Identifier: MIT */
/*
 * Fields: the parts of a record that can be shown, sorted by, counted by and filtered by. Each is
 * one line in the table of the record's kind. A field yields a value; a sink decides how to write
 * it, the engine how to compare it. Field names are a promise: they are columns, JSON keys and
 * words in filters.
 */
#ifndef FASTNET_FIELD_H
#define FASTNET_FIELD_H

#include <string.h>

#include "fastnet/record.h"
#include "fastnet/value.h"

/* The needs of a listing for each row: fields from a backend, and lookups. */
#define NEED_OWNERS     (UINT64_C(1) << 0)  /* inode -> processes: /proc is walked */
#define NEED_COMMANDS   (UINT64_C(1) << 1)  /* ... and their argv[0] is read */
#define NEED_USERS      (UINT64_C(1) << 2)  /* uid -> name */
#define NEED_SERVICES   (UINT64_C(1) << 3)  /* port -> name */
#define NEED_HOSTS      (UINT64_C(1) << 4)  /* address -> name */
#define NEED_INTERFACES (UINT64_C(1) << 5)  /* index -> name */
#define NEED_LABELS     (UINT64_C(1) << 6)  /* bit of a connection label -> name */
#define NEED_SENDERS    (UINT64_C(1) << 7)  /* netlink port -> name of its process */
#define NEED_LINKS      (UINT64_C(1) << 8)  /* index -> its master and the namespace of its peer */
#define NEED_NETWORKS   (UINT64_C(1) << 9)  /* network's address -> name */
#define NEED_CGROUPS    (UINT64_C(1) << 10) /* id of a control group -> path */
#define NEED_EPHEMERAL  (UINT64_C(1) << 11) /* whether the kernel chooses a port */
#define NEED_PEERS      (UINT64_C(1) << 12) /* socket -> its other end on this machine */
#define NEED_THREADS    (UINT64_C(1) << 13) /* ... -> threads: with NEED_OWNERS */
/* With NEED_HOSTS: an IPv4-mapped address is looked up as the IPv4 address, not as it is. */
#define NEED_UNMAPPED (UINT64_C(1) << 14)
#define NEED_MACHINE  (UINT64_C(1) << 15) /* the names of this machine and its namespace */
#define NEED_LISTING  (UINT64_C(1) << 16) /* when it began, its number, and the run before */
/* With NEED_CGROUPS: where no backend tells a row's group (kind.cgroup), that of its owners. */
#define NEED_OWNERS_CGROUPS (UINT64_C(1) << 17)
#define NEED_PIDS_INSIDE    (UINT64_C(1) << 18) /* with NEED_OWNERS: in their own pid namespaces */
#define NEED_CONTAINERS     (UINT64_C(1) << 19) /* with NEED_CGROUPS: names of containers and pods */
#define NEED_CONNECTS       (UINT64_C(1) << 20) /* when and by whom connections are made */
#define NEED_RPC_PROGRAMS   (UINT64_C(1) << 21) /* port -> name of its RPC program */

/* Owners, or control groups, which those of owners may stand in for. */
#define NEED_ANY_OWNERS (NEED_OWNERS | NEED_OWNERS_CGROUPS)

/* The C library looks these up, and may load and run anything for that (nsswitch.conf(5)). */
#define NEED_NAMES (NEED_USERS | NEED_SERVICES | NEED_HOSTS | NEED_NETWORKS | NEED_RPC_PROGRAMS)

struct needs {
    uint64_t fields;  /* bits of the record's kind (SOCKET_*, FLOW_* ...), as in record.has */
    uint64_t lookups; /* NEED_* */
    uint32_t parts;   /* of borrowed structs (borrowed.parted): PARTS(); 0: nobody names them */
};

/* The parts of PART_SIZE bytes in which `size` bytes from `offset` on lie: a bit for each. */
enum { PART_SIZE = 16, PARTED_MAX = 32 * PART_SIZE };
#define PARTS(offset, size)                                                                        \
    ((uint32_t)((UINT64_C(2) << ((offset) + (size)-1) / PART_SIZE) -                               \
                (UINT64_C(1) << (offset) / PART_SIZE)))

static inline void needs_add(struct needs *needs, struct needs more)
{
    needs->fields |= more.fields;
    needs->lookups |= more.lookups;
    needs->parts |= more.parts;
}

struct owners;
struct users;
struct services;
struct hosts;
struct interfaces;
struct labels;
struct senders;
struct networks;
struct cgroups;
struct peers;
struct netns;

/* The meaning of numbers in one network namespace. */
struct here {
    struct interfaces *interfaces;
    /* ip_local_port_range of ip(7): the first and last that the kernel chooses; 0: not known. */
    uint64_t ephemeral[2];
    struct peers *peers;
    const struct netns *netns; /* (namespace.h) */
};

static inline bool port_is_ephemeral(const struct here *here, uint16_t port)
{
    return port >= here->ephemeral[0] && port <= here->ephemeral[1];
}

enum { HOST_NAME_SIZE = 65 }; /* __NEW_UTS_LEN + 1 of linux/utsname.h */

/* The lookups of a listing; a member is NULL when no field needs it. */
struct context {
    struct owners *owners;
    struct users *users;
    struct services *services;
    struct rpc_programs *rpc_programs;
    struct hosts *hosts;
    struct labels *labels;
    struct senders *senders;
    struct networks *networks;
    struct cgroups *cgroups;
    char host[HOST_NAME_SIZE]; /* of the machine; empty: unknown */
    struct here here;          /* of the namespace that the row was read in */
    uint64_t time, number;     /* of the listing (engine.h); 0: unknown */
};

/* The type of the record's member behind a field; of a number its size. */
enum member_type {
    MEMBER_NONE,
    MEMBER_UINT8, /* this and the next three: host byte order */
    MEMBER_UINT16 = sizeof(uint16_t),
    MEMBER_UINT32 = sizeof(uint32_t),
    MEMBER_UINT64 = sizeof(uint64_t),
    MEMBER_TEXT,    /* struct text */
    MEMBER_ADDRESS, /* struct address */
    MEMBER_ULONG = sizeof(unsigned long) == 8 ? MEMBER_UINT64 : MEMBER_UINT32,
};

enum unit {
    UNIT_NONE,
    UNIT_BYTES,
    UNIT_SECONDS,
    UNIT_PACKETS,
    UNIT_PERCENT,
    UNIT_BYTES_PER_SECOND,
    UNIT_PACKETS_PER_SECOND
};

/* One field of one record, from which a value is made. */
struct cell {
    const struct field *field;
    const struct record *record;
    const struct context *context;
};

typedef struct value field_fn(const struct cell *cell);
typedef const char *word_fn(uint64_t number);

/* Small, because the loader writes the pointers in these tables, and each page costs time. */
struct field {
    const char *name;  /* in --columns, JSON and CSV; in capitals as a table's heading */
    const char *help;  /* one line */
    uint64_t fields;   /* that the backend must fill (SOCKET_*, FLOW_* ...) */
    uint64_t optional; /* fields to ask for too; they may be absent */
    uint32_t lookups;  /* NEED_* */
    uint32_t parts;    /* of borrowed structs that it reads, as in struct needs */
    uint16_t offset;   /* bytes from the start of the record to its member */
    enum value_type type : 8;
    enum unit unit : 4;
    enum member_type member : 4; /* of the member of struct record behind it, if there is one */
    bool key : 1;                /* all key fields together identify a row across listings */
    bool constant : 1;           /* ... but every row has the same value: there is only one */
    bool counter : 1;            /* only grows until it is reset, so it has a rate */
    bool partly : 1;             /* ... but only in rows that have the optional fields */
    bool gauge : 1;              /* a number that rises and falls */
    bool plain : 1;              /* its value is always the value of the member */
    bool coloured : 1;           /* its values are states: a table may colour them */
    bool port : 1;               /* of a transport protocol: filters take names of services, too */
    bool rate : 1;               /* the change per second of a counter (`of`) */
    bool of_netns : 1;           /* names the network namespace of the row */
    bool pair : 1;               /* it is computed from two fields: of[0] and of[1] */
    bool exact : 1;              /* all its digits matter to people (value_write_human()) */
    bool sum : 1;   /* the sum over a group's rows; `help` describes the number that is added */
    bool owner : 1; /* of the first owner: filters ask all (field_owners()) */
    /* A bit of optional, or 0: without it filters know nothing, or of a set what is in it. Null is
     * an empty set then, and none that is unknown. */
    unsigned confirmed : 6;
    uint8_t marks; /* bits of the kind's field "attention": these reasons are seen in this one */
    /* All words that its values can be; without them any text can be meant. */
    union {
        const struct flag_names *flags; /* VALUE_FLAGS: the names of its bits */
        word_fn *word;                  /* the name of a number, or NULL */
    };
    union {
        size_t index;           /* which of several parts of the record */
        view_fn *write;         /* of VIEW_BY() */
        const struct field *of; /* of a rate */
        /* A number inside a member that is a struct text, which may be too short for it. */
        struct {
            enum member_type type;
            uint16_t offset, size;
        } part;
    };
    /*
     * Called by field_value() when all needed fields are filled. Borrows from the record and the
     * context. Returns a value of field->type, or an unknown one.
     */
    field_fn *value;
};

/* The unit that its number is made short by for people. */
static inline int field_shown_unit(const struct field *field)
{
    return field->exact ? UNIT_NONE : (int)field->unit;
}

static inline struct value field_value(const struct field *field, const struct record *record,
                                       const struct context *context)
{
    if (field->fields & ~record->has)
        return (struct value){.type = VALUE_UNKNOWN};
    return field->value(&(struct cell){field, record, context});
}

/*
 * The member behind a field as a number. Too large a number is stored as the member's maximum. A
 * counter may be a part of borrowed bytes: field_set_number() changes them.
 */
uint64_t field_number(const struct field *field, const struct record *record);
void field_set_number(const struct field *field, struct record *record, uint64_t number);

/* True if the field is a counter that grows in this row. */
static inline bool field_grows(const struct field *field, const struct record *record)
{
    const uint64_t optional = field->partly ? field->optional : 0;

    return field->counter && !((field->fields | optional) & ~record->has);
}

/* The needs of a field that is shown. */
static inline struct needs field_needs(const struct field *field)
{
    return (struct needs){field->fields | field->optional, field->lookups, field->parts};
}

/* The fields without which a filter knows nothing of it. */
static inline uint64_t field_compares(const struct field *field)
{
    return field->fields | (field->confirmed ? UINT64_C(1) << field->confirmed : 0);
}

/* A field of the first owner: the field that lists all of them stands behind it. */
static inline const struct field *field_owners(const struct field *first)
{
    while (first->type != VALUE_OWNERS)
        first++;
    return first;
}

/*
 * The fields of a kind by number, from 0 on, and behind them those that every kind has: time,
 * listing, host and netns. Returns NULL behind the last.
 */
const struct field *field_at(const struct kind *kind, size_t i);

/* True if this is one of its names, as users type names: in any case, and with '-' for '_'. */
bool field_is_named(const struct field *field, const char *name, size_t length);

/* The name that users may type, too: mac for lladdr, src_mac for src_lladdr; NULL without one. */
enum { FIELD_OTHER = 16 };
const char *field_other_name(const struct field *field, char name[FIELD_OTHER]);

/*
 * Returns NULL when the kind has no field of this name (length bytes). A rate has the name of its
 * counter, too.
 */
const struct field *field_find(const struct kind *kind, const char *name, size_t length);

/* The same, to compare or count by: a view (VALUE_VIEW) stands for the field it begins with. */
const struct field *field_compared(const struct kind *kind, const char *name, size_t length);

static inline const struct field *field_named(const struct kind *kind, const char *name)
{
    return field_find(kind, name, strlen(name));
}

/* The group of columns that a field of the kind belongs to, or NULL. */
const struct field_group *field_group(const struct kind *kind, const struct field *field);

/* Makes *dst a field of kind_count that shows values[index] and has the name of `of`. */
void field_counted(struct field *dst, const struct field *of, size_t index);

/* A field of the networks that addresses are in: with prefixes of so many bits. */
struct network_field {
    struct field field;
    const struct field *of; /* a VALUE_ADDRESS */
    uint8_t ipv4, ipv6;
};
void field_network(struct network_field *dst, const struct field *of, uint8_t ipv4, uint8_t ipv6);

/* The number of records in a group of kind_count. */
extern const struct field field_count;

#endif
