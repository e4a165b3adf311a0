/* SPDX-License-Identifier: MIT */
/* The rules: the readings that each needs, and its advice. Users rely on the names of rules, so the
 * names must not change. */
#include "doctor/rules.h"

#include "fastnet/array.h"

/* Among many fragments some always come too late: less than 1 % is not a finding. */
#define IN_PIECES                                                                                  \
    {                                                                                              \
        "packet", "packets", "could not be put together from fragments"                            \
    }
static const struct rule_growth fragments[] = {
    {"IPv4", REASSEMBLY_FAILS, REASSEMBLY_REQUIRED, 1, .least = 10, .loss = IN_PIECES},
    {"IPv6", REASSEMBLY6_FAILS, REASSEMBLY6_REQUIRED, 1, .least = 10, .loss = IN_PIECES,
     .advice = "see which machines send fragments; raise net.ipv6.ip6frag_high_thresh if memory is "
               "short",
     .command = "fastnet netstat -s6 --where 'name ~ *Reasm* and value > 0'"},
    {.counter = NO_NUMBER}};

/* Scanners with forged addresses cause a few such packets. If a machine has two interfaces in one
 * network, broadcasts come by both, and one of them is enough. */
static const struct rule_growth reverse_path[] = {
    {"IPv4", REVERSE_PATH_FILTERED, .least = 10, .reason = "IP_RPFILTER",
     .loss = {"packet was", "packets were",
              "dropped because the route back leads to another interface"}},
    {.counter = NO_NUMBER}};

/* One or two wrong sums are random bit errors. Packets that the card drops are not counted here. */
#define WRONG_SUM                                                                                  \
    {                                                                                              \
        "packet was", "packets were", "dropped because of a wrong checksum"                        \
    }
#define SHOW_WRONG_SUMS6 "fastnet netstat -s6 --where 'name ~ *InCsumErrors and value > 0'"
static const struct rule_growth checksums[] = {
    {"IPv4", CHECKSUMS_IP, .least = 3, .loss = WRONG_SUM},
    {"TCP", CHECKSUMS_TCP, .least = 3, .loss = WRONG_SUM},
    {"UDP", CHECKSUMS_UDP, .least = 3, .loss = WRONG_SUM},
    {"UDP of IPv6", CHECKSUMS_UDP6, .least = 3, .loss = WRONG_SUM, .command = SHOW_WRONG_SUMS6},
    {"ICMP", CHECKSUMS_ICMP, .least = 3, .loss = WRONG_SUM},
    {"ICMPv6", CHECKSUMS_ICMP6, .least = 3, .loss = WRONG_SUM, .command = SHOW_WRONG_SUMS6},
    {.counter = NO_NUMBER}};

static const struct filling time_wait = {
    .subject = "TIME_WAIT",
    .what = "connections in TIME_WAIT",
    .percent = NEARLY_PERCENT,
    .gauge = TCP_WAITING,
    .losses = {TIME_WAIT_OVERFLOW},
    .loss = {"connection", "connections", "skipped TIME_WAIT, because the table is full"},
    .harmless = true,
};

static const struct filling orphans = {
    .subject = "orphans",
    .what = "TCP connections without a process",
    .percent = 50,
    .gauge = TCP_ORPHANS,
    .losses = {ABORTS_ON_MEMORY},
    .loss = {"connection was", "connections were",
             "reset, because there were too many orphans or no memory"},
};

static const struct filling tcp_memory = {
    .subject = "memory of TCP",
    .what = "pages",
    .percent = NEARLY_PERCENT,
    .gauge = TCP_PAGES,
    .losses = {MEMORY_PRESSURES},
    .loss = {"time", "times", "TCP ran short of memory"},
};

static const struct filling udp_memory = {
    .subject = "memory of UDP",
    .what = "pages",
    .percent = NEARLY_PERCENT,
    .gauge = UDP_PAGES,
    .losses = {UDP_MEMORY_ERRORS, UDP6_MEMORY_ERRORS},
    .loss = {"datagram was", "datagrams were", "dropped, because UDP had no memory"},
};

static const struct filling open_files = {
    .subject = "open files",
    .what = "files that the machine may have open",
    .percent = NEARLY_PERCENT,
    .gauge = FILES_OPEN,
};

static const struct filling conntrack = {
    .subject = "conntrack",
    .what = "connections tracked",
    .percent = NEARLY_PERCENT,
    .gauge = FLOWS_TRACKED,
    .losses = {FLOWS_DROPPED, FLOWS_SQUEEZED},
    .less = FLOWS_RACED,
    .counter = "drop and early_drop",
    .loss = {"packet or connection was", "packets or connections were",
             "dropped by connection tracking"},
};

/* Without drops, rules with this part are not tried; for others they are evidence. */
static const struct rule_part dropped_packets[] = {{"dropped packets", READS_DROPS, {NO_NUMBER}},
                                                   {.name = NULL}};

const struct rule rules[] = {
    {{"accept-queue", "a program does not accept its connections fast enough",
      "find out what keeps the program from calling accept(2); for bursts, raise the backlog of "
      "its listen(2) and net.core.somaxconn",
      "fastnet sockets -lt --where 'recv_q > 0 or drops > 0'",
      "sock_diag: Recv-Q, Send-Q and drops of listeners; /proc/net/netstat: ListenOverflows",
      "a queue above its backlog, or ListenOverflows grows"},
     READS_TCP | READS_TCP_INFO | READS_COUNTERS | READS_DROPS,
     .evaluate = rule_accept_queue,
     .parts =
         (const struct rule_part[]){
             {"backlogs of listeners", READS_TCP | READS_TCP_INFO, {NO_NUMBER}},
             {"ListenOverflows", READS_COUNTERS, {LISTEN_OVERFLOWS}},
             {.name = NULL}}},
    {{"accept-wait", "connections wait long until a program accepts them",
      "find out what the program does instead of calling accept(2): it is stopped, or serves one "
      "connection after another",
      "fastnet sockets -lt --where 'recv_q > 0'",
      "sock_diag: Recv-Q of listeners, connections without an inode, last_data of struct tcp_info",
      "4 s in both readings, and the queue is not full"},
     READS_TCP | READS_TCP_INFO,
     .evaluate = rule_accept_wait},
    {{"unix-backlog", "a program does not accept connections of a unix socket fast enough",
      "find out what keeps the program from calling accept(2); for bursts, raise the backlog of "
      "its listen(2) and net.core.somaxconn",
      "fastnet sockets -lx --where 'recv_q > 0'", "unix_diag: Recv-Q and Send-Q of listeners",
      "a queue above its backlog"},
     READS_UNIX,
     .evaluate = rule_unix_backlog},
    {{"syn-flood", "too many connections are half-open",
      "see where the SYNs come from; keep net.ipv4.tcp_syncookies at 1; if they are wanted, "
      "raise the backlog of the listener, net.core.somaxconn and net.ipv4.tcp_max_syn_backlog",
      "fastnet sockets -t --state syn_recv --count-by remote_address/24",
      "sock_diag: SYN_RECV; /proc/net/netstat: SyncookiesSent, TCPReqQFullDrop, ListenDrops",
      "64 and 80 % of the backlog, or cookies, or drops"},
     READS_TCP | READS_TCP_INFO | READS_COUNTERS,
     .evaluate = rule_syn_flood,
     .parts =
         (const struct rule_part[]){
             {"backlogs of listeners", READS_TCP | READS_TCP_INFO, {NO_NUMBER}},
             {"SyncookiesSent or net.ipv4.tcp_syncookies",
              READS_COUNTERS,
              {SYNCOOKIES_SENT, SYNCOOKIES}},
             {.name = NULL}}},
    {{"ephemeral-ports", "no local port is left for connections to a destination",
      "keep connections open and use them again; use more source addresses or destinations; "
      "widen net.ipv4.ip_local_port_range",
      "fastnet sockets -t --count-by local_address,remote_address,remote_port --sort -count",
      "sock_diag: connections by destination; net.ipv4.ip_local_port_range", "90 % of the ports"},
     READS_TCP,
     .at_once = true,
     .evaluate = rule_ephemeral_ports,
     .parts =
         (const struct rule_part[]){
             {"connections or net.ipv4.ip_local_port_range", READS_TCP, {PORT_FIRST}},
             {"net.ipv4.tcp_tw_reuse", READS_TCP, {PORT_FIRST, TIME_WAIT_REUSE}},
             {.name = NULL}}},
    {{"storm", "a program opens and ends too many connections to a destination",
      "keep connections open and use them again (a pool, keep-alive); if that is not possible, let "
      "the other end close first, or widen net.ipv4.ip_local_port_range",
      "fastnet sockets -t --state time_wait --count-by remote_address,remote_port",
      "sock_diag: TIME_WAIT with its timer, sockets that are destroyed; BPF: who connected",
      "50 % of the ports in TIME_WAIT, or 20 % and a rate for 66 %"},
     READS_TCP | READS_REFUSED,
     .evaluate = rule_storm,
     .parts = (const struct rule_part[]){{"net.ipv4.tcp_tw_reuse", /* if it is 1, nothing counts */
                                          READS_TCP,
                                          {PORT_FIRST, TIME_WAIT_REUSE}},
                                         {.name = NULL}}},
    {{"close-wait", "a process does not close connections that the other end has closed",
      "fix the program: it has to close(2) a connection when read(2) returns 0",
      "fastnet sockets -t --state close_wait --count-by owners",
      "sock_diag: CLOSE_WAIT, last_ack and last_data of struct tcp_info",
      "100, or 10 and 20 % of the descriptors; 60 s, or growth"},
     READS_TCP | READS_TCP_INFO,
     .at_once = true,
     .evaluate = rule_close_wait},
    {{"time-wait", "the table of connections in TIME_WAIT is full",
      "keep connections open and use them again; raise net.ipv4.tcp_max_tw_buckets",
      "fastnet sockets -t --state time_wait --count-by remote_address --sort -count",
      "/proc/net/sockstat: tw; /proc/net/netstat: TCPTimeWaitOverflow",
      "90 % of the limit, or TCPTimeWaitOverflow grows"},
     READS_COUNTERS,
     .evaluate = rule_filling,
     .filling = &time_wait},
    {{"orphans", "too many closed connections have data that the other end does not accept",
      "see which peers do not accept it; lower net.ipv4.tcp_orphan_retries, raise "
      "net.ipv4.tcp_max_orphans (64 KiB each)",
      "fastnet sockets -t --where 'state in FIN_WAIT1,LAST_ACK,CLOSING and inode = 0'",
      "/proc/net/sockstat: orphan; /proc/net/netstat: TCPAbortOnMemory",
      "50 % of the limit, or TCPAbortOnMemory grows"},
     READS_COUNTERS | READS_MACHINE,
     .evaluate = rule_filling,
     .filling = &orphans},
    {{"tcp-memory", "TCP is short of memory",
      "see which sockets use most memory; raise net.ipv4.tcp_mem, which counts pages",
      "fastnet sockets -t --columns +mem_wmem,mem_rmem --sort -mem_wmem,-mem_rmem --limit 10",
      "/proc/net/sockstat: mem; net.ipv4.tcp_mem; /proc/net/netstat: TCPMemoryPressures",
      "90 % of tcp_mem, or TCPMemoryPressures grows"},
     READS_COUNTERS | READS_MACHINE,
     .evaluate = rule_tcp_memory,
     .filling = &tcp_memory},
    {{"udp-memory", "UDP has no memory left",
      "see which sockets use most memory; raise net.ipv4.udp_mem, which counts pages",
      "fastnet sockets -u --sort -recv_q --limit 10",
      "/proc/net/sockstat: mem; net.ipv4.udp_mem; /proc/net/snmp, snmp6: MemErrors",
      "90 % of udp_mem, or MemErrors grows"},
     READS_COUNTERS | READS_MACHINE | READS_DROPS,
     .evaluate = rule_filling,
     .filling = &udp_memory},
    {{"udp-buffer", "a program does not read its datagrams fast enough",
      "make the program read faster or in more threads; for bursts, set a larger SO_RCVBUF and "
      "raise net.core.rmem_max",
      "fastnet sockets -u --sort -recv_q",
      "sock_diag: drops of each socket; /proc/net/snmp, snmp6: RcvbufErrors",
      "drops of a socket and RcvbufErrors grow"},
     READS_UDP | READS_COUNTERS | READS_DROPS,
     .evaluate = rule_udp_buffer,
     .parts =
         (const struct rule_part[]){
             {"drops of UDP sockets", READS_UDP | READS_COUNTERS, {UDP_BUFFER_ERRORS}},
             {"RcvbufErrors", READS_COUNTERS, {UDP_BUFFER_ERRORS}},
             {.name = NULL}}},
    {{"conntrack-full", "connection tracking has no room for new connections",
      "raise net.netfilter.nf_conntrack_max; shorten "
      "net.netfilter.nf_conntrack_tcp_timeout_established; exclude traffic that needs no state "
      "(notrack)",
      "fastnet conntrack -L --count-by orig_src --sort -count",
      "ctnetlink: entries, maximum, drop, early_drop",
      "90 % of the limit, or drop or early_drop grows"},
     READS_FLOWS | READS_DROPS,
     .evaluate = rule_filling,
     .filling = &conntrack},
    {{"conntrack-races", "packets are dropped because their connection is tracked already",
      "for DNS: let resolvers send one query at a time (single-request-reopen of "
      "resolv.conf(5)); for NAT: use more addresses or ports",
      "fastnet conntrack -S", "ctnetlink: insert_failed", "insert_failed grows by 2 a second"},
     READS_FLOWS,
     .compares = true,
     .evaluate = rule_flow_races,
     .parts =
         (const struct rule_part[]){{"insert_failed", READS_FLOWS, {FLOWS_RACED}}, {.name = NULL}}},
    {{"stale-nat", "NAT leads UDP flows to an address that does not answer or exist",
      "delete these flows, so that their next packets get a target that exists, and find out why "
      "they were left when the target went",
      "fastnet conntrack -L -p udp --dst-nat",
      "ctnetlink: UDP flows with DST_NAT; rtnetlink: neighbours, routes; the tracepoint "
      "skb:kfree_skb, by BPF",
      "no answer between the readings, or 3 dropped packets"},
     READS_FLOWS | READS_NAT | READS_ROUTES | READS_DROPS,
     .compares = true,
     .evaluate = rule_stale_nat},
    {{"tracking-off", "connections are not tracked any more",
      "find out who removed the rules of the firewall or of NAT, and load them again (nft list "
      "ruleset; systemctl status nftables)",
      "fastnet conntrack --usage", "ctnetlink: entries; nfnetlink_hook",
      "10 tracked connections, then none"},
     READS_FLOWS,
     .compares = true,
     .evaluate = rule_tracking_off},
    {{"neighbour-table", "the table of neighbours has no room for new entries",
      "raise gc_thresh1, gc_thresh2 and gc_thresh3 of net.ipv4.neigh.default and of "
      "net.ipv6.neigh.default",
      "fastnet neigh --usage", "rtnetlink: neighbour tables; /proc/net/stat: table_fulls",
      "90 % of gc_thresh3, or table_fulls grows"},
     READS_NEIGHBOURS | READS_MACHINE | READS_DROPS,
     .evaluate = rule_neighbours,
     .parts =
         (const struct rule_part[]){{"number of entries", READS_NEIGHBOURS, {ARP_ENTRIES, ARP_MAX}},
                                    {.name = NULL}}},
    {{"softnet", "CPUs drop packets before a socket gets them, or handle packets late",
      "raise net.core.netdev_max_backlog (drops), or net.core.netdev_budget and "
      "netdev_budget_usecs (late packets); spread packets over more CPUs (RSS, RPS)",
      "cat /proc/net/softnet_stat", "/proc/net/softnet_stat: columns 2 and 3",
      "1 drop, or 100 and 1 % of the packets late"},
     READS_SOFTNET | READS_MACHINE | READS_DROPS,
     .evaluate = rule_softnet},
    {{"nic-queue", "a receive queue of a network card drops packets, or gets nearly all of them",
      "give the card larger rings (ethtool -G), and spread its packets over more queues and CPUs "
      "(ethtool -l, -x, and /proc/irq/IRQ/smp_affinity_list)",
      "fastnet netstat -i --queues --where 'direction = rx'",
      "generic netlink, the family netdev: counters of queues; /proc/net/softnet_stat",
      "10 packets and 0.1 or 1 % lost, or 90 % in one of 4 queues"},
     READS_QUEUES | READS_INTERFACES | READS_SOFTNET | READS_TCP | READS_TCP_INFO,
     .compares = true,
     .evaluate = rule_nic_queue,
     .parts = (const struct rule_part[]){{"queues of network cards", READS_QUEUES, {NO_NUMBER}},
                                         {.name = NULL}}},
    {{"interface-errors", "an interface loses packets or has errors",
      "for errors, check cable, optics and duplex; for missed packets, check the size of the "
      "rings (ethtool -G)",
      "fastnet netstat -ie", "rtnetlink: counters of interfaces",
      "1 packet; a fault: 10 and 0.1 %"},
     READS_INTERFACES,
     .compares = true,
     .evaluate = rule_interfaces},
    {{"queue-drops", "packets are dropped because too many wait to be sent",
      "find out which program sends this traffic; give the interface another queueing discipline "
      "(fq_codel) or a longer queue (tc(8))",
      "fastnet netstat -i --columns interface,tx_packets,tx_queue_drops --where "
      "'tx_queue_drops > 0'",
      "rtnetlink: queueing disciplines and counters of interfaces", "10 packets and 1 %"},
     READS_INTERFACES | READS_LINKS | READS_DROPS,
     .compares = true,
     .evaluate = rule_queue_drops},
    {{"duplicate-address", "an IPv6 address belongs to another machine, too",
      "find the other machine by its MAC address, which is in the kernel's log (dmesg), and "
      "give one of the machines another address",
      "fastnet netstat -i --columns interface,addresses_failed,addresses --where "
      "'addresses_failed > 0'",
      "rtnetlink: addresses with the flag dadfailed", "1 address"},
     READS_INTERFACES | READS_LINKS,
     .at_once = true,
     .evaluate = rule_duplicate_address},
    {{"neighbour-flap", "two machines have one IP address, or a program scans the network",
      "find both machines by their MAC addresses (in the tables of the switch), and give one of "
      "them another IP address; if it is one machine with two interfaces, set "
      "net.ipv4.conf.all.arp_ignore to 1 there; if they are a bond of mode balance-alb, all is "
      "well",
      "fastnet neigh --state failed,incomplete --count-by interface",
      "rtnetlink: neighbours and events of RTNLGRP_NEIGH; packet(7): ARP packets",
      "a change and a return; 1 ARP packet; 64 new addresses"},
     READS_ROUTES | READS_INTERFACES | READS_LINKS | READS_TCP | READS_CHANGES | READS_ARP,
     .compares = true,
     .evaluate = rule_neighbour_flap,
     .parts =
         (const struct rule_part[]){
             {"states of neighbours", READS_ROUTES | READS_INTERFACES, {NO_NUMBER}},
             {"changes of neighbours", READS_CHANGES, {NO_NUMBER}},
             {"ARP packets", READS_ARP | READS_LINKS, {NO_NUMBER}},
             {.name = NULL}}},
    {{"multicast-missing",
      "a program waits for a multicast group that its interface has not joined",
      "let the program join the group on the interface at which the packets arrive: "
      "IP_ADD_MEMBERSHIP with an address or the index of this interface, or IPV6_JOIN_GROUP with "
      "its index (fastnet netstat -g lists the groups of each interface)",
      "fastnet netstat -g",
      "the tracepoint skb:kfree_skb, by BPF; /proc/net/igmp, igmp6; sock_diag: UDP sockets",
      "3 dropped packets"},
     READS_DROPS,
     .compares = true,
     .evaluate = rule_multicast,
     .parts = dropped_packets},
    {{"fragments", "fragments of packets cannot be put together",
      "see which machines send fragments; raise net.ipv4.ipfrag_high_thresh if memory is short",
      "fastnet netstat -s --where 'name ~ *Reasm* and value > 0'",
      "/proc/net/snmp, snmp6: ReasmFails, ReasmReqds", "10 packets and 1 %"},
     READS_COUNTERS | READS_DROPS,
     .compares = true,
     .evaluate = rule_growth,
     .growths = fragments},
    {{"reverse-path", "packets arrive on an interface that does not lead back to their source",
      "find out why they come this way; correct the route to their sources, or set "
      "net.ipv4.conf.INTERFACE.rp_filter to 2 where both ways are right",
      "fastnet netstat -s --where 'name = IPReversePathFilter'",
      "/proc/net/netstat: IPReversePathFilter", "10 packets"},
     READS_COUNTERS | READS_DROPS,
     .compares = true,
     .evaluate = rule_growth,
     .growths = reverse_path},
    {{"checksums", "packets arrive with wrong checksums",
      "find the cable, network card, driver or tunnel that damages packets: look at the counters "
      "of each machine on the way",
      "fastnet netstat -s --where 'name ~ *InCsumErrors and value > 0'",
      "/proc/net/snmp, netstat, snmp6: InCsumErrors", "3 packets"},
     READS_COUNTERS | READS_DROPS,
     .compares = true,
     .evaluate = rule_growth,
     .growths = checksums},
    {{"retransmissions", "many segments are retransmitted",
      "see which peers they go to: if to all, check this machine's link; if to some, check the "
      "path to them",
      "fastnet sockets -t --where 'total_retrans > 0' --sort -total_retrans --limit 10",
      "/proc/net/snmp: OutSegs, RetransSegs; netstat: TCPSynRetrans, TCPDSACKRecv",
      "10 segments and 1 %; a fault: 5 %"},
     READS_COUNTERS,
     .compares = true,
     .evaluate = rule_retransmissions},
    {{"loss", "segments to one peer or network are lost",
      "check the path to it, because segments to others arrive: cables, ports, queues and rate "
      "limits on the way (mtr(8)), and the link of the other end",
      "fastnet sockets -t --where 'total_retrans > 0' --sort -total_retrans --limit 10",
      "sock_diag: data_segs_out, total_retrans and dsack_dups of struct tcp_info; /proc/net/snmp: "
      "OutSegs, RetransSegs",
      "3 segments and 1 % to a peer or network, elsewhere 0.1 %"},
     READS_TCP | READS_TCP_INFO | READS_LOSS | READS_REFUSED | READS_COUNTERS,
     .compares = true,
     .evaluate = rule_loss},
    {{"slow-zone", "packets to one peer or network take ten times as long as to others like it",
      "check the way to it (traceroute(8)): a detour, a full queue, or a tunnel; if it is far "
      "away, "
      "this is normal",
      "fastnet sockets -t --columns +min_rtt --sort -min_rtt --limit 20",
      "sock_diag: min_rtt and data_segs_out of struct tcp_info",
      "20 ms, and ten times that of others"},
     READS_TCP | READS_TCP_INFO | READS_LOSS,
     .evaluate = rule_slow_zone},
    {{"peer-not-reading", "the program at the other end does not read",
      "look at the other end: its program is stopped, or waits for something else",
      "fastnet sockets -t --where 'send_q > 0' --sort -send_q",
      "sock_diag: probe timer, rwnd_limited, busy and acked of struct tcp_info",
      "window closed in both readings and half of the time"},
     READS_TCP | READS_TCP_INFO,
     .compares = true,
     .evaluate = rule_peer_not_reading},
    {{"slow-reader", "a program of this machine does not read its data",
      "look at the program: it is stopped, or waits for something else",
      "fastnet sockets -t --where 'recv_q > 0' --sort -recv_q",
      "sock_diag: Recv-Q, bytes_received and rcv_space of struct tcp_info",
      "a full buffer of which nothing is read"},
     READS_TCP | READS_TCP_INFO,
     .compares = true,
     .evaluate = rule_slow_reader},
    {{"peer-gone", "the other end is gone and has not closed the connection",
      "check whether small and large packets reach these peers (ping -M do -s 1472, for IPv6 "
      "1452), and whether a firewall or NAT on the way has forgotten the connections; set "
      "TCP_USER_TIMEOUT or net.ipv4.tcp_retries2 if the program should notice sooner",
      "fastnet sockets -t --where 'retransmits > 2 or (timer = keepalive and probes > 1)'",
      "sock_diag: retransmission and keepalive timer, backoff, probes and last_ack of struct "
      "tcp_info",
      "3 retransmissions or 2 probes, 10 s, 1 % of the connections"},
     READS_TCP | READS_TCP_INFO | READS_DROPS,
     .at_once = true,
     .evaluate = rule_peer_gone},
    {{"gateway", "a gateway does not answer",
      "check that the gateway is up and on this cable or VLAN, and that the route to it is right",
      "fastnet neigh --state failed,incomplete",
      "rtnetlink: neighbours and routes of the main table",
      "no answer for 1.5 s, used in the last 15 s"},
     READS_ROUTES | READS_INTERFACES,
     .at_once = true,
     .evaluate = rule_gateway,
     .parts = (const struct rule_part[]){{"states of neighbours", READS_ROUTES, {NO_NUMBER}},
                                         {.name = NULL}}},
    {{"no-answer", "attempts to connect get no answer",
      "check whether a firewall drops the SYNs or the answers, and whether the machine exists",
      "fastnet sockets -t --state syn_sent",
      "sock_diag: SYN_SENT with retransmissions, sockets that are destroyed; BPF: who gave up",
      "2 repeated SYNs, or 3 s in attempts given up"},
     READS_TCP | READS_REFUSED | READS_DROPS,
     .evaluate = rule_no_answer},
    {{"refused", "many connections are refused, or their hosts are unreachable",
      "see where the program should connect to, and if something listens there",
      "fastnet netstat -st --where 'name = ActiveOpens,AttemptFails,EmbryonicRsts'",
      "/proc/net/snmp: AttemptFails, ActiveOpens; /proc/net/netstat: EmbryonicRsts; sock_diag: "
      "sockets that are destroyed; the tracepoints sys_exit and skb:kfree_skb, by BPF",
      "50 connections and 10 % of the attempts"},
     READS_COUNTERS | READS_REFUSED | READS_DROPS,
     .compares = true,
     .evaluate = rule_refused},
    {{"scan", "a machine tries many ports that are closed",
      "see what this machine is; if it checks services, find out why they do not run; if it should "
      "not look for open ports, block it in the firewall",
      "fastnet traffic any --count-by src,dst", "the tracepoint skb:kfree_skb, by BPF",
      "20 ports of a destination, and one port a second"},
     READS_DROPS | READS_SCANS,
     .compares = true,
     .evaluate = rule_scan,
     .parts = dropped_packets},
    {{"dns", "a DNS server does not answer, or answers slowly",
      "check that the server can be reached (firewalls, routes) and answers (dig @ADDRESS); else "
      "name another server (/etc/resolv.conf)",
      "fastnet sockets -u --where 'remote_port = 53'",
      "the tracepoints sock_send_length and sock_recv_length, by BPF; sock_diag: sockets that are "
      "connected to port 53 or 853; ctnetlink: flows to port 53",
      "3 queries without an answer for 1 s, or 1 for 3 s"},
     READS_UDP | READS_TCP | READS_TCP_INFO | READS_REFUSED | READS_FLOWS | READS_QUERIES |
         READS_DNS | READS_DROPS | READS_COUNTERS,
     .evaluate = rule_dns,
     .parts =
         (const struct rule_part[]){{"sockets", READS_UDP | READS_TCP, {NO_NUMBER}},
                                    {"flows to port 53", READS_FLOWS | READS_QUERIES, {NO_NUMBER}},
                                    {.name = NULL}}},
    {{"mtu-black-hole", "large segments are lost, small segments arrive",
      "check whether large packets pass (ping -M do -s 1472, for IPv6 1452); let ICMP "
      "\"fragmentation "
      "needed\" pass; set net.ipv4.tcp_mtu_probing=1, or clamp the MSS",
      "fastnet sockets -t --where 'retransmits > 2' --columns +snd_mss,pmtu",
      "sock_diag: backoff, snd_mss, unacked, bytes_acked, last_ack and last_data of struct "
      "tcp_info",
      "3 retransmissions of large segments"},
     READS_TCP | READS_TCP_INFO,
     .at_once = true,
     .evaluate = rule_mtu},
    {{"descriptors", "a process has nearly reached its limit of open descriptors",
      "raise its limit (LimitNOFILE= of systemd.exec(5), ulimit -n), or find out which files "
      "or sockets it does not close",
      "ls -l /proc/PID/fd", "/proc/PID/fd, /proc/PID/limits", "90 % of the limit of the process"},
     READS_PROCESSES | READS_MACHINE,
     .at_once = true,
     .evaluate = rule_descriptors},
    {{"socket-leak", "a process holds many sockets that no table of the kernel lists",
      "fix the program: it has to close(2) a socket after an error, too, and when it no longer "
      "needs it",
      "fastnet sockets --unlisted --pid PID",
      "/proc/PID/fd, /proc/PID/limits, and the state of each socket, by BPF if it can be used",
      "100, and 1000, half of the limit, or growth by 20"},
     READS_HELD,
     .evaluate = rule_socket_leak},
    {{"open-files", "the machine has nearly reached its limit of open files",
      "raise fs.file-max, or find out which process does not close its files",
      "find /proc/[0-9]*/fd -type l 2>/dev/null | sed 's,/fd/.*,,' | sort | uniq -c | sort -nr | "
      "head",
      "/proc/sys/fs/file-nr", "90 % of fs.file-max"},
     READS_PROCESSES | READS_MACHINE,
     .at_once = true,
     .evaluate = rule_filling,
     .filling = &open_files},
    {{"drops", "packets are dropped that should have arrived",
      "see whose packets they are and which function dropped them", "fastnet drops",
      "the tracepoint skb:kfree_skb, by BPF", "10 packets a second for one reason"},
     READS_DROPS,
     .compares = true,
     .evaluate = rule_drops,
     .parts = dropped_packets},
};
const size_t rule_count = COUNT(rules);

const struct doctor_rule *doctor_rule(size_t i)
{
    return i < rule_count ? &rules[i].text : NULL;
}
