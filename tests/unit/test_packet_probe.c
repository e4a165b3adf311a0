/* SPDX-License-Identifier: MIT */
/* Packets on lo of a network namespace of its own are counted, each once; in a process of its own.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fastnet/packet_probe.h"
#include "fastnet/rights.h"
#include "kit.h"

enum { SKIPPED = 255, LO = 1, HEADERS = 14 + 20 + 8, SEGMENT = 103 /* UDP_SEGMENT of udp(7) */ };

/* Seconds that the clock of this process is ahead of the kernel's. 0 again: it was set back. */
static time_t ahead;

int clock_gettime(clockid_t clock, struct timespec *time)
{
#ifdef SYS_clock_gettime64
    const int result = (int)syscall(SYS_clock_gettime64, clock, time);
#else
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
#endif

    if (clock == CLOCK_REALTIME)
        time->tv_sec += ahead;
    return result;
}

/* Another kernel, of which the program asks this. NULL, 0: it is this one. */
static const char *release;
static unsigned page_size;
static int next_group = -1; /* the number that it chooses for the next group; -1: any */
static bool asked_for_offload;

int uname(struct utsname *names)
{
    const int result = (int)syscall(SYS_uname, names);

    if (release)
        snprintf(names->release, sizeof names->release, "%s", release);
    return result;
}

int getpagesize(void)
{
    return page_size ? (int)page_size : (int)sysconf(_SC_PAGESIZE);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
    struct tpacket_req3 request;
    int group;

    if (level == SOL_PACKET && option == PACKET_VNET_HDR)
        asked_for_offload = true;
    if (level == SOL_PACKET && option == PACKET_RX_RING && page_size) {
        memcpy(&request, value, sizeof request);
        if (request.tp_block_size % page_size) {
            errno = EINVAL;
            return -1;
        }
    }
    if (level == SOL_PACKET && option == PACKET_FANOUT && next_group >= 0) {
        memcpy(&group, value, sizeof group);
        if (group & PACKET_FANOUT_FLAG_UNIQUEID << 16)
            group = (group & ~(PACKET_FANOUT_FLAG_UNIQUEID << 16)) | next_group++;
        return (int)syscall(SYS_setsockopt, fd, level, option, &group, sizeof group);
    }
    return (int)syscall(SYS_setsockopt, fd, level, option, value, size);
}

/* cmocka's assertions would jump back into the parent's tests: a child says where it failed. */
#define REQUIRE(condition)                                                                         \
    if (!(condition))                                                                              \
    return __LINE__ % 250 + 1

static bool enter(void)
{
    const int user = geteuid() == 0 ? 0 : CLONE_NEWUSER;
    struct ifreq request = {.ifr_name = "lo"};

    if (unshare(user | CLONE_NEWNET) < 0 || rights_init() < 0 || !rights_have(1u << RIGHT_PACKETS))
        return false;
    rights_raise(RIGHT_NETFILTER); /* CAP_NET_ADMIN */
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    request.ifr_flags = IFF_UP;
    const bool up = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    rights_raise(RIGHT_PACKETS);
    const int packets = socket(AF_PACKET, SOCK_RAW, 0), version = TPACKET_V3;
    const bool rings =
        setsockopt(packets, SOL_PACKET, PACKET_VERSION, &version, sizeof version) == 0;
    rights_lower();
    close(packets);
    close(fd);
    return up && rings; /* an emulator has none */
}

static void run_child(int (*body)(void))
{
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0)
        _exit(enter() ? body() : SKIPPED);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED) {
        print_message("SKIP: no network namespace, no right to see packets in it, or no rings\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* So many datagrams of so many bytes, from port 3000 + i to port 2000; nobody answers them. */
static bool send_datagrams(uint16_t i, unsigned count, size_t size)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static char zeroes[1400];
    bool sent;

    address.sin_port = htons((uint16_t)(3000 + i));
    sent = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    address.sin_port = htons(2000);
    for (; sent && count; count--)
        sent = sendto(fd, zeroes, size, 0, (struct sockaddr *)&address, sizeof address) ==
                   (ssize_t)size ||
               errno == ECONNREFUSED;
    close(fd);
    return sent;
}

/* Frames and bytes of the datagrams from this port; 0: of all packets. */
struct sum {
    uint64_t has;
    uint16_t port;
    uint64_t rows, packets, frames, bytes;
};

static int add(const struct record *record, void *arg)
{
    struct sum *sum = arg;
    const struct traffic_record *traffic = &record->traffic;

    if (record->kind != &kind_traffic || traffic->interface != LO)
        return -1;
    if (sum->port && (traffic->sport != sum->port || traffic->protocol != IPPROTO_UDP))
        return 0;
    sum->rows++;
    sum->has |= record->has;
    sum->packets += traffic->packets;
    sum->frames += traffic->frames;
    sum->bytes += traffic->bytes;
    return 0;
}

static struct sum sum_of(const struct packet_probe *probe, uint16_t port)
{
    struct sum sum = {.port = port};

    if (packet_probe_list(probe, add, &sum) < 0)
        sum.rows = UINT64_MAX;
    return sum;
}

/* A receiver, so that no error of ICMP ends a sender. */
static bool receive(void)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(2000)};

    return bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
}

static int once_body(void)
{
    const struct packet_probe_options options = {.interface = LO, .threads = 2, .flows = 1000};
    struct packet_probe *probe = NULL;

    REQUIRE(receive() && send_datagrams(9, 50, 100));
    REQUIRE(packet_probe_create(&probe, &options) == 0);
    REQUIRE(!rights_have(1u << RIGHT_PACKETS));
    REQUIRE(send_datagrams(9, 50, 100)); /* too early */
    REQUIRE(packet_probe_start(probe) == 0);
    for (uint16_t i = 0; i < 8; i++)
        REQUIRE(send_datagrams(i, 100u + i, (size_t)50 * i));
    packet_probe_take(probe, 0);
    for (uint16_t i = 0; i < 8; i++) {
        const struct sum sum = sum_of(probe, (uint16_t)(3000 + i));
        REQUIRE(sum.rows == 1 && sum.frames == 100u + i);
        REQUIRE(sum.bytes == sum.frames * (HEADERS + 50u * i));
    }
    REQUIRE(sum_of(probe, 3009).rows == 0);
    REQUIRE(sum_of(probe, 0).frames == 8 * 100 + 28);
    REQUIRE(packet_probe_totals(probe)->lost == 0 && !packet_probe_totals(probe)->down);
    packet_probe_destroy(probe);
    return 0;
}

static void each_packet_of_lo_is_counted_once(void **state)
{
    (void)state;
    run_child(once_body);
}

static int group_body(void)
{
    const struct packet_probe_options options = {.interface = LO, .threads = 3, .flows = 1000};
    struct packet_probe *probe = NULL;

    next_group = 0;
    REQUIRE(receive() && packet_probe_create(&probe, &options) == 0);
    REQUIRE(next_group == 1); /* one group for all threads */
    REQUIRE(packet_probe_start(probe) == 0);
    REQUIRE(send_datagrams(1, 50, 100));
    packet_probe_take(probe, 0);
    REQUIRE(sum_of(probe, 3001).frames == 50);
    packet_probe_destroy(probe);
    return 0;
}

/* Each first group after a boot, and each 65,536th, has it. */
static void group_number_0_is_a_group(void **state)
{
    (void)state;
    run_child(group_body);
}

/* A datagram of so many segments, which passes lo as one frame. */
static bool send_segments(uint16_t count, uint16_t size)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0), each = size;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static char zeroes[20000];

    address.sin_port = htons(3001);
    const bool bound = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    address.sin_port = htons(2000);
    const bool sent = bound && setsockopt(fd, IPPROTO_UDP, SEGMENT, &each, sizeof each) == 0 &&
                      sendto(fd, zeroes, (size_t)count * size, 0, (struct sockaddr *)&address,
                             sizeof address) == (ssize_t)count * size;
    close(fd);
    return sent;
}

/* Whether a frame of ten packets of UDP counts, on a kernel with this number, as so many packets.
 */
static int segments_count(const char *as, bool asks, uint64_t packets)
{
    const struct packet_probe_options options = {.interface = LO, .threads = 1, .flows = 1000};
    struct packet_probe *probe = NULL;

    release = as;
    asked_for_offload = false;
    REQUIRE(packet_probe_create(&probe, &options) == 0);
    REQUIRE(asked_for_offload == asks);
    REQUIRE(packet_probe_start(probe) == 0);
    REQUIRE(send_segments(10, 1000));
    packet_probe_take(probe, 0);
    const struct sum sum = sum_of(probe, 3001);
    REQUIRE(sum.rows == 1 && sum.frames == 1 && sum.packets == packets);
    REQUIRE(sum.bytes == HEADERS + 10 * 1000);
    REQUIRE(packet_probe_totals(probe)->frames_only == !asks);
    REQUIRE(!packet_probe_totals(probe)->lost && !packet_probe_totals(probe)->undescribed);
    packet_probe_destroy(probe);
    return 0;
}

static int old_body(void)
{
    REQUIRE(receive());
    return segments_count("6.1.0-18-amd64", false, 1);
}

static int new_body(void)
{
    struct utsname names;

    REQUIRE(receive() && uname(&names) == 0);
    if (!packet_probe_describes_udp(names.release))
        return SKIPPED;
    return segments_count(NULL, true, 10);
}

static void a_frame_of_udp_is_one_packet_where_the_kernel_cannot_say_more(void **state)
{
    (void)state;
    run_child(old_body);
}

static void a_frame_of_udp_is_its_packets_where_the_kernel_says_so(void **state)
{
    (void)state;
    run_child(new_body);
}

static void what_a_kernel_describes_is_known_by_its_number(void **state)
{
    static const char *const can[] = {"6.2",
                                      "6.2.0-39-generic",
                                      "6.2-rc1",
                                      "6.6.87.2-microsoft-standard-WSL2",
                                      "6.10.11+bpo-amd64",
                                      "6.18.44-fc-v669",
                                      "7.0.0",
                                      "10.0"};
    static const char *const cannot[] = {"",
                                         "6",
                                         "6.",
                                         "6.1.0-18-amd64",
                                         "6.1",
                                         "5.10.0",
                                         "5.14.0-503.el9.x86_64",
                                         "5.99.1",
                                         "2.6.78",
                                         "6.x",
                                         "6.20a",
                                         "6-2",
                                         "v6.8",
                                         " 6.8",
                                         "+6.8",
                                         "-6.8",
                                         "6.-8",
                                         ".6.8",
                                         "99999999999999999999.1",
                                         "6.99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < COUNT(can); i++)
        assert_true(packet_probe_describes_udp(can[i]));
    for (size_t i = 0; i < COUNT(cannot); i++)
        assert_false(packet_probe_describes_udp(cannot[i]));
}

static int pages_body(void)
{
    struct packet_probe_options options = {
        .interface = LO, .threads = PACKET_THREADS_MAX, .flows = 1000, .repeats = true};
    struct packet_probe *probe = NULL;

    page_size = 65536;
    REQUIRE(packet_probe_create(&probe, &options) == 0);
    packet_probe_destroy(probe);
    return 0;
}

static void blocks_of_many_rings_are_whole_pages(void **state)
{
    (void)state;
    run_child(pages_body);
}

static int ticks_body(void)
{
    const struct packet_probe_options options = {
        .interface = 0, .threads = 1, .flows = 1000, .repeats = true, .keep_ms = 60000};
    struct packet_probe *probe = NULL;
    uint64_t fields = 0;

    REQUIRE(receive() && packet_probe_create(&probe, &options) == 0);
    REQUIRE(packet_probe_start(probe) == 0);
    for (unsigned tick = 0; tick < 4; tick++) {
        REQUIRE(send_datagrams(1, 10 + tick, 10) && (tick || send_datagrams(5, 1, 10)));
        if (tick == 2)
            fields = TRAFFIC_LLADDRS; /* from the next tick on */
        packet_probe_take(probe, fields);
        REQUIRE(sum_of(probe, 3001).frames == 10 + tick);
        REQUIRE(!(sum_of(probe, 3001).has & TRAFFIC_LLADDRS) == (tick < 3));
        REQUIRE(sum_of(probe, 3005).rows == (tick < 3)); /* kept, until others part */
        REQUIRE(sum_of(probe, 3005).frames == !tick);
        REQUIRE(sum_of(probe, 0).frames == 10 + tick + !tick);
    }
    packet_probe_destroy(probe);
    return 0;
}

static void each_tick_has_its_own_packets(void **state)
{
    (void)state;
    run_child(ticks_body);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int busy_body(void)
{
    const struct packet_probe_options options = {
        .interface = LO, .threads = 1, .flows = 1000, .repeats = true};
    struct packet_probe *probe = NULL;
    double least = 1;
    pid_t sender;

    REQUIRE(receive() && packet_probe_create(&probe, &options) == 0);
    REQUIRE(packet_probe_start(probe) == 0);
    sender = fork();
    while (sender == 0 && getppid() != 1 && send_datagrams(1, 100, 10))
        continue;
    for (unsigned tick = 0; tick < 20 || (least >= 0.045 && tick < 400); tick++) {
        const double began = seconds();
        packet_probe_take(probe, 0);
        least = seconds() - began < least ? seconds() - began : least;
    }
    REQUIRE(kill(sender, SIGKILL) == 0 && waitpid(sender, NULL, 0) == sender);
    REQUIRE(sum_of(probe, 0).frames > 0);
    REQUIRE(least < 0.045);
    packet_probe_destroy(probe);
    return 0;
}

/* All packets before now are there when later ones come. */
static void a_tick_waits_no_longer_than_for_the_next_packet(void **state)
{
    (void)state;
    run_child(busy_body);
}

static int clock_body(void)
{
    const struct packet_probe_options options = {
        .interface = LO, .threads = 2, .flows = 1000, .repeats = true};
    struct packet_probe *probe = NULL;

    ahead = 3600;
    REQUIRE(receive() && packet_probe_create(&probe, &options) == 0);
    REQUIRE(packet_probe_start(probe) == 0);
    ahead = 0;
    for (unsigned tick = 0; tick < 2; tick++) {
        REQUIRE(send_datagrams(1, 10 + tick, 10));
        packet_probe_take(probe, 0);
        REQUIRE(sum_of(probe, 3001).frames == 10 + tick);
        REQUIRE(packet_probe_totals(probe)->elapsed < UINT64_C(60) * 1000000000);
    }
    packet_probe_destroy(probe);
    return 0;
}

static void packets_are_counted_though_the_clock_is_set_back(void **state)
{
    (void)state;
    run_child(clock_body);
}

static int bounds_body(void)
{
    const struct packet_probe_options options = {.interface = LO, .threads = 1, .flows = 4};
    struct packet_probe *probe = NULL;
    uint64_t frames = 0;

    REQUIRE(receive() && packet_probe_create(&probe, &options) == 0);
    REQUIRE(packet_probe_start(probe) == 0);
    for (uint16_t i = 0; i < 100; i++)
        REQUIRE(send_datagrams(i, 1, 10) && send_datagrams(200, 2, 10));
    packet_probe_take(probe, 0);
    for (uint16_t i = 0; i < 100; i++)
        frames += sum_of(probe, (uint16_t)(3000 + i)).frames;
    REQUIRE(frames <= 3 && sum_of(probe, 3200).frames == 200);
    REQUIRE(frames + packet_probe_totals(probe)->forgotten.flows == 100);
    REQUIRE(packet_probe_totals(probe)->forgotten.frames ==
            packet_probe_totals(probe)->forgotten.flows);
    REQUIRE(packet_probe_totals(probe)->forgotten.bytes ==
            packet_probe_totals(probe)->forgotten.flows * (HEADERS + 10));
    packet_probe_destroy(probe);
    return 0;
}

static void flows_that_made_room_are_reported(void **state)
{
    (void)state;
    run_child(bounds_body);
}

static int shares_body(void)
{
    const struct packet_probe_options options = {.interface = LO, .threads = 2, .flows = 3};
    struct packet_probe *probe = NULL;

    REQUIRE(receive() && packet_probe_create(&probe, &options) == 0);
    REQUIRE(packet_probe_start(probe) == 0);
    for (uint16_t i = 0; i < 100; i++)
        REQUIRE(send_datagrams(i, 1, 10));
    packet_probe_take(probe, 0);
    REQUIRE(sum_of(probe, 0).rows == 3);
    packet_probe_destroy(probe);
    return 0;
}

static void all_flows_that_have_room_are_kept_by_some_thread(void **state)
{
    (void)state;
    run_child(shares_body);
}

static int refusals_body(void)
{
    struct packet_probe_options options = {.interface = 77, .threads = 1, .flows = 10};
    struct packet_probe *probe = NULL;

    REQUIRE(packet_probe_create(&probe, &options) == -ENODEV && !probe);
    options.interface = LO; /* the right is gone */
    REQUIRE(packet_probe_create(&probe, &options) == -EPERM && !probe);
    packet_probe_destroy(NULL);
    return 0;
}

static void an_interface_that_cannot_be_opened_is_an_error(void **state)
{
    (void)state;
    run_child(refusals_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_packet_of_lo_is_counted_once),
        cmocka_unit_test(group_number_0_is_a_group),
        cmocka_unit_test(a_frame_of_udp_is_one_packet_where_the_kernel_cannot_say_more),
        cmocka_unit_test(a_frame_of_udp_is_its_packets_where_the_kernel_says_so),
        cmocka_unit_test(what_a_kernel_describes_is_known_by_its_number),
        cmocka_unit_test(blocks_of_many_rings_are_whole_pages),
        cmocka_unit_test(each_tick_has_its_own_packets),
        cmocka_unit_test(a_tick_waits_no_longer_than_for_the_next_packet),
        cmocka_unit_test(packets_are_counted_though_the_clock_is_set_back),
        cmocka_unit_test(flows_that_made_room_are_reported),
        cmocka_unit_test(all_flows_that_have_room_are_kept_by_some_thread),
        cmocka_unit_test(an_interface_that_cannot_be_opened_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
