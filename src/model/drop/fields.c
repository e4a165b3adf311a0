/* SPDX-License-Identifier: MIT */
/* The fields of dropped packets. */
#include "model/fields/fields.h"
#include "fastnet/drop_reasons.h"
#include "fastnet/flow_names.h"
#include "model/socket/owner_fields.h"
#include "model/socket/view_fields.h"

static WORDS(source_name, [DROP_BY_TRACEPOINT] = "tracepoint", [DROP_BY_COUNTER] = "counter");

static char *write_meaning(char *dst, const struct value *view, bool human)
{
    const struct text text = view->view.record->drop.meaning;

    return escape_text(dst, text.data, text.length, human ? "" : " ");
}

static struct value view_meaning(const struct cell *cell)
{
    return cell->record->drop.meaning.length ? view(cell, write_meaning) : unknown;
}

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    GAUGE(drops, drop.drops, 0, "packets that were dropped", .unit = UNIT_PACKETS),
    COMPUTED(drops_per_second, VALUE_DECIMAL, number_per_second, 0, "... in a second",
             MEMBER(drop.drops), .index = offsetof(struct record, drop.elapsed),
             .unit = UNIT_PACKETS_PER_SECOND, .gauge = true),
    COMPUTED(reason, VALUE_TEXT, text_member, 0,
             "the kernel's name of the reason (NO_SOCKET, ...) or of a counter", .key = true,
             MEMBER(drop.reason), .word = drop_reason_word),
    COMPUTED(meaning, VALUE_TEXT, text_unless_empty, 0, "what the reason means, in a sentence",
             MEMBER(drop.meaning), .spaced = true),
    BOOLEAN(harmless, drop.harmless, 0, "whether the drop of these packets does no harm"),
    TEXT(function, drop.function, DROP_FUNCTION, "function of the kernel that dropped the packets",
         .key = true, .any_case = true),
    WORD(source, drop.source, source_name, 0,
         "tracepoint (each packet was seen) or counter (a counter of the kernel has grown)"),
    NAMED(protocol, drop.protocol, flow_protocol_word, DROP_PROTOCOL,
          "protocol of the first packet: tcp, udp, icmp, ...", .moving = true),
    ADDRESS(local_address, drop.local.address, DROP_ADDRESSES,
            "local address: destination of incoming packets, source of outgoing packets",
            .moving = true),
    NUMBER(local_port, drop.local.port, DROP_PORTS, "port of local_address", .port = true,
           .moving = true),
    ADDRESS(remote_address, drop.remote.address, DROP_ADDRESSES, "address of the other end",
            .moving = true),
    NUMBER(remote_port, drop.remote.port, DROP_PORTS, "port of remote_address", .port = true,
           .moving = true),
    HOST(local_host, drop.local.address, DROP_ADDRESSES, "host name of the local address"),
    HOST(remote_host, drop.remote.address, DROP_ADDRESSES, "host name of the remote address"),
    INTERFACE(interface, drop.interface, DROP_INTERFACE,
              "interface where packets arrived, or where outgoing packets leave", .moving = true),
    NUMBER(inode, drop.inode, DROP_SOCKET, "inode of the socket of the first packet",
           .moving = true),
    FIELDS_OF_SOCKET(DROP_SOCKET, drop.uid),
    VIEW(why, view_meaning, 0, 0, "meaning, for people"),
    VIEW(local, view_address_port, DROP_ADDRESSES, DROP_PORTS, "local_address with its port",
         MEMBER(drop.local.address), .index = offsetof(struct record, drop.local.port)),
    VIEW(remote, view_address_port, DROP_ADDRESSES, DROP_PORTS, "remote_address with its port",
         MEMBER(drop.remote.address), .index = offsetof(struct record, drop.remote.port)),
};

static const char *const views[][2] = {{"owners", "process"},
                                       {"why", "meaning"},
                                       {"local", "local_address"},
                                       {"remote", "remote_address"}};

static const struct borrowed borrowed[] = {
    BORROWED_TEXT(drop.reason, 0),
    BORROWED_TEXT(drop.meaning, 0),
    BORROWED_TEXT(drop.function, DROP_FUNCTION),
    BORROWED_TEXT(drop.origin, DROP_ORIGIN),
};

static const struct named_address hosts[] = {
    NAMED_ADDRESS(drop.local.address, DROP_ADDRESSES),
    NAMED_ADDRESS(drop.remote.address, DROP_ADDRESSES),
};

const struct kind kind_drop = {
    .name = "drops",
    .metric = "drop",
    .size = RECORD_SIZE(drop),
    FIELDS(fields),
    VIEWS(views),
    BORROWED(borrowed),
    HOSTS(hosts),
    .inode = offsetof(struct record, drop.inode),
    .origin = offsetof(struct record, drop.origin),
    .has_origin = DROP_ORIGIN,
};
