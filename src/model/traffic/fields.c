/* SPDX-License-Identifier: MIT */
/* The fields of packets, counted by flow. */
#include "model/fields/fields.h"
#include "fastnet/flow_names.h"
#include "model/socket/owner_fields.h"
#include "model/socket/view_fields.h"
#include "text/put.h"

/* The name of a protocol; for packets other than IP the name of the ethertype. */
static const char *protocol_word(uint64_t protocol)
{
    static const struct {
        uint16_t number;
        char word[16];
    } words[] = {
        {0x500, "none"},    {0x501, "802.3"},  {0x502, "ax25"},   {0x504, "802.2"},
        {0x50c, "can"},     {0x50d, "canfd"},  {0x50e, "canxl"},  {0x519, "hdlc"},
        {0x51a, "arcnet"},  {0x51b, "dsa"},    {0x5f5, "phonet"}, {0x5f6, "ieee802154"},
        {0x5f7, "caif"},    {0x5f8, "xdsa"},   {0x5f9, "map"},    {0x5fa, "mctp"},
        {0x5fe, "netlink"}, {0x800, "ip"},     {0x806, "arp"},    {0x86dd, "ipv6"},
        {0x8100, "vlan"},   {0x8809, "lacp"},  {0x8847, "mpls"},  {0x8863, "pppoe-discovery"},
        {0x8864, "pppoe"},  {0x888e, "eapol"}, {0x88a8, "qinq"},  {0x88cc, "lldp"},
        {0x88e5, "macsec"}, {0x88f7, "ptp"},
    };

    for (size_t i = 0; i < COUNT(words); i++)
        if (words[i].number == protocol)
            return words[i].word;
    return protocol <= UINT8_MAX ? flow_protocol_word(protocol) : NULL;
}

static const char *ethertype_word(uint64_t ethertype)
{
    if (ethertype >= TRAFFIC_ETHERTYPES)
        return protocol_word(ethertype);
    return ethertype <= UINT8_MAX ? protocol_word(TRAFFIC_WITHOUT_ETHERTYPE | ethertype) : NULL;
}

/* Unnamed ethertypes are shown in hexadecimal, as people know them. Smaller numbers are protocols
 * of IP. */
static struct value word_or_hex(const struct cell *cell)
{
    struct value value = named_member(cell);

    value.hex = value.name.number > UINT8_MAX;
    return value;
}

#define ETHERTYPE(id, path, function, ...)                                                         \
    FIELD(id, VALUE_NAME, word_or_hex, __VA_ARGS__, PLAIN(path), .word = function)

static const struct flag_names tcp_flag_names =
    FLAG_NAMES("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR");

/* field->index: 0 for the source, 1 for the destination. */
static struct value traffic_lladdr(const struct cell *cell)
{
    const struct traffic_record *traffic = &cell->record->traffic;
    const uint8_t *bytes = cell->field->index ? traffic->dst_lladdr : traffic->src_lladdr;

    return (struct value){.type = VALUE_LLADDR,
                          .text = {(const char *)bytes, sizeof traffic->src_lladdr}};
}

/* An IPv4-mapped address stays IPv6: only IPv6 packets contain it, and most of them are forged. */
static struct value address_of_packet(const struct cell *cell)
{
    struct address member; /* the member may be unaligned */

    memcpy(&member, (const char *)cell->record + cell->field->offset, sizeof member);
    return (struct value){.type = VALUE_ADDRESS, .address = member};
}

#define PACKET_ADDRESS(id, path, ...)                                                              \
    FIELD(id, VALUE_ADDRESS, address_of_packet, __VA_ARGS__, PLAIN(path))

static char *write_end(char *dst, const struct value *view, bool human)
{
    const struct field *field = view->view.field;
    const struct record *record = view->view.record;
    struct address end;
    uint16_t port;

    (void)human;
    memcpy(&end, (const char *)record + field->offset, sizeof end);
    memcpy(&port, (const char *)record + field->index, sizeof port);
    if (!address_is_mapped(&end))
        return put_address_port(dst, &end, record->has & TRAFFIC_PORTS, port);
    if (!(record->has & TRAFFIC_PORTS))
        return put_address(dst, &end);
    dst = PUT(put_address(PUT(dst, "["), &end), "]:");
    return port ? text_u64(dst, port) : PUT(dst, "*");
}

static struct value view_end(const struct cell *cell)
{
    return view(cell, write_end);
}

#define PER_SECOND(of, ...)                                                                        \
    COMPUTED(of##_per_second, VALUE_DECIMAL, number_per_second, 0, #of " in a second",             \
             MEMBER(traffic.of), .index = offsetof(struct record, traffic.elapsed), .gauge = true, \
             __VA_ARGS__)
/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    ETHERTYPE(protocol, traffic.protocol, protocol_word, 0,
              "tcp, udp, icmp ...; if the packet is not IP, the ethertype: arp, lldp ...",
              .key = true),
    PACKET_ADDRESS(src, traffic.src, TRAFFIC_ADDRESSES, "source address", .key = true),
    PACKET_ADDRESS(dst, traffic.dst, TRAFFIC_ADDRESSES, "destination address", .key = true),
    NUMBER(sport, traffic.sport, TRAFFIC_PORTS, "source port", .port = true, .key = true),
    NUMBER(dport, traffic.dport, TRAFFIC_PORTS, "destination port", .port = true, .key = true),
    GAUGE(packets, traffic.packets, 0,
          "packets; packets that segmentation offload splits or joins are counted one by one",
          .unit = UNIT_PACKETS),
    GAUGE(frames, traffic.frames, 0, "frames from the kernel; a frame can hold several packets",
          .unit = UNIT_PACKETS),
    GAUGE(bytes, traffic.bytes, 0, "bytes of the frames, including link-layer headers",
          .unit = UNIT_BYTES),
    PER_SECOND(packets, .unit = UNIT_PACKETS_PER_SECOND),
    PER_SECOND(bytes, .unit = UNIT_BYTES_PER_SECOND),
    FLAGS(tcp_flags, traffic.tcp_flags, tcp_flag_names, TRAFFIC_TCP,
          "flags of TCP that were seen, in any packet: SYN, ACK, FIN, RST ...", .moving = true),
    NANOSECONDS(first, traffic.first, 0, "when the first packet was seen, to a millisecond"),
    NANOSECONDS(last, traffic.last, 0, "when the last packet was seen"),
    INTERFACE(interface, traffic.interface, 0, "interface that the packets passed", .key = true),
    GAUGE(lost, traffic.lost, 0,
          "frames of all flows lost during the listing; each row has the same number",
          .unit = UNIT_PACKETS),
    GAUGE(undescribed, traffic.undescribed, 0,
          "frames of all flows that the kernel could not describe; no row counts them",
          .unit = UNIT_PACKETS),
    ETHERTYPE(ethertype, traffic.ethertype, ethertype_word, 0,
              "ethertype after all VLAN tags: ip, ipv6, arp ..."),
    NUMBER(vlan, traffic.vlan, TRAFFIC_VLAN, "number of the outermost VLAN tag", .key = true),
    COMPUTED(src_lladdr, VALUE_LLADDR, traffic_lladdr, TRAFFIC_LLADDRS,
             "source MAC (link-layer) address", .key = true),
    COMPUTED(dst_lladdr, VALUE_LLADDR, traffic_lladdr, TRAFFIC_LLADDRS,
             "destination MAC (link-layer) address", .key = true, .index = 1),
    PACKET_ADDRESS(address, traffic.address, TRAFFIC_END,
                   "one end of the flow; with this column a flow has a row for each end",
                   .key = true),
    HOST(src_host, traffic.src, TRAFFIC_ADDRESSES, "host name of the source address"),
    HOST(dst_host, traffic.dst, TRAFFIC_ADDRESSES, "host name of the destination address"),
    NUMBER(inode, traffic.inode, TRAFFIC_SOCKET,
           "inode of the socket on this machine that sends or receives the packets",
           .moving = true),
    FIELDS_OF_SOCKET(TRAFFIC_SOCKET, traffic.uid),
    VIEW(from, view_end, TRAFFIC_ADDRESSES, TRAFFIC_PORTS, "src with its port", MEMBER(traffic.src),
         .index = offsetof(struct record, traffic.sport)),
    VIEW(to, view_end, TRAFFIC_ADDRESSES, TRAFFIC_PORTS, "dst with its port", MEMBER(traffic.dst),
         .index = offsetof(struct record, traffic.dport)),
};

static const char *const views[][2] = {{"owners", "process"}, {"from", "src"}, {"to", "dst"}};

static const struct named_address hosts[] = {
    NAMED_ADDRESS(traffic.src, TRAFFIC_ADDRESSES),
    NAMED_ADDRESS(traffic.dst, TRAFFIC_ADDRESSES),
};

static const struct borrowed borrowed[] = {BORROWED_TEXT(traffic.origin, TRAFFIC_ORIGIN)};

const struct kind kind_traffic = {
    .name = "packets",
    .count_by = "protocol,dst",
    .size = RECORD_SIZE(traffic),
    FIELDS(fields),
    VIEWS(views),
    HOSTS(hosts),
    .inode = offsetof(struct record, traffic.inode),
    .origin = offsetof(struct record, traffic.origin),
    .has_origin = TRAFFIC_ORIGIN,
    .borrowed = borrowed,
    .borrowed_count = COUNT(borrowed),
};
