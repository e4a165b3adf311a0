/* SPDX-License-Identifier: MIT */
/* The fields of sockets, and values as text. */
#include <errno.h>
#include <fcntl.h>
#include <linux/packet_diag.h>
#include <linux/types.h>
#include <linux/xdp_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/owners.h"
#include "fastnet/peers.h"
#include "fastnet/text.h"
#include "fastnet/users.h"
#include "kit.h"

static struct record tcp_record(void)
{
    struct record record = {.kind = &kind_socket, .has = UINT64_MAX, .identity = 4711};
    struct socket_record *socket = &record.socket;

    socket->family = AF_INET;
    socket->protocol = IPPROTO_TCP;
    socket->state = TCP_ESTABLISHED;
    socket->timer = TIMER_KEEPALIVE;
    socket->timer_ms = 7199250;
    socket->retransmits = 2;
    socket->probes = 3;
    socket->recv_q = 17;
    socket->send_q = 4294967295U;
    socket->backlog = 128;
    socket->uid = 1000;
    socket->inode = 123456;
    socket->local.address = ip("192.0.2.1");
    socket->remote.address = ip("198.51.100.2");
    socket->local.port = 22;
    socket->remote.port = 65535;
    return record;
}

static struct record unix_record(void)
{
    struct record record = {.kind = &kind_socket, .has = UINT64_MAX};
    struct socket_record *socket = &record.socket;

    socket->family = AF_UNIX;
    socket->state = TCP_LISTEN;
    socket->type = SOCK_SEQPACKET;
    socket->refcount = 2;
    socket->flags = 1U << 16;
    socket->path = (struct text){"/run/a b", 8};
    return record;
}

/* The names of the manual: once released they stay. */
static const char *const promised[] = {
    "protocol",
    "family",
    "state",
    "recv_q",
    "send_q",
    "local_address",
    "local_port",
    "remote_address",
    "remote_port",
    "local_host",
    "remote_host",
    "local_service",
    "remote_service",
    "interface",
    "user",
    "uid",
    "inode",
    "pid",
    "process",
    "processes",
    "timer",
    "expires",
    "retransmits",
    "probes",
    "type",
    "references",
    "flags",
    "path",
    "peer_inode",
    "pending",
    "file_inode",
    "file_device",
    "ether_protocol",
    "packet_version",
    "copy_threshold",
    "packet_flags",
    "rx_ring",
    "tx_ring",
    "fanout",
    "fanout_type",
    "bpf_filter",
    "netlink_protocol",
    "portid",
    "groups",
    "dst_portid",
    "dst_group",
    "cid",
    "vsock_port",
    "peer_cid",
    "peer_port",
    "queue_id",
    "umem_id",
    "umem_size",
    "fill_ring",
    "completion_ring",
    "xdp_rx_dropped",
    "xdp_rx_invalid",
    "xdp_rx_full",
    "xdp_fill_ring_empty",
    "xdp_tx_invalid",
    "xdp_tx_ring_empty",
    "backlog",
    "cookie",
    "rto",
    "backoff",
    "rtt",
    "rttvar",
    "min_rtt",
    "rcv_rtt",
    "ato",
    "snd_mss",
    "rcv_mss",
    "advmss",
    "pmtu",
    "snd_cwnd",
    "snd_ssthresh",
    "snd_wnd",
    "rcv_wnd",
    "rcv_space",
    "rcv_ssthresh",
    "notsent_bytes",
    "unacked",
    "sacked",
    "lost",
    "retrans",
    "fackets",
    "reordering",
    "bytes_sent",
    "bytes_retrans",
    "bytes_acked",
    "bytes_received",
    "segs_out",
    "segs_in",
    "data_segs_out",
    "data_segs_in",
    "delivered",
    "delivered_ce",
    "received_ce",
    "total_retrans",
    "dsack_dups",
    "reord_seen",
    "rcv_ooopack",
    "rehash",
    "total_rto",
    "total_rto_recoveries",
    "total_rto_time",
    "last_data_sent",
    "last_data_recv",
    "last_ack_recv",
    "busy_time",
    "rwnd_limited",
    "sndbuf_limited",
    "pacing_rate",
    "max_pacing_rate",
    "delivery_rate",
    "send_rate",
    "snd_wscale",
    "rcv_wscale",
    "ca_state",
    "tcp_options",
    "ecn_mode",
    "fastopen_client_fail",
    "app_limited",
    "congestion",
    "bbr_bw",
    "bbr_min_rtt",
    "bbr_pacing_gain",
    "bbr_cwnd_gain",
    "dctcp_ce_state",
    "dctcp_alpha",
    "dctcp_ab_ecn",
    "dctcp_ab_tot",
    "vegas_rtt",
    "vegas_minrtt",
    "backlog_percent",
    "mem_rmem",
    "mem_rcvbuf",
    "mem_wmem",
    "mem_sndbuf",
    "mem_forward",
    "mem_queued",
    "mem_optmem",
    "mem_backlog",
    "drops",
    "mark",
    "cgroup_id",
    "cgroup",
    "autobound",
    "tos",
    "tclass",
    "class_id",
    "v6only",
    "shutdown",
    "sockopts",
    "ulp",
    "tls_version",
    "tls_cipher",
    "tls_rx",
    "tls_tx",
    "mptcp_subflows",
    "mptcp_subflows_total",
    "mptcp_subflows_max",
    "mptcp_add_addr_signal",
    "mptcp_add_addr_accepted",
    "mptcp_flags",
    "mptcp_token",
    "mptcp_write_seq",
    "mptcp_snd_una",
    "mptcp_rcv_nxt",
    "mptcp_csum_enabled",
    "mptcp_retransmits",
    "mptcp_bytes_retrans",
    "mptcp_bytes_sent",
    "mptcp_bytes_received",
    "mptcp_bytes_acked",
    "mptcp_last_data_sent",
    "mptcp_last_data_recv",
    "mptcp_last_ack_recv",
    "sctp_state",
    "sctp_tag",
    "sctp_peer_tag",
    "sctp_rwnd",
    "sctp_peer_rwnd",
    "sctp_unackdata",
    "sctp_penddata",
    "sctp_instrms",
    "sctp_outstrms",
    "sctp_rtxchunks",
    "sctp_overall_error",
    "peer_pid",
    "peer_process",
    "peer_processes",
    "peer_path",
    "md5_peers",
    "subflow_flags",
    "subflow_token_local",
    "subflow_token_remote",
    "subflow_id_local",
    "subflow_id_remote",
    "subflow_map_seq",
    "subflow_map_sfseq",
    "subflow_ssn_offset",
    "subflow_map_datalen",
    "tipc_node",
    "tipc_port",
    "tipc_peer_node",
    "tipc_peer_port",
    "tipc_service_type",
    "tipc_service_instance",
    "tipc_congestion",
    "tipc_drops",
    "tipc_published",
    "sctp_local_addresses",
    "sctp_peer_addresses",
    "tls_zc_ro_tx",
    "tls_no_pad_rx",
    "idle",
    "unit",
    "container",
    "pod",
    "pid_inside",
    "attention",
    "owners",
    "peer",
    "proto",
    "local",
    "remote",
    "recv",
    "send",
    "resent",
    "activity",
    "container_name",
    "pod_name",
    "owner_by",
    "age",
    "age_at_least",
    "connect_error",
    "lived",
    "resent_percent",
    "event",
    "whose",
    "interfaces",
    "listed",
    "ended",
    "ended_by",
    "reset_reason",
    "reset_meaning",
    "connect_time",
    "end",
    "command",
    "exe",
    "exe_deleted",
    "cwd",
    "started",
    "parent_pid",
    "parent",
    "ancestors",
    "reachable",
    "opened",
    "failed",
    "closed",
};

static void the_promised_names_are_there_in_order(void **state)
{

    (void)state;
    ASSERT_NAMES(&kind_socket, promised);
}

static void only_whole_names_are_found(void **state)
{
    (void)state;
    assert_null(field_find(&kind_socket, "protoc", 6));
    assert_null(field_find(&kind_socket, "protocols", 9));
    assert_null(field_find(&kind_socket, "", 0));
    assert_non_null(field_find(&kind_socket, "protocol,family", 8));
    assert_null(field_find(&kind_count, "protocol", 8));
}

static void a_tcp_connection_shows_every_member(void **state)
{
    static const char *const expected[][2] = {
        {"protocol", "tcp"},      {"family", "inet"},
        {"state", "ESTABLISHED"}, {"recv_q", "17"},
        {"send_q", "4294967295"}, {"local_address", "192.0.2.1"},
        {"local_port", "22"},     {"remote_address", "198.51.100.2"},
        {"remote_port", "65535"}, {"uid", "1000"},
        {"inode", "123456"},      {"timer", "keepalive"},
        {"expires", "7199.250"},  {"retransmits", "2"},
        {"probes", "3"},          {"backlog", "128"},
        {"cookie", "4711"},       {NULL, NULL},
    };
    const struct record record = tcp_record();

    (void)state;
    assert_fields(&record, expected);
}

static void a_unix_socket_has_no_addresses_and_ports(void **state)
{
    static const char *const expected[][2] = {
        {"protocol", "unix"},     {"family", "unix"},  {"state", "LISTEN"},
        {"local_address", "-"},   {"local_port", "-"}, {"remote_address", "-"},
        {"remote_port", "-"},     {"local_host", "-"}, {"remote_service", "-"},
        {"type", "seqpacket"},    {"references", "2"}, {"flags", "ACC"},
        {"path", "/run/a\\x20b"}, {NULL, NULL},
    };
    const struct record record = unix_record();

    (void)state;
    assert_fields(&record, expected);
}

/* A row of the family that has these fields. */
static struct record row_of(uint8_t family, uint64_t has)
{
    return (struct record){.kind = &kind_socket, .has = has, .socket.family = family};
}

static void a_unix_socket_shows_its_other_end_and_its_file(void **state)
{
    static const char *const expected[][2] = {
        {"peer_inode", "4712"},  {"pending", "2"}, {"file_inode", "815"}, {"file_device", "2051"},
        {"ether_protocol", "-"}, {"cid", "-"},     {NULL, NULL},
    };
    static const uint32_t waiting[] = {71, 0};
    struct record record = row_of(AF_UNIX, SOCKET_PEER | SOCKET_ICONS | SOCKET_VFS);

    (void)state;
    record.socket.peer = 4712;
    record.socket.waiting = (struct text){(const char *)waiting, sizeof waiting};
    record.socket.file_inode = 815;
    record.socket.file_device = 8 << 20 | 3; /* stat(2) has 8 << 8 | 3 */
    assert_fields(&record, expected);
}

static void a_packet_socket_shows_what_it_gets_and_how(void **state)
{
    static const char *const expected[][2] = {
        {"family", "packet"},      {"type", "raw"},          {"ether_protocol", "arp"},
        {"packet_version", "2"},   {"copy_threshold", "64"}, {"packet_flags", "running,loss"},
        {"rx_ring", "16"},         {"tx_ring", "-"},         {"fanout", "4369"},
        {"fanout_type", "random"}, {"bpf_filter", "2"},      {"peer_inode", "-"},
        {"local_port", "-"},       {"local_address", "-"},   {NULL, NULL},
    };
    const struct packet_diag_ring ring = {.pdr_block_nr = 8, .pdr_frame_nr = 16};
    const uint64_t filter[2] = {0};
    struct record record =
        row_of(AF_PACKET, SOCKET_TYPE | SOCKET_ETHER | SOCKET_PACKET | SOCKET_RX_RING |
                              SOCKET_TX_RING | SOCKET_FANOUT | SOCKET_FILTER);

    (void)state;
    record.socket.type = SOCK_RAW;
    record.socket.ether_protocol = 0x0806;
    record.socket.packet_version = 2;
    record.socket.copy_threshold = 64;
    record.socket.packet_flags = 0x11;
    record.socket.fanout = 0x1004u << 16 | 4369; /* with PACKET_FANOUT_FLAG_ROLLOVER */
    record.socket.rx_ring = (struct text){(const char *)&ring, sizeof ring};
    record.socket.tx_ring = (struct text){(const char *)&ring, sizeof(uint32_t)};
    record.socket.filter = (struct text){(const char *)filter, sizeof filter};
    assert_fields(&record, expected);
    record.socket.ether_protocol = 0x4711;
    assert_field("ether_protocol", &record, "18193");
}

static void a_netlink_socket_shows_its_groups_by_number(void **state)
{
    static const char *const expected[][2] = {
        {"family", "netlink"},
        {"netlink_protocol", "kobject_uevent"},
        {"portid", "4294967295"},
        {"groups", "1,32,66"},
        {"dst_portid", "7"},
        {"dst_group", "3"},
        {NULL, NULL},
    };
    static const unsigned char groups[] = {1, 0, 0, 0x80, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0};
    struct record record = row_of(AF_NETLINK, SOCKET_NETLINK | SOCKET_GROUPS | SOCKET_DESTINATION);
    unsigned long words[sizeof groups / sizeof(unsigned long)] = {0};

    (void)state;
    for (size_t i = 0; i < 8 * sizeof groups; i++) {
        const size_t bits = 8 * sizeof *words;
        const unsigned long bit = groups[i / 8] >> i % 8 & 1;
        words[i / bits] |= bit << i % bits;
    }
    record.socket.netlink_protocol = 15;
    record.socket.portid = UINT32_MAX;
    record.socket.dst_portid = 7;
    record.socket.dst_group = 3;
    record.socket.groups = (struct text){(const char *)words, sizeof words};
    assert_fields(&record, expected);
    record.socket.groups.length = sizeof *words - 1; /* no whole word */
    assert_field("groups", &record, "-");
    record.socket.netlink_protocol = 17;
    assert_field("netlink_protocol", &record, "17");
}

static void a_timers_count_is_nothing_of_netlink(void **state)
{
    const struct record record = row_of(AF_INET, SOCKET_TIMER | SOCKET_TIMER_COUNT);

    (void)state;
    assert_field("dst_portid", &record, "-");
    assert_field("dst_group", &record, "-");
}

static void a_vsock_shows_both_ends(void **state)
{
    static const char *const expected[][2] = {
        {"family", "vsock"}, {"cid", "4294967295"}, {"vsock_port", "100000"},
        {"peer_cid", "2"},   {"peer_port", "7"},    {NULL, NULL},
    };
    struct record record = row_of(AF_VSOCK, SOCKET_VSOCK);

    (void)state;
    record.socket.cid = UINT32_MAX;
    record.socket.vsock_port = 100000;
    record.socket.peer_cid = 2;
    record.socket.peer_port = 7;
    assert_fields(&record, expected);
}

static void an_xdp_socket_shows_its_rings_and_counters(void **state)
{
    static const char *const expected[][2] = {
        {"family", "xdp"},       {"queue_id", "9"},          {"rx_ring", "2048"},
        {"tx_ring", "1024"},     {"fill_ring", "512"},       {"completion_ring", "256"},
        {"umem_id", "5"},        {"umem_size", "16777216"},  {"xdp_rx_dropped", "1"},
        {"xdp_rx_invalid", "2"}, {"xdp_rx_full", "3"},       {"xdp_fill_ring_empty", "4"},
        {"xdp_tx_invalid", "5"}, {"xdp_tx_ring_empty", "-"}, {NULL, NULL},
    };
    static const uint32_t rings[] = {2048, 1024, 512, 256};
    const struct xdp_diag_umem umem = {.size = 1 << 24, .id = 5};
    const uint64_t stats[] = {1, 2, 3, 4, 5};
    struct record record =
        row_of(AF_XDP, SOCKET_QUEUE_ID | SOCKET_RX_RING | SOCKET_TX_RING | SOCKET_FILL_RING |
                           SOCKET_COMPLETION_RING | SOCKET_UMEM | SOCKET_XDP_STATS);

    (void)state;
    record.socket.queue_id = 9;
    record.socket.rx_ring = (struct text){(const char *)&rings[0], sizeof *rings};
    record.socket.tx_ring = (struct text){(const char *)&rings[1], sizeof *rings};
    record.socket.fill_ring = (struct text){(const char *)&rings[2], sizeof *rings};
    record.socket.completion_ring = (struct text){(const char *)&rings[3], sizeof *rings};
    record.socket.umem = (struct text){(const char *)&umem, sizeof umem};
    record.socket.stats = (struct text){(const char *)stats, sizeof stats};
    assert_fields(&record, expected);
}

static void a_listener_has_nothing_to_send(void **state)
{
    static const char *const expected[][2] = {
        {"recv_q", "17"}, {"send_q", "0"}, {"backlog", "128"}, {NULL, NULL}};
    struct record record = tcp_record();

    (void)state;
    record.socket.state = TCP_LISTEN; /* send_q is what the kernel says of it */
    assert_fields(&record, expected);
}

static void a_raw_socket_has_no_remote_port(void **state)
{
    static const char *const expected[][2] = {
        {"local_port", "22"}, {"remote_port", "0"}, {"remote_service", "-"}, {NULL, NULL}};
    struct record record = tcp_record();

    (void)state;
    record.socket.protocol = IPPROTO_RAW;
    assert_fields(&record, expected);
}

static void states_have_their_kernel_names(void **state)
{
    static const char *const names[] = {
        "-",         "ESTABLISHED", "SYN_SENT",     "SYN_RECV",       "FIN_WAIT1",
        "FIN_WAIT2", "TIME_WAIT",   "CLOSE",        "CLOSE_WAIT",     "LAST_ACK",
        "LISTEN",    "CLOSING",     "NEW_SYN_RECV", "BOUND_INACTIVE", "-",
    };
    struct record record = tcp_record();

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        record.socket.state = (uint8_t)i;
        assert_field("state", &record, names[i]);
    }
    record.socket.state = 255;
    assert_field("state", &record, "-");
}

static void timers_have_names_and_only_a_running_one_expires(void **state)
{
    static const char *const names[] = {"off",   "retransmit", "keepalive", "time_wait",
                                        "probe", "delack",     "-"};
    struct record record = tcp_record();

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        record.socket.timer = (uint8_t)i;
        assert_field("timer", &record, names[i]);
        assert_field("expires", &record, i == TIMER_OFF ? "-" : "7199.250");
    }
}

static void protocols_and_unix_types_have_names(void **state)
{
    struct record record = tcp_record();
    struct record local = unix_record();

    (void)state;
    record.socket.protocol = IPPROTO_UDP;
    assert_field("protocol", &record, "udp");
    record.socket.protocol = IPPROTO_UDPLITE;
    assert_field("protocol", &record, "udplite");
    record.socket.protocol = IPPROTO_RAW;
    assert_field("protocol", &record, "raw");
    record.socket.protocol = 200;
    assert_field("protocol", &record, "-");
    local.socket.type = SOCK_STREAM;
    assert_field("type", &local, "stream");
    local.socket.type = SOCK_DGRAM;
    assert_field("type", &local, "dgram");
    local.socket.type = 77;
    assert_field("type", &local, "-");
    local.socket.flags = 7U << 16;
    assert_field("flags", &local, "ACC,W,N");
    local.socket.flags = 0;
    assert_field("flags", &local, "-");
}

static void a_mapped_address_is_the_ipv4_address(void **state)
{
    struct record record = tcp_record();

    (void)state;
    record.socket.family = AF_INET6;
    record.socket.local.address = ip("::ffff:192.0.2.1");
    record.socket.remote.address = ip("2001:db8::1");
    assert_field("family", &record, "inet6");
    assert_field("local_address", &record, "192.0.2.1");
    assert_field("remote_address", &record, "2001:db8::1");
    assert_int_equal(value_of("local_address", &record, &no_names).address.family, AF_INET);
    assert_int_equal(value_of("remote_address", &record, &no_names).address.family, AF_INET6);
}

static void without_lookups_numbers_mean_names(void **state)
{
    struct record record = tcp_record();

    (void)state;
    assert_field("user", &record, "1000");
    assert_field("interface", &record, "-");
    record.socket.interface = 4294967295U;
    assert_field("interface", &record, "4294967295");
    assert_field("local_host", &record, "-");
    assert_field("local_service", &record, "-");
    assert_field("pid", &record, "-");
    assert_field("process", &record, "-");
    assert_field("processes", &record, "-");
}

static void users_and_interfaces_are_shown_by_name(void **state)
{
    struct context context = {.users = users_create(), .netns.interfaces = interfaces_create()};
    struct record record = tcp_record();

    (void)state;
    assert_non_null(context.users);
    assert_non_null(context.netns.interfaces);
    record.socket.uid = 0;
    assert_string_equal(text_of("user", &record, &context), "root");
    record.socket.uid = 4294967293U;
    assert_string_equal(text_of("user", &record, &context), "4294967293");
    record.socket.interface = 1; /* the first of every namespace */
    assert_string_equal(text_of("interface", &record, &context), "lo");
    users_destroy(context.users);
    interfaces_destroy(context.netns.interfaces);
}

/* A captured tree in which one process holds the socket 123456 twice and another once. */
static const char *const tree[][2] = {
    {"17", NULL},
    {"17/fd", NULL},
    {"17/comm", "one,/ \"x\n"},
    {"17/fd/3", "socket:[123456]"},
    {"17/fd/12", "socket:[123456]"},
    {"204", NULL},
    {"204/fd", NULL},
    {"204/comm", "two\n"},
    {"204/fd/3", "socket:[123456]"},
};

static void make_entry(const char *path, const char *content)
{
    if (content == NULL) {
        assert_int_equal(mkdir(path, 0700), 0);
    } else if (strncmp(content, "socket:", 7) == 0) {
        assert_int_equal(symlink(content, path), 0);
    } else {
        const int fd = open(path, O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(fd, content, strlen(content)), strlen(content));
        close(fd);
    }
}

static struct owners *owners_of_tree(void)
{
    char root[] = "/tmp/fastnet-columns-XXXXXX", path[sizeof(root) + 32];
    const size_t count = sizeof(tree) / sizeof(tree[0]);
    struct owners *owners = NULL;

    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", root, tree[i][0]);
        make_entry(path, tree[i][1]);
    }
    const struct owners_options options = {.proc_root = root};
    assert_int_equal(owners_create(&owners, &options), 0);
    for (size_t i = count; i-- > 0;) {
        snprintf(path, sizeof(path), "%s/%s", root, tree[i][0]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(root), 0);
    return owners;
}

static void all_owners_of_a_socket_are_shown(void **state)
{
    const struct context context = {.owners = owners_of_tree()};
    struct record record = tcp_record();

    (void)state;
    assert_string_equal(text_of("pid", &record, &context), "17");
    assert_string_equal(text_of("process", &record, &context), "one,/\\x20\"x");
    assert_string_equal(text_of("processes", &record, &context),
                        "one\\x2c\\x2f\\x20\\x22x/17/3,one\\x2c\\x2f\\x20\\x22x/17/12,two/204/3");
    owners_destroy(context.owners);
}

static void a_socket_without_owners_has_none_and_no_first(void **state)
{
    const struct context context = {.owners = owners_of_tree()};
    struct record record = tcp_record();

    (void)state;
    for (uint64_t inode = 0; inode < 2; inode++) {
        record.socket.inode = inode;
        assert_int_equal(value_of("pid", &record, &context).type, VALUE_UNKNOWN);
        assert_int_equal(value_of("process", &record, &context).type, VALUE_UNKNOWN);
        const struct value value = value_of("processes", &record, &context);
        assert_int_equal(value.type, VALUE_OWNERS);
        assert_int_equal(value.owners.count, 0);
    }
    record.has &= ~SOCKET_INODE;
    assert_int_equal(value_of("processes", &record, &context).type, VALUE_UNKNOWN);
    owners_destroy(context.owners);
}

static void the_other_end_shows_its_owners_and_its_name(void **state)
{
    const struct context context = {.owners = owners_of_tree(), .netns.peers = peers_create()};
    struct record record = unix_record(), other = unix_record();

    (void)state;
    other.socket.inode = 123456;
    assert_int_equal(peers_add(context.netns.peers, &other), 0);
    assert_string_equal(text_of("peer_processes", &record, &context), "-");
    record.socket.peer = 123456;
    assert_string_equal(text_of("peer_pid", &record, &context), "17");
    assert_string_equal(text_of("peer_process", &record, &context), "one,/\\x20\"x");
    assert_string_equal(text_of("peer_path", &record, &context), "/run/a\\x20b");
    assert_string_equal(text_of("pid", &record, &context), "-");
    record.socket.peer = 123457;
    assert_string_equal(text_of("peer_pid", &record, &context), "-");
    assert_string_equal(text_of("peer_path", &record, &context), "-");
    peers_destroy(context.netns.peers);
    owners_destroy(context.owners);
}

static void an_ended_socket_shows_where_it_comes_from(void **state)
{
    static const char *const known[][2] = {{"age", "12.500"},    {"age_at_least", "yes"},
                                           {"lived", ">12.500"}, {"connect_error", "ECONNREFUSED"},
                                           {"owner_by", "-"},    {NULL, NULL}};
    static const char *const exact[][2] = {
        {"age_at_least", "no"}, {"lived", "0.007"}, {"connect_error", "12345"}, {NULL, NULL}};
    const struct socket_origin refused = {.pid = 7, .name = "x", .error = ECONNREFUSED},
                               failed = {.error = 12345}, made = {.pid = 0};
    struct record record = {.kind = &kind_socket,
                            .has = SOCKET_ORIGIN | SOCKET_AGE | SOCKET_INODE,
                            .socket = {.family = AF_INET, .age = {12500, true}}};

    (void)state;
    record.socket.origin = (struct text){(const char *)&refused, sizeof refused};
    assert_fields(&record, known);
    record.socket.origin.data = (const char *)&failed;
    record.socket.age = (struct age){7, false};
    assert_fields(&record, exact);
    record.socket.origin.data = (const char *)&made;
    assert_field("connect_error", &record, "-");
    record.has = SOCKET_INODE;
    assert_field("age", &record, "-");
    assert_field("connect_error", &record, "-");
}

static void an_ended_connection_shows_how_it_ended(void **state)
{
    static const char *const known[][2] = {
        {"ended", "reset"},
        {"ended_by", "local"},
        {"reset_reason", "TCP_ABORT_ON_CLOSE"},
        {"reset_meaning",
         "the\\x20process\\x20closed\\x20the\\x20socket\\x20before\\x20it\\x20had"
         "\\x20read\\x20all\\x20data,\\x20or\\x20ended\\x20an\\x20MPTCP\\x20connection"
         "\\x20at\\x20once"},
        {"connect_time", "0.001234"},
        {"end", "reset_by_local"},
        {NULL, NULL}};
    static const char *const half[][2] = {
        {"ended", "closed"},   {"ended_by", "-"}, {"reset_reason", "-"}, {"reset_meaning", "-"},
        {"connect_time", "-"}, {"end", "closed"}, {NULL, NULL}};
    static const char *const later[][2] = {
        {"ended", "-"}, {"reset_reason", "A_LATER_REASON"}, {"reset_meaning", "-"}, {NULL, NULL}};
    const struct socket_origin reset = {.ended = ENDED_RESET,
                                        .ended_by = ENDED_BY_LOCAL,
                                        .reset_reason = "TCP_ABORT_ON_CLOSE",
                                        .connect_time = 1234},
                               closed = {.ended = ENDED_CLOSED},
                               other = {.reset_reason = "A_LATER_REASON"};
    struct record record = {.kind = &kind_socket, .has = SOCKET_ORIGIN};

    (void)state;
    record.socket.origin = (struct text){(const char *)&reset, sizeof reset};
    assert_fields(&record, known);
    record.socket.origin.data = (const char *)&closed;
    assert_fields(&record, half);
    record.socket.origin.data = (const char *)&other;
    assert_fields(&record, later);
    record.has = 0;
    assert_field("ended", &record, "-");
    assert_field("end", &record, "-");
}

static void who_sent_first_owns_a_udp_socket_that_ended(void **state)
{
    const struct context context = {.owners = owners_of_tree()};
    const struct socket_origin sender = {.pid = 4711, .name = "as\"k\n"};
    struct record record = {.kind = &kind_socket,
                            .has = SOCKET_ORIGIN | SOCKET_INODE,
                            .socket = {.family = AF_INET, .protocol = IPPROTO_UDP}};

    (void)state;
    record.socket.origin = (struct text){(const char *)&sender, sizeof sender};
    assert_string_equal(text_of("owner_by", &record, &context), "send");
    assert_string_equal(text_of("pid", &record, &context), "4711");
    assert_string_equal(text_of("process", &record, &context), "as\"k\\x0a");
    record.socket.protocol = IPPROTO_TCP;
    assert_string_equal(text_of("owner_by", &record, &context), "connect");
    owners_destroy(context.owners);
}

static void a_cell_is_never_empty_and_a_dash_is_unknown(void **state)
{
    struct value value = {.type = VALUE_UNKNOWN};

    (void)state;
    assert_string_equal(text_of_value(&value), "-");
    value = (struct value){.type = VALUE_TEXT, .text = {"", 0}};
    assert_string_equal(text_of_value(&value), "-");
    value = (struct value){.type = VALUE_TEXT, .text = {"-", 1}};
    assert_string_equal(text_of_value(&value), "\\x2d");
    value = (struct value){.type = VALUE_NAME, .name = {"-", 1}};
    assert_string_equal(text_of_value(&value), "\\x2d");
    value = (struct value){.type = VALUE_TEXT, .text = {"--", 2}};
    assert_string_equal(text_of_value(&value), "--");
    value = (struct value){.type = VALUE_OWNERS};
    assert_string_equal(text_of_value(&value), "-");
    value = (struct value){.type = VALUE_SOCKET_NAME, .text = {"\0a b", 4}};
    assert_string_equal(text_of_value(&value), "@a\\x20b");
}

static void counted_columns_show_the_values_of_a_group(void **state)
{
    const struct value values[] = {
        {.type = VALUE_TEXT, .text = {"LISTEN", 6}},
        {.type = VALUE_NUMBER, .number = 443},
    };
    const struct record record = {.kind = &kind_count, .count = {.values = values, .count = 12}};
    struct field first, second;

    (void)state;
    field_counted(&first, field_find(&kind_socket, "state", 5), 0);
    field_counted(&second, field_find(&kind_socket, "local_port", 10), 1);
    struct value value = field_value(&first, &record, &no_names);
    assert_string_equal(text_of_value(&value), "LISTEN");
    value = field_value(&second, &record, &no_names);
    assert_string_equal(text_of_value(&value), "443");
    value = field_value(&field_count, &record, &no_names);
    assert_string_equal(text_of_value(&value), "12");
    assert_string_equal(second.name, "local_port");
    assert_true(second.fields == 0 && second.lookups == 0);
    assert_int_equal(kind_count.field_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_promised_names_are_there_in_order),
        cmocka_unit_test(only_whole_names_are_found),
        cmocka_unit_test(a_tcp_connection_shows_every_member),
        cmocka_unit_test(a_unix_socket_has_no_addresses_and_ports),
        cmocka_unit_test(a_unix_socket_shows_its_other_end_and_its_file),
        cmocka_unit_test(a_packet_socket_shows_what_it_gets_and_how),
        cmocka_unit_test(a_netlink_socket_shows_its_groups_by_number),
        cmocka_unit_test(a_timers_count_is_nothing_of_netlink),
        cmocka_unit_test(a_vsock_shows_both_ends),
        cmocka_unit_test(an_xdp_socket_shows_its_rings_and_counters),
        cmocka_unit_test(a_listener_has_nothing_to_send),
        cmocka_unit_test(a_raw_socket_has_no_remote_port),
        cmocka_unit_test(states_have_their_kernel_names),
        cmocka_unit_test(timers_have_names_and_only_a_running_one_expires),
        cmocka_unit_test(protocols_and_unix_types_have_names),
        cmocka_unit_test(a_mapped_address_is_the_ipv4_address),
        cmocka_unit_test(without_lookups_numbers_mean_names),
        cmocka_unit_test(users_and_interfaces_are_shown_by_name),
        cmocka_unit_test(all_owners_of_a_socket_are_shown),
        cmocka_unit_test(a_socket_without_owners_has_none_and_no_first),
        cmocka_unit_test(the_other_end_shows_its_owners_and_its_name),
        cmocka_unit_test(an_ended_socket_shows_where_it_comes_from),
        cmocka_unit_test(an_ended_connection_shows_how_it_ended),
        cmocka_unit_test(who_sent_first_owns_a_udp_socket_that_ended),
        cmocka_unit_test(a_cell_is_never_empty_and_a_dash_is_unknown),
        cmocka_unit_test(counted_columns_show_the_values_of_a_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
