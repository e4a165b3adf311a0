/* SPDX-License-Identifier: MIT */
/* Which packets the kernel is asked to leave out: the tests do what it does, and then ask it. */
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fuzz/kernel_filter.h"
#include "cli/where/where.h"
#include "fastnet/flow_names.h"
#include "fastnet/query.h"
#include "kit.h"
#include "probes/packet/packet_filter.h"

enum { SNAP = 96, FRAME_MAX = 128 };

struct frame {
    const char *name;
    uint8_t bytes[FRAME_MAX];
    size_t length;
};

static uint8_t *put16(uint8_t *at, unsigned number)
{
    at[0] = (uint8_t)(number >> 8);
    at[1] = (uint8_t)number;
    return at + 2;
}

/* A frame of Ethernet with IP, eight bytes of its protocol, and no tag. */
static struct frame make(const char *name, const char *src, unsigned sport, const char *dst,
                         unsigned dport, uint8_t protocol)
{
    struct frame frame = {.name = name};
    const struct address from = ip(src), to = ip(dst);
    const bool ipv4 = from.family == AF_INET;
    const size_t size = address_size(&from), header = ipv4 ? 20 : 40;
    uint8_t *at = put16(frame.bytes + 12, ipv4 ? ETH_P_IP : ETH_P_IPV6);

    at[0] = ipv4 ? 0x45 : 0x60;
    put16(at + (ipv4 ? 2 : 4), ipv4 ? 28 : 8);
    at[ipv4 ? 9 : 6] = protocol;
    memcpy(at + (ipv4 ? 12 : 8), from.bytes, size);
    memcpy(at + (ipv4 ? 12 : 8) + size, to.bytes, size);
    put16(put16(at + header, sport), dport);
    frame.length = ETH_HLEN + header + 8;
    return frame;
}

static struct frame make_other(const char *name, uint16_t ethertype)
{
    struct frame frame = {.name = name, .length = 60};

    put16(frame.bytes + 12, ethertype);
    return frame;
}

enum { FRAMES = 10 };

/* All of them tell what their rows say. */
static void make_frames(struct frame frames[FRAMES])
{
    struct frame options = make("options", "10.0.0.1", 1000, "10.0.0.2", 443, IPPROTO_TCP);

    /* four bytes of them, before the ports */
    memmove(options.bytes + 38, options.bytes + 34, 8);
    memset(options.bytes + 34, 0, 4);
    options.bytes[14] = 0x46;
    options.length += 4;
    frames[0] = options;
    frames[1] = make("there", "10.0.0.1", 1000, "10.0.0.2", 443, IPPROTO_TCP);
    frames[2] = make("back", "10.0.0.2", 443, "10.0.0.1", 1000, IPPROTO_TCP);
    frames[3] = make("udp", "192.0.2.1", 53, "10.1.0.1", 65535, IPPROTO_UDP);
    frames[4] = make("icmp", "10.0.0.1", 443, "10.0.0.2", 443, IPPROTO_ICMP);
    frames[5] = make("tcp6", "2001:db8::1", 1000, "2001:db8::2", 443, IPPROTO_TCP);
    frames[6] = make("icmp6", "fe80::1", 443, "ff02::1", 443, IPPROTO_ICMPV6);
    frames[7] = make("mapped", "::ffff:10.0.0.1", 0, "::ffff:10.9.9.9", 22, IPPROTO_UDP);
    frames[8] = make_other("arp", ETH_P_ARP);
    frames[9] = make_other("lldp", ETH_P_LLDP);
}

/* Its row, by the simplest way: none of them has a tag or is a fragment. */
static struct record row_of(const struct frame *frame)
{
    const uint8_t *at = frame->bytes + ETH_HLEN;
    const uint16_t ethertype = (uint16_t)(frame->bytes[12] << 8 | frame->bytes[13]);
    const bool ipv4 = ethertype == ETH_P_IP;
    struct record row = {.kind = &kind_traffic};
    struct traffic_record *tuple = &row.traffic;

    tuple->ethertype = tuple->protocol = ethertype;
    if (!ipv4 && ethertype != ETH_P_IPV6)
        return row;
    row.has = TRAFFIC_ADDRESSES;
    tuple->protocol = at[ipv4 ? 9 : 6];
    tuple->src = address_make(ipv4 ? AF_INET : AF_INET6, at + (ipv4 ? 12 : 8));
    tuple->dst = address_make(tuple->src.family, at + (ipv4 ? 16 : 24));
    at += ipv4 ? 4 * (at[0] & 0xf) : 40;
    tuple->sport = (uint16_t)(at[0] << 8 | at[1]);
    tuple->dport = (uint16_t)(at[2] << 8 | at[3]);
    if (flow_has_ports((uint8_t)tuple->protocol))
        row.has |= TRAFFIC_PORTS;
    return row;
}

static const char *const texts[] = {
    "src = 10.0.0.1",
    "src != 10.0.0.1",
    "src = 10.0.0.1 or dst = 10.0.0.1",
    "src in 10.0.0.0/8 and dst in 10.0.0.0/30",
    "dst not in 10.0.0.0/8",
    "src in 0.0.0.0/0",
    "src in ::/0",
    "src in 2001:db8::/33",
    "dst = ff02::1",
    "not (src in fe80::/10 or dst = 2001:db8::2)",
    "src in ::ffff:10.0.0.0/104",
    "src = 10.0.0.1 and dport = 22",
    "dport = 443",
    "dport != 443",
    "sport = 0 or dport = 65535",
    "sport < 443",
    "sport >= 443",
    "dport in 22,53,400-500,60000-65535",
    "dport not in 22,53,400-500,60000-65535",
    "sport = 443 or dport = 443",
    "not sport = 443 and not dport = 443",
    "protocol = udp",
    "protocol != tcp",
    "protocol ~ 'icmp*'",
    "protocol in udp,icmp",
    "protocol = 2054",
    "ethertype = 2054",
    "ethertype != 2048",
    "ethertype in 34001-65535 and not protocol = udp",
    "protocol = tcp and (dport = 443 or not src in 10.0.0.0/8) and ethertype = 2048",
    "not (protocol = tcp and not (dport = 443 and src in 10.0.0.0/8))",
};

static struct sock_fprog compile(const char *text)
{
    struct sock_fprog program = {0};
    struct where where = {0};
    const struct predicate *predicate = where_parse(&where, &kind_traffic, text);

    if (!predicate)
        fail_msg("%s: %s", text, where.message);
    assert_int_equal(packet_filter_make(predicate, SNAP, &program), 0);
    where_finish(&where);
    return program;
}

static bool is_wanted(const char *text, const struct frame *frame)
{
    const struct record row = row_of(frame);
    struct where where = {0};
    const struct predicate *predicate = where_parse(&where, &kind_traffic, text);
    const bool wanted = predicate_holds(predicate, &row, &no_names);

    where_finish(&where);
    return wanted;
}

/* How much is taken of a frame, behind Ethernet's header if the link has none. */
static uint32_t taken(const char *text, const struct frame *frame, uint16_t link)
{
    const size_t header = link == ARPHRD_ETHER || link == ARPHRD_LOOPBACK ? 0 : ETH_HLEN;
    const struct kernel_packet packet = {frame->bytes + header, frame->length - header, link,
                                         (uint16_t)(frame->bytes[12] << 8 | frame->bytes[13])};
    const struct sock_fprog program = compile(text);
    uint32_t result;

    assert_true(kernel_filter_ends(&program));
    result = kernel_filter_run(&program, &packet);
    free(program.filter);
    return result;
}

/* --- By the rules of the kernel --------------------------------------------------------------- */

static void complete_packets_pass_only_if_they_are_wanted(void **state)
{
    static const uint16_t links[] = {ARPHRD_ETHER, ARPHRD_LOOPBACK, ARPHRD_NONE, ARPHRD_PPP,
                                     ARPHRD_RAWIP};
    struct frame frames[FRAMES];

    (void)state;
    make_frames(frames);
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t j = 0; j < FRAMES; j++)
            for (size_t k = 0; k < COUNT(links); k++)
                if (taken(texts[i], &frames[j], links[k]) !=
                    (is_wanted(texts[i], &frames[j]) ? SNAP : 0))
                    fail_msg("%s: %s, link %u", texts[i], frames[j].name, links[k]);
}

static void all_packets_of_links_with_other_headers_pass(void **state)
{
    struct frame frames[FRAMES];

    (void)state;
    make_frames(frames);
    for (size_t i = 0; i < FRAMES; i++)
        assert_int_equal(taken("dport = 1", &frames[i], ARPHRD_IPGRE), SNAP);
}

static void fragments_pass_where_their_addresses_do(void **state)
{
    struct frame later = make("", "10.0.0.1", 1, "10.0.0.2", 2, IPPROTO_TCP), first = later;
    struct frame six = make("", "2001:db8::1", 1, "2001:db8::2", 2, IPPROTO_FRAGMENT);

    (void)state;
    later.bytes[21] = 1;    /* offset */
    first.bytes[20] = 0x20; /* more of them */
    assert_int_equal(taken("dport = 443", &later, ARPHRD_ETHER), SNAP);
    assert_int_equal(taken("dport != 443", &later, ARPHRD_ETHER), SNAP);
    assert_int_equal(taken("dport = 443 and src = 10.0.0.9", &later, ARPHRD_ETHER), 0);
    assert_int_equal(taken("dport = 443 and protocol = udp", &later, ARPHRD_ETHER), 0);
    assert_int_equal(taken("dport = 443", &first, ARPHRD_ETHER), 0);
    assert_int_equal(taken("dport = 443 and protocol = udp", &six, ARPHRD_ETHER), SNAP);
    assert_int_equal(taken("dport = 443 and not src = 2001:db8::1", &six, ARPHRD_ETHER), 0);
}

static void protocols_after_ipv6_extension_headers_are_not_judged(void **state)
{
    static const uint8_t headers[] = {IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT,
                                      IPPROTO_AH, IPPROTO_DSTOPTS};

    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++) {
        const struct frame frame = make("", "2001:db8::1", 1, "2001:db8::2", 2, headers[i]);
        assert_int_equal(taken("protocol = tcp", &frame, ARPHRD_ETHER), SNAP);
        assert_int_equal(taken("dport = 443", &frame, ARPHRD_ETHER), SNAP);
        assert_int_equal(taken("ethertype = 2048", &frame, ARPHRD_ETHER), 0);
    }
}

static void tags_in_the_frame_and_frames_of_802_3_pass(void **state)
{
    static const uint16_t ethertypes[] = {ETH_P_8021Q, ETH_P_8021AD, ETH_P_QINQ1, 60};

    (void)state;
    for (size_t i = 0; i < COUNT(ethertypes); i++) {
        const struct frame frame = make_other("", ethertypes[i]);
        assert_int_equal(taken("src = 10.0.0.1", &frame, ARPHRD_ETHER), SNAP);
    }
}

/* As the header of a switch's port does, between Ethernet's addresses and its type. */
static void packets_that_the_kernel_misreads_pass(void **state)
{
    const struct frame frame = make("", "10.0.0.1", 1, "10.0.0.2", 2, IPPROTO_TCP);
    struct kernel_packet packet = {frame.bytes, frame.length, ARPHRD_ETHER, ETH_P_XDSA};
    const struct sock_fprog program = compile("src = 10.0.0.9 or ethertype = 248");

    (void)state;
    assert_int_equal(kernel_filter_run(&program, &packet), SNAP);
    packet.protocol = ETH_P_IP;
    assert_int_equal(kernel_filter_run(&program, &packet), 0);
    free(program.filter);
}

/* A load from behind the end would refuse them, and with them what another part wants. */
static void a_cut_packet_passes_unless_its_rest_decides(void **state)
{
    struct frame frames[FRAMES];

    (void)state;
    make_frames(frames);
    for (size_t i = 0; i < FRAMES - 2; i++) {
        const bool has_ports = row_of(&frames[i]).has & TRAFFIC_PORTS;
        const size_t header = frames[i].length - 8;
        while (frames[i].length > 0) {
            frames[i].length--;
            const bool has_addresses = frames[i].length >= header;
            const bool tells = has_addresses && (!has_ports || frames[i].length >= header + 4);
            assert_int_equal(taken("src = 10.0.0.99", &frames[i], ARPHRD_ETHER),
                             has_addresses ? 0 : SNAP);
            assert_int_equal(taken("dport = 1 or src = 10.0.0.99", &frames[i], ARPHRD_ETHER),
                             tells ? 0 : SNAP);
        }
    }
}

static void a_header_that_is_no_header_of_ip_passes(void **state)
{
    struct frame version = make("", "10.0.0.1", 1, "10.0.0.2", 2, IPPROTO_TCP), size = version;

    (void)state;
    version.bytes[14] = 0x65;
    size.bytes[14] = 0x44;
    assert_int_equal(taken("src = 10.9.9.9", &version, ARPHRD_ETHER), SNAP);
    assert_int_equal(taken("src = 10.9.9.9", &size, ARPHRD_ETHER), SNAP);
}

static void comparisons_that_packets_cannot_decide_are_left_to_the_engine(void **state)
{
    static const struct {
        const char *text;
        bool filters;
    } rows[] = {
        {"frames = 1", false},
        {"frames = 1 or src = 10.0.0.1", false},
        {"not (frames = 1 and src = 10.0.0.1)", false},
        {"dport = null", false},
        {"src != null", false},
        {"src ~ '10.*'", false},
        {"frames = 1 and src = 10.0.0.1", true},
        {"(frames = 1 or dport = 1) and src = 10.0.0.1", true},
        {"not (frames = 1 or src = 10.0.0.1)", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct sock_fprog program = compile(rows[i].text);
        assert_int_equal(program.len > 1, rows[i].filters);
        free(program.filter);
    }
}

static void what_a_program_compares_is_explained(void **state)
{
    struct explanation explanation = {.count = 0};
    struct where where = {0};
    const struct predicate *predicate = where_parse(
        &where, &kind_traffic, "dport = 1 and frames = 1 and (src = 10.0.0.1 or dport = 2)");

    (void)state;
    packet_filter_explain(&(struct query){.where = predicate}, &explanation);
    assert_int_equal(explanation.count, 2);
    assert_int_equal(explanation.members[0], offsetof(struct record, traffic.src));
    assert_int_equal(explanation.members[1], offsetof(struct record, traffic.dport));
    assert_ptr_equal(strstr(explanation.text, "program of "), explanation.text);
    where_finish(&where);

    explanation = (struct explanation){.count = 0};
    packet_filter_explain(&(struct query){.where = NULL}, &explanation);
    assert_int_equal(explanation.count, 0);
    assert_string_equal(explanation.text, "");
}

static void without_a_predicate_all_packets_are_cut(void **state)
{
    struct sock_fprog program;

    (void)state;
    assert_int_equal(packet_filter_make(NULL, SNAP, &program), 0);
    assert_int_equal(program.len, 1);
    assert_int_equal(program.filter->code, BPF_RET | BPF_K);
    assert_int_equal(program.filter->k, SNAP);
    free(program.filter);
}

static void a_program_that_is_too_long_is_not_made(void **state)
{
    static char text[64 * 2048];
    struct sock_fprog program;
    char *at = text;

    (void)state;
    for (unsigned i = 0; i < 1500; i++) {
        at += sprintf(at, "%sdport = %u", i ? " or " : "", 2 * i);
        if (i != 100 && i != 1499)
            continue;
        program = compile(text);
        assert_true(i == 100 ? program.len > 100 : program.len == 1);
        free(program.filter);
    }
}

/* --- By the kernel itself --------------------------------------------------------------------- */

static int open_packets(void)
{
    const struct sockaddr_ll loopback = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = 1};
    const struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    const int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1;

    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &up) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) < 0 ||
        bind(fd, (const struct sockaddr *)&loopback, sizeof loopback) < 0)
        return -1;
    return fd;
}

/* Sends the frame and one that always passes, and returns whether both come back; or -1. */
static int passes(int fd, const struct frame *frame)
{
    const struct frame last = make_other("", 46);
    uint8_t received[FRAME_MAX];
    int count = 0;

    if (send(fd, frame->bytes, frame->length, 0) < 0 || send(fd, last.bytes, last.length, 0) < 0)
        return -1;
    do {
        if (recv(fd, received, sizeof received, 0) < ETH_HLEN)
            return -1;
    } while ((received[12] || received[13] != 46) && ++count);
    return count;
}

/* In a network namespace of its own. 77: there can be none here; else what went wrong, or 0. */
static int ask_kernel(void)
{
    const struct timeval patience = {.tv_sec = 5};
    struct frame frames[FRAMES];
    int fd;

    if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return 77;
    fd = open_packets();
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
        return errno == EPERM || errno == ENOPROTOOPT || errno == EOPNOTSUPP ? 77
                                                                             : 1; /* an emulator */
    make_frames(frames);
    for (size_t i = 0; i < COUNT(texts); i++) {
        const struct sock_fprog program = compile(texts[i]);
        if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0)
            return 2;
        free(program.filter);
        for (size_t j = 0; j < FRAMES; j++)
            if (passes(fd, &frames[j]) != is_wanted(texts[i], &frames[j])) {
                fprintf(stderr, "%s: %s\n", texts[i], frames[j].name);
                return 3;
            }
    }
    return 0;
}

static void the_kernel_takes_the_programs_and_refuses_the_same(void **state)
{
    const pid_t child = fork();
    int status = 0;

    (void)state;
    assert_true(child >= 0);
    if (child == 0)
        _exit(ask_kernel());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_packets_pass_only_if_they_are_wanted),
        cmocka_unit_test(all_packets_of_links_with_other_headers_pass),
        cmocka_unit_test(fragments_pass_where_their_addresses_do),
        cmocka_unit_test(protocols_after_ipv6_extension_headers_are_not_judged),
        cmocka_unit_test(tags_in_the_frame_and_frames_of_802_3_pass),
        cmocka_unit_test(packets_that_the_kernel_misreads_pass),
        cmocka_unit_test(a_cut_packet_passes_unless_its_rest_decides),
        cmocka_unit_test(a_header_that_is_no_header_of_ip_passes),
        cmocka_unit_test(comparisons_that_packets_cannot_decide_are_left_to_the_engine),
        cmocka_unit_test(what_a_program_compares_is_explained),
        cmocka_unit_test(without_a_predicate_all_packets_are_cut),
        cmocka_unit_test(a_program_that_is_too_long_is_not_made),
        cmocka_unit_test(the_kernel_takes_the_programs_and_refuses_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
