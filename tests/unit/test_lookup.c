/* SPDX-License-Identifier: MIT */
/* Names of users, services, hosts and interfaces, from databases made for the purpose. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../helpers/libc.h"
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/services.h"
#include "fastnet/users.h"
#include "kit.h"

/* What follows stands in for the C library's own, and counts. */

static atomic_uint asked, hardware_asked;

static int users_fail_with;
/* Has a very long name; ends the process that asks; has it answer something else. */
enum { LONG_NAMED = 50001, DEADLY = 50002, FORGED = 50003 };

/* Writes an answer without an end, into the pipe that was made last. */
static void forge(void)
{
    char answer[1024];
    int fd = 100;

    memset(answer, 'x', sizeof answer);
    while (fd > 2 && (fcntl(fd, F_GETFL) < 0 || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY))
        fd--;
    _exit(write(fd, answer, sizeof answer) < 0);
}

int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **found)
{
    asked++;
    *found = NULL;
    if (users_fail_with != 0) {
        const int error = users_fail_with;
        users_fail_with = 0;
        return error;
    }
    if (uid == DEADLY)
        _exit(1);
    if (uid == FORGED)
        forge();
    if (uid != 0 && uid != 1000 && uid != 4000000000 && uid != LONG_NAMED)
        return 0;
    if ((uid == 1000 || uid == LONG_NAMED) && size < 5000) /* an entry with a very long field */
        return ERANGE;
    snprintf(buffer, size, uid == LONG_NAMED ? "%04000u" : "user%u", uid);
    *entry = (struct passwd){.pw_name = buffer, .pw_uid = uid};
    *found = entry;
    return 0;
}

struct passwd *getpwnam(const char *name)
{
    static struct passwd entry = {.pw_uid = 1000, .pw_gid = 100};

    asked++; /* the parent counts only its own calls */
    if (strcmp(name, "deadly") == 0)
        _exit(1);
    errno = strcmp(name, "unreadable") == 0 ? EIO : 0;
    return strcmp(name, "user1000") == 0 ? &entry : NULL;
}

static int interrupted; /* so many times ioctl() fails at first */
static bool broken;     /* ... or every time */

int ioctl(int fd, ioctl_request what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    struct ifreq *request = va_arg(arguments, struct ifreq *);
    va_end(arguments);

    assert_true(fd >= 0);
    if (interrupted > 0) {
        interrupted--;
        errno = EINTR;
        return -1;
    }
    if (broken) {
        errno = EIO;
        return -1;
    }
    if (what == SIOCGIFNAME) {
        asked++;
        if (request->ifr_ifindex > 3) {
            errno = ENODEV;
            return -1;
        }
        snprintf(request->ifr_name, IFNAMSIZ, "eth%d", request->ifr_ifindex);
        return 0;
    }
    assert_int_equal(what, SIOCGIFHWADDR);
    hardware_asked++;
    if (strcmp(request->ifr_name, "eth2") == 0) {
        errno = ENODEV; /* gone since */
        return -1;
    }
    request->ifr_hwaddr.sa_family = strcmp(request->ifr_name, "eth1") == 0 ? ARPHRD_ETHER : 32;
    return 0;
}

static struct service_entry {
    char name[8], protocol[8];
    uint16_t port;
} service_entries[] = {
    {"first", "tcp", 80},    {"last", "tcp", 80}, {"dns", "udp", 53},    {"", "tcp", 81},
    {"stream", "sctp", 82},  {"early", "raw", 1}, {"other", "raw", 200}, {"high", "tcp", 65535},
    {"lite", "udplite", 54}, {"none", "tcp", 0},
};
static size_t service_next;
static int services_end_with; /* errno when there are no more */
static bool services_none;

void setservent(int stay_open)
{
    (void)stay_open;
    service_next = 0;
}

void endservent(void)
{
}

struct servent *getservent(void)
{
    static struct servent entry;
    if (services_none || service_next == sizeof(service_entries) / sizeof(service_entries[0])) {
        errno = services_end_with;
        return NULL;
    }
    struct service_entry *next = &service_entries[service_next++];
    entry.s_name = next->name;
    entry.s_proto = next->protocol;
    entry.s_port = htons(next->port);
    return &entry;
}

static const int protocol_numbers[] = {0, 1, 299};
static size_t protocol_next;

void setprotoent(int stay_open)
{
    (void)stay_open;
    protocol_next = 0;
}

void endprotoent(void)
{
}

struct protoent *getprotoent(void)
{
    static char name[16];
    static struct protoent entry = {.p_name = name};
    if (protocol_next == sizeof(protocol_numbers) / sizeof(protocol_numbers[0]))
        return NULL;
    entry.p_proto = protocol_numbers[protocol_next++];
    snprintf(name, sizeof(name), "proto%d", entry.p_proto);
    return &entry;
}

/*
 * Addresses of 10/8 have names, but those of 10.9/16 wait until the gate is opened. IPv6 addresses
 * are named by their last byte when that is not zero.
 */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint at_work, most_at_work, finished;
static atomic_bool slow, asked_wrongly;

static int name_ipv4(const struct sockaddr_in *address, char *host, socklen_t size)
{
    const uint32_t number = ntohl(address->sin_addr.s_addr);
    if (number >> 16 == 0x0a09) {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    if (number >> 24 != 10)
        return EAI_NONAME;
    snprintf(host, size, "host-%u", number & 0xffffff);
    return 0;
}

static int name_ipv6(const struct sockaddr_in6 *address, char *host, socklen_t size)
{
    const uint8_t last = address->sin6_addr.s6_addr[15];
    if (last == 0) {
        errno = address->sin6_addr.s6_addr[13];
        return EAI_AGAIN;
    }
    snprintf(host, size, "%s%u", IN6_IS_ADDR_V4MAPPED(&address->sin6_addr) ? "mapped" : "six",
             last);
    return 0;
}

int getnameinfo(const struct sockaddr *restrict address, socklen_t length, char *restrict host,
                socklen_t host_size, char *restrict service, socklen_t service_size, int flags)
{
    (void)service;
    (void)service_size;
    asked++;
    const unsigned now = ++at_work;
    if (now > most_at_work)
        most_at_work = now;
    if (slow)
        usleep(20000);
    at_work--;
    const bool is_ipv4 = address->sa_family == AF_INET;
    if (flags != NI_NAMEREQD ||
        length != (is_ipv4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6)))
        asked_wrongly = true; /* an assertion belongs to the thread of the tests */
    const int status =
        is_ipv4 ? name_ipv4((const struct sockaddr_in *)(const void *)address, host, host_size)
                : name_ipv6((const struct sockaddr_in6 *)(const void *)address, host, host_size);
    finished++;
    return status;
}

/* One host is known, a name is answered late, of another the server says why not. */
int gethostbyname_r(const char *restrict name, struct hostent *restrict entry,
                    char *restrict buffer, size_t size, struct hostent **restrict result,
                    int *restrict error)
{
    static char address[] = {10, 1, 2, 3}, *addresses[] = {address, NULL};

    (void)buffer;
    (void)size;
    asked++;
    if (strcmp(name, "late") == 0) {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    *error = strcmp(name, "refused") == 0 ? TRY_AGAIN : HOST_NOT_FOUND;
    *result = strcmp(name, "host") == 0 || strcmp(name, "late") == 0 ? entry : NULL;
    *entry = (struct hostent){.h_addrtype = AF_INET, .h_length = 4, .h_addr_list = addresses};
    finished++;
    return 0;
}

static int forget(void **state)
{
    (void)state;
    asked = most_at_work = finished = 0;
    slow = asked_wrongly = false;
    users_fail_with = services_end_with = 0;
    services_none = false;
    return 0;
}

static int was_asked_rightly(void **state)
{
    (void)state;
    return asked_wrongly ? -1 : 0;
}

/* The tests. */

static void user_is_asked_for_once(void **state)
{
    (void)state;
    struct users *users = users_create();
    assert_string_equal(users_name(users, 0), "user0");
    assert_string_equal(users_name(users, 0), "user0");
    assert_string_equal(users_name(users, 4000000000), "user4000000000");
    assert_int_equal(asked, 2);
    users_destroy(users);
    users_destroy(NULL);
}

static void unknown_user_has_no_name_and_is_asked_for_once(void **state)
{
    (void)state;
    struct users *users = users_create();
    assert_null(users_name(users, 77));
    assert_null(users_name(users, 77));
    assert_int_equal(asked, 1);
    users_destroy(users);
}

static void long_user_entry_is_read(void **state)
{
    (void)state;
    struct users *users = users_create();
    assert_string_equal(users_name(users, 1000), "user1000");
    users_destroy(users);
}

static void interrupted_user_lookup_is_repeated(void **state)
{
    (void)state;
    struct users *users = users_create();
    users_fail_with = EINTR;
    assert_string_equal(users_name(users, 0), "user0");
    users_fail_with = EIO;
    assert_null(users_name(users, 4000000000));
    users_destroy(users);
}

static void a_user_lookup_that_fails_is_an_error_and_a_user_without_a_name_is_none(void **state)
{
    static const int unknown[] = {0, ENOENT, ESRCH, EBADF, EPERM};
    struct users *users = users_create();
    (void)state;

    for (uint32_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        users_fail_with = unknown[i];
        assert_null(users_name(users, 2000 + i));
        assert_int_equal(users_error(users), 0);
    }
    users_fail_with = EMFILE;
    assert_null(users_name(users, 0));
    assert_int_equal(users_error(users), EMFILE);
    users_destroy(users);
}

static void a_child_asks_for_users_and_this_process_does_not(void **state)
{
    struct users *users = users_create();
    (void)state;

    assert_int_equal(users_ask_in_child(users), 0);
    assert_int_equal(users_ask_in_child(users), 0);
    assert_string_equal(users_name(users, 0), "user0");
    assert_string_equal(users_name(users, 1000), "user1000");
    assert_null(users_name(users, 77));
    assert_int_equal(users_error(users), 0);
    assert_int_equal(asked, 0);
    users_destroy(users);
    assert_int_equal(waitpid(-1, NULL, 0), -1);
}

static void a_user_who_was_forgotten_is_asked_for_again(void **state)
{
    struct users *users = users_create();
    (void)state;

    assert_null(users_name(users, 77));
    users_forget(users);
    assert_null(users_name(users, 77));
    assert_string_equal(users_name(users, 0), "user0");
    assert_int_equal(asked, 3);
    users_destroy(users);
}

static void a_name_that_is_too_long_to_be_sent_is_an_error(void **state)
{
    struct users *users = users_create();
    (void)state;

    assert_int_equal(users_ask_in_child(users), 0);
    assert_null(users_name(users, LONG_NAMED));
    assert_int_equal(users_error(users), ERANGE);
    assert_string_equal(users_name(users, 0), "user0");
    users_destroy(users);
}

/* It stays a child: its number is nobody else's. */
static void a_child_that_ends_costs_only_names(void **state)
{
    struct users *users = users_create();
    siginfo_t end;
    (void)state;

    assert_int_equal(users_ask_in_child(users), 0);
    assert_string_equal(users_name(users, 0), "user0");
    assert_null(users_name(users, DEADLY));
    assert_null(users_name(users, 1000));
    assert_string_equal(users_name(users, 0), "user0");
    assert_int_equal(users_error(users), EPIPE);
    assert_int_equal(waitid(P_ALL, 0, &end, WEXITED | WNOWAIT), 0);
    users_destroy(users);
}

static void an_answer_without_an_end_is_not_read_past_it(void **state)
{
    struct users *users = users_create();
    (void)state;

    assert_int_equal(users_ask_in_child(users), 0);
    assert_int_equal(strspn(users_name(users, FORGED), "x"), 1019);
    assert_int_equal(strlen(users_name(users, FORGED)), 1019);
    users_destroy(users);
}

static void services_that_cannot_be_read_are_an_error(void **state)
{
    static const struct {
        int at_the_end;
        bool none;
        int error;
    } cases[] = {
        {0, false, 0}, {ENOENT, false, 0},     {EMFILE, false, EMFILE},
        {0, true, 0},  {ENOENT, true, ENOENT},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        services_end_with = cases[i].at_the_end;
        services_none = cases[i].none;
        struct services *services = services_create();
        assert_int_equal(services_error(services), cases[i].error);
        services_destroy(services);
    }
}

static void a_child_finds_a_user_by_his_name(void **state)
{
    uint32_t uid = 7, gid = 7;

    (void)state;
    assert_int_equal(users_find("nobody-has-this-name", &uid, &gid), -ENOENT);
    assert_int_equal(users_find("unreadable", &uid, &gid), -EIO);
    assert_int_equal(users_find("deadly", &uid, &gid), -EPIPE);
    assert_int_equal(uid, 7);
    assert_int_equal(gid, 7);
    assert_int_equal(users_find("user1000", &uid, &gid), 0);
    assert_int_equal(uid, 1000);
    assert_int_equal(gid, 100);
    assert_int_equal(asked, 0);
}

static void many_users_are_kept_apart(void **state)
{
    (void)state;
    struct users *users = users_create();
    assert_string_equal(users_name(users, 0), "user0");
    for (uint32_t uid = 2000; uid < 12000; uid++)
        assert_null(users_name(users, uid));
    assert_string_equal(users_name(users, 0), "user0");
    for (uint32_t uid = 2000; uid < 12000; uid++)
        assert_null(users_name(users, uid));
    assert_int_equal(asked, 10001);
    users_destroy(users);
}

static void interface_is_asked_for_once(void **state)
{
    (void)state;
    struct interfaces *interfaces = interfaces_create();
    for (int i = 0; i < 2; i++) {
        assert_string_equal(interfaces_name(interfaces, 1), "eth1");
        assert_string_equal(interfaces_name(interfaces, 3), "eth3");
        assert_null(interfaces_name(interfaces, 4));
        assert_null(interfaces_name(interfaces, 0));
    }
    assert_int_equal(asked, 3);
    interfaces_destroy(interfaces);
    interfaces_destroy(NULL);
}

static void interface_has_a_hardware_type_asked_for_when_it_is_needed(void **state)
{
    (void)state;
    struct interfaces *interfaces = interfaces_create();
    const unsigned before = hardware_asked;
    for (uint32_t index = 1; index <= 4; index++)
        interfaces_name(interfaces, index);
    assert_int_equal(hardware_asked, before);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(interfaces_get(interfaces, 1)->hardware, ARPHRD_ETHER);
        assert_int_equal(interfaces_get(interfaces, 3)->hardware, 32);
        assert_int_equal(interfaces_get(interfaces, 2)->hardware, -1);
        assert_string_equal(interfaces_name(interfaces, 2), "eth2");
        assert_int_equal(interfaces_get(interfaces, 4)->hardware, -1);
        assert_int_equal(interfaces_get(interfaces, 0)->hardware, -1);
    }
    assert_int_equal(asked, 4);
    assert_int_equal(hardware_asked, before + 3);
    interfaces_destroy(interfaces);
}

/* if_inet6 has the index in hexadecimal; in igmp a colon follows the name, lines of groups a tab.
 */
static void interfaces_of_a_captured_tree_are_those_of_its_files(void **state)
{
    struct interfaces *interfaces = interfaces_create();
    struct tree tree;

    (void)state;
    tree_make(&tree);
    tree_puts(&tree, "if_inet6",
              "fe80000000000000020000fffe000001 0b 40 20 80     ens33\n"
              "fe80000000000000020000fffe000001 0c 40 20\n"
              "fe80000000000000020000fffe000001 x 40 20 80     bad\n"
              "fe80000000000000020000fffe000001 00 40 20 80     none\n"
              "fe80000000000000020000fffe000001 0d 40 20 80     longer-than-a-name\n");
    tree_puts(&tree, "igmp",
              "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n"
              "1\tlo        :     1      V3\n\t\t\t\t010000E0     1 0:00000000\t\t0\n"
              "9\twlp0s20f3long:     1      V3\n");
    tree_puts(&tree, "igmp6", "5    eth5            ff020000000000000000000000000001     1 0 0\n");
    tree_puts(&tree, "dev_mcast",
              "7    dummy7          1     0     01005e000001\n"
              "11   other           1     0     01005e000001\n");
    interfaces_of_tree(interfaces, tree.root);
    assert_string_equal(interfaces_name(interfaces, 11), "ens33"); /* the first name stays */
    assert_string_equal(interfaces_name(interfaces, 1), "lo");
    assert_string_equal(interfaces_name(interfaces, 9), "wlp0s20f3long");
    assert_string_equal(interfaces_name(interfaces, 5), "eth5");
    assert_string_equal(interfaces_name(interfaces, 7), "dummy7");
    for (uint32_t index = 12; index <= 13; index++)
        assert_null(interfaces_name(interfaces, index));
    assert_null(interfaces_name(interfaces, 3)); /* this machine has eth3 */
    assert_int_equal(interfaces_get(interfaces, 3)->hardware, -1);
    assert_int_equal(asked, 0);
    assert_int_equal(interfaces_error(interfaces), 0);
    interfaces_destroy(interfaces);
    tree_remove(&tree);
}

static void interface_is_found_by_its_name(void **state)
{
    uint32_t index = 77;

    (void)state;
    assert_int_equal(interfaces_find("no-such-if", &index), -ENODEV);
    assert_int_equal(index, 77);
    assert_int_equal(interfaces_find("lo", &index), 0);
    assert_int_equal(index, 1);
}

static void interface_that_was_added_is_not_asked_for(void **state)
{
    (void)state;
    struct interfaces *interfaces = interfaces_create();
    for (uint32_t index = 10; index < 100; index++) {
        const struct interface interface = {index, 778, index + 1, (int32_t)index - 12, "added"};
        assert_int_equal(interfaces_add(interfaces, &interface), 0);
    }
    assert_string_equal(interfaces_name(interfaces, 99), "added");
    assert_int_equal(interfaces_get(interfaces, 10)->hardware, 778);
    assert_int_equal(interfaces_get(interfaces, 10)->master, 11);
    assert_int_equal(interfaces_get(interfaces, 99)->netns, 87);
    assert_int_equal(interfaces_get(interfaces, 10)->netns, -2);
    assert_int_equal(asked, 0);
    assert_string_equal(interfaces_name(interfaces, 1), "eth1");
    assert_int_equal(interfaces_get(interfaces, 1)->master, 0);
    assert_int_equal(interfaces_get(interfaces, 1)->netns, -1);
    assert_int_equal(interfaces_get(interfaces, 4711)->master, 0);
    interfaces_destroy(interfaces);
}

/* Later a socket would be of another network namespace. */
static void interfaces_that_could_not_settle_are_never_asked_for(void **state)
{
    struct rlimit limit, none;

    (void)state;
    struct interfaces *interfaces = interfaces_create();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    interfaces_fix_netns(interfaces);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_null(interfaces_name(interfaces, 1));
    assert_int_equal(asked, 0);
    assert_int_equal(interfaces_error(interfaces), EMFILE);
    interfaces_destroy(interfaces);
}

static void interface_that_cannot_be_asked_for_is_reported(void **state)
{
    (void)state;
    struct interfaces *interfaces = interfaces_create();
    assert_null(interfaces_name(interfaces, 4));
    assert_int_equal(interfaces_error(interfaces), 0); /* it has gone */
    broken = true;
    assert_null(interfaces_name(interfaces, 1));
    broken = false;
    assert_int_equal(interfaces_error(interfaces), EIO);
    assert_string_equal(interfaces_name(interfaces, 3), "eth3");
    interfaces_destroy(interfaces);
}

static void interrupted_interface_lookup_is_repeated(void **state)
{
    (void)state;
    struct interfaces *interfaces = interfaces_create();
    interrupted = 2;
    assert_string_equal(interfaces_name(interfaces, 1), "eth1");
    assert_int_equal(interrupted, 0);
    interfaces_destroy(interfaces);
}

static void last_entry_for_a_port_wins_as_in_netstat(void **state)
{
    (void)state;
    struct services *services = services_create();
    assert_string_equal(services_name(services, IPPROTO_TCP, 80), "last");
    assert_string_equal(services_name(services, IPPROTO_TCP, 65535), "high");
    services_destroy(services);
    services_destroy(NULL);
}

static void services_are_distinguished_by_protocol(void **state)
{
    (void)state;
    struct services *services = services_create();
    assert_string_equal(services_name(services, IPPROTO_UDP, 53), "dns");
    assert_null(services_name(services, IPPROTO_TCP, 53));
    assert_null(services_name(services, IPPROTO_UDP, 80));
    assert_null(services_name(services, IPPROTO_SCTP, 82));
    services_destroy(services);
}

static void udplite_ports_have_the_names_of_udp(void **state)
{
    (void)state;
    struct services *services = services_create();
    assert_string_equal(services_name(services, IPPROTO_UDPLITE, 53), "dns");
    assert_null(services_name(services, IPPROTO_UDPLITE, 54));
    services_destroy(services);
}

static void raw_ports_are_protocols_before_services(void **state)
{
    (void)state;
    struct services *services = services_create();
    assert_string_equal(services_name(services, IPPROTO_RAW, 1), "proto1");
    assert_string_equal(services_name(services, IPPROTO_RAW, 200), "other");
    assert_string_equal(services_name(services, IPPROTO_RAW, 299), "proto299");
    services_destroy(services);
}

static void port_without_a_name_has_none(void **state)
{
    (void)state;
    struct services *services = services_create();
    assert_null(services_name(services, IPPROTO_TCP, 0));
    assert_null(services_name(services, IPPROTO_TCP, 81));
    assert_null(services_name(services, IPPROTO_RAW, 0));
    services_destroy(services);
}

static void add_ipv4(struct hosts *hosts, uint32_t number)
{
    const struct address address = address_make(AF_INET, &(uint32_t){htonl(number)});

    assert_int_equal(hosts_add(hosts, &address), 0);
}

static const char *name_of_ipv4(const struct hosts *hosts, uint32_t number)
{
    const struct address address = address_make(AF_INET, &(uint32_t){htonl(number)});

    return hosts_name(hosts, &address);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void address_is_asked_for_once(void **state)
{
    (void)state;
    struct hosts *hosts = hosts_create();
    for (int i = 0; i < 3; i++) {
        add_ipv4(hosts, 0x0a000001);
        add_ipv4(hosts, 0x0b000001);
    }
    assert_null(name_of_ipv4(hosts, 0x0a000001));
    assert_int_equal(hosts_resolve(hosts, 10000, NULL), 0);
    assert_int_equal(asked, 2);
    assert_string_equal(name_of_ipv4(hosts, 0x0a000001), "host-1");
    assert_null(name_of_ipv4(hosts, 0x0b000001));
    assert_null(name_of_ipv4(hosts, 0x0a000002));
    hosts_destroy(hosts);
    hosts_destroy(NULL);
}

static void second_round_asks_only_the_new(void **state)
{
    (void)state;
    struct hosts *hosts = hosts_create();
    add_ipv4(hosts, 0x0a000001);
    assert_int_equal(hosts_resolve(hosts, 10000, NULL), 0);
    add_ipv4(hosts, 0x0a000001);
    add_ipv4(hosts, 0x0a000002);
    assert_int_equal(hosts_resolve(hosts, 10000, NULL), 0);
    assert_int_equal(hosts_resolve(hosts, 10000, NULL), 0);
    assert_int_equal(asked, 2);
    assert_string_equal(name_of_ipv4(hosts, 0x0a000001), "host-1");
    assert_string_equal(name_of_ipv4(hosts, 0x0a000002), "host-2");
    hosts_destroy(hosts);
}

static void mapped_address_is_asked_for_as_ipv6(void **state)
{
    (void)state;
    const struct address mapped = ip("::ffff:10.0.0.5"), six = ip("2001::7");
    const struct address unnamed = ip("2001::700"), four = address_make(AF_INET, six.bytes);
    struct hosts *hosts = hosts_create();
    assert_int_equal(hosts_add(hosts, &mapped), 0);
    assert_int_equal(hosts_add(hosts, &six), 0);
    assert_int_equal(hosts_add(hosts, &unnamed), 0);
    assert_int_equal(hosts_resolve(hosts, 10000, NULL), 0);
    assert_string_equal(hosts_name(hosts, &mapped), "mapped5");
    assert_string_equal(hosts_name(hosts, &six), "six7");
    assert_null(hosts_name(hosts, &unnamed));
    assert_null(hosts_name(hosts, &four));
    hosts_destroy(hosts);
}

static void unspecified_address_is_never_asked_for(void **state)
{
    (void)state;
    const struct address none4 = ip("0.0.0.0"), none6 = ip("::");
    const struct address none = {.family = AF_UNSPEC};
    struct hosts *hosts = hosts_create();
    assert_int_equal(hosts_add(hosts, &none4), 0);
    assert_int_equal(hosts_add(hosts, &none6), 0);
    assert_int_equal(hosts_add(hosts, &none), 0);
    assert_int_equal(hosts_resolve(hosts, 10000, NULL), 0);
    assert_int_equal(asked, 0);
    assert_null(hosts_name(hosts, &none4));
    assert_null(hosts_name(hosts, &none));
    hosts_destroy(hosts);
}

static void thousands_are_asked_for_many_at_a_time(void **state)
{
    (void)state;
    struct hosts *hosts = hosts_create();
    slow = true;
    for (uint32_t i = 1; i <= 320; i++)
        add_ipv4(hosts, 0x0a000000 + i);
    const double start = seconds();
    assert_int_equal(hosts_resolve(hosts, 60000, NULL), 0);
    assert_true(seconds() - start < 320 * 0.020 / 2);
    assert_in_range(most_at_work, 2, 32);
    slow = false;
    for (uint32_t i = 321; i <= 5000; i++)
        add_ipv4(hosts, 0x0a000000 + i);
    assert_int_equal(hosts_resolve(hosts, 60000, NULL), 0);
    assert_int_equal(asked, 5000);
    for (uint32_t i = 1; i <= 5000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "host-%u", i);
        assert_string_equal(name_of_ipv4(hosts, 0x0a000000 + i), name);
    }
    hosts_destroy(hosts);
}

static void no_time_asks_for_nothing(void **state)
{
    (void)state;
    struct hosts *hosts = hosts_create();
    add_ipv4(hosts, 0x0a000001);
    add_ipv4(hosts, 0x0a000002);
    assert_int_equal(hosts_resolve(hosts, 0, NULL), 2);
    assert_int_equal(asked, 0);
    assert_null(name_of_ipv4(hosts, 0x0a000001));
    hosts_destroy(hosts);
}

/* Until the threads that were left behind have ended, too; none of them may ask again. */
static void wait_for_late_answers(void)
{
    unsigned before;
    do {
        before = asked;
        usleep(50000);
    } while (finished < asked || asked != before);
}

static void late_answers_are_left_behind(void **state)
{
    (void)state;
    struct hosts *hosts = hosts_create();
    for (uint32_t i = 1; i <= 40; i++)
        add_ipv4(hosts, 0x0a090000 + i);
    pthread_mutex_lock(&gate);
    const double start = seconds();
    const int unanswered = hosts_resolve(hosts, 150, NULL);
    const double took = seconds() - start;
    const char *name = name_of_ipv4(hosts, 0x0a090001);
    hosts_destroy(hosts);
    pthread_mutex_unlock(&gate);
    wait_for_late_answers();

    assert_int_equal(unanswered, 40);
    assert_true(took > 0.140 && took < 5);
    assert_null(name);
    assert_in_range(asked, 1, 32);
}

static size_t said[3], times_said;

static void note_wait(size_t count, const char *name)
{
    assert_null(name);
    if (times_said < 3)
        said[times_said++] = count;
}

static void a_slow_lookup_says_how_much_is_asked_for_and_then_that_it_ended(void **state)
{
    (void)state;
    struct hosts *hosts = hosts_create();
    times_said = 0;
    add_ipv4(hosts, 0x0a000001);
    assert_int_equal(hosts_resolve(hosts, 10000, note_wait), 0);
    assert_int_equal(times_said, 0);
    add_ipv4(hosts, 0x0a090001);
    add_ipv4(hosts, 0x0a000002);
    pthread_mutex_lock(&gate);
    const int unanswered = hosts_resolve(hosts, 600, note_wait);
    pthread_mutex_unlock(&gate);
    wait_for_late_answers();
    hosts_destroy(hosts);

    assert_int_equal(unanswered, 1);
    assert_int_equal(times_said, 2);
    assert_int_equal(said[0], 2);
    assert_int_equal(said[1], 0);
}

static void answers_in_time_are_kept_when_others_are_late(void **state)
{
    (void)state;
    struct hosts *hosts = hosts_create();
    add_ipv4(hosts, 0x0a090001);
    add_ipv4(hosts, 0x0a000001);
    add_ipv4(hosts, 0x0a000002);
    pthread_mutex_lock(&gate);
    const int unanswered = hosts_resolve(hosts, 1000, NULL);
    pthread_mutex_unlock(&gate);
    wait_for_late_answers();

    assert_int_equal(unanswered, 1);
    assert_string_equal(name_of_ipv4(hosts, 0x0a000001), "host-1");
    assert_string_equal(name_of_ipv4(hosts, 0x0a000002), "host-2");
    assert_null(name_of_ipv4(hosts, 0x0a090001));
    hosts_destroy(hosts);
}

static void assert_found(const char *name, uint32_t expected)
{
    uint32_t address = 0;
    int error = 0;

    assert_int_equal(hosts_find(name, 10000, (uint8_t *)&address, &error, NULL), 0);
    assert_int_equal(ntohl(address), expected);
}

static void
a_host_that_no_server_names_is_no_error_and_one_that_cannot_be_asked_for_is(void **state)
{
    const struct address nameless = ip("192.0.2.1"), unanswered = ip("2001:db8::");
    const struct address unasked = IPV6(0x20, 1, 0x0d, 0xb8, [13] = EMFILE);
    struct hosts *hosts = hosts_create();

    (void)state;
    assert_int_equal(hosts_add(hosts, &nameless), 0);
    assert_int_equal(hosts_add(hosts, &unanswered), 0);
    assert_int_equal(hosts_resolve(hosts, 10000, NULL), 0);
    assert_int_equal(hosts_error(hosts), 0);
    assert_int_equal(hosts_add(hosts, &unasked), 0);
    assert_int_equal(hosts_resolve(hosts, 10000, NULL), 0);
    assert_null(hosts_name(hosts, &unasked));
    assert_int_equal(hosts_error(hosts), EMFILE);
    hosts_destroy(hosts);
}

static void name_of_a_host_has_an_address(void **state)
{
    uint8_t address[4];
    int error = 0;

    (void)state;
    assert_found("host", 0x0a010203);
    assert_int_equal(asked, 1);
    assert_int_equal(hosts_find("none", 10000, address, &error, NULL), -ENOENT);
    assert_int_equal(error, HOST_NOT_FOUND);
    assert_int_equal(hosts_find("refused", 10000, address, &error, NULL), -ENOENT);
    assert_int_equal(error, TRY_AGAIN);
}

static void name_that_is_answered_late_is_left_behind(void **state)
{
    char name[] = "late";
    uint8_t address[4] = {1, 2, 3, 4};
    int error = 0;

    (void)state;
    pthread_mutex_lock(&gate);
    const double start = seconds();
    const int result = hosts_find(name, 150, address, &error, NULL);
    const double took = seconds() - start;
    memset(name, 'x', 4); /* nothing of the caller is looked at any more */
    pthread_mutex_unlock(&gate);
    wait_for_late_answers();

    assert_int_equal(result, -ETIMEDOUT);
    assert_true(took > 0.140 && took < 5);
    assert_memory_equal(address, "\1\2\3\4", 4);
}

static void lookups_that_were_not_made_had_no_errors(void **state)
{
    (void)state;
    assert_int_equal(users_error(NULL), 0);
    assert_int_equal(services_error(NULL), 0);
    assert_int_equal(interfaces_error(NULL), 0);
    assert_int_equal(hosts_error(NULL), 0);
}

#define A_LOOKUP(test) cmocka_unit_test_setup_teardown(test, forget, was_asked_rightly)

int main(void)
{
    const struct CMUnitTest tests[] = {
        A_LOOKUP(lookups_that_were_not_made_had_no_errors),
        A_LOOKUP(user_is_asked_for_once),
        A_LOOKUP(unknown_user_has_no_name_and_is_asked_for_once),
        A_LOOKUP(long_user_entry_is_read),
        A_LOOKUP(interrupted_user_lookup_is_repeated),
        A_LOOKUP(a_user_lookup_that_fails_is_an_error_and_a_user_without_a_name_is_none),
        A_LOOKUP(services_that_cannot_be_read_are_an_error),
        A_LOOKUP(a_child_finds_a_user_by_his_name),
        A_LOOKUP(many_users_are_kept_apart),
        A_LOOKUP(a_child_asks_for_users_and_this_process_does_not),
        A_LOOKUP(a_user_who_was_forgotten_is_asked_for_again),
        A_LOOKUP(a_name_that_is_too_long_to_be_sent_is_an_error),
        A_LOOKUP(a_child_that_ends_costs_only_names),
        A_LOOKUP(an_answer_without_an_end_is_not_read_past_it),
        A_LOOKUP(interface_is_asked_for_once),
        A_LOOKUP(interface_has_a_hardware_type_asked_for_when_it_is_needed),
        A_LOOKUP(interfaces_of_a_captured_tree_are_those_of_its_files),
        A_LOOKUP(interface_is_found_by_its_name),
        A_LOOKUP(interface_that_was_added_is_not_asked_for),
        A_LOOKUP(interfaces_that_could_not_settle_are_never_asked_for),
        A_LOOKUP(interface_that_cannot_be_asked_for_is_reported),
        A_LOOKUP(interrupted_interface_lookup_is_repeated),
        A_LOOKUP(last_entry_for_a_port_wins_as_in_netstat),
        A_LOOKUP(services_are_distinguished_by_protocol),
        A_LOOKUP(udplite_ports_have_the_names_of_udp),
        A_LOOKUP(raw_ports_are_protocols_before_services),
        A_LOOKUP(port_without_a_name_has_none),
        A_LOOKUP(address_is_asked_for_once),
        A_LOOKUP(second_round_asks_only_the_new),
        A_LOOKUP(mapped_address_is_asked_for_as_ipv6),
        A_LOOKUP(unspecified_address_is_never_asked_for),
        A_LOOKUP(thousands_are_asked_for_many_at_a_time),
        A_LOOKUP(no_time_asks_for_nothing),
        A_LOOKUP(late_answers_are_left_behind),
        A_LOOKUP(a_slow_lookup_says_how_much_is_asked_for_and_then_that_it_ended),
        A_LOOKUP(answers_in_time_are_kept_when_others_are_late),
        A_LOOKUP(a_host_that_no_server_names_is_no_error_and_one_that_cannot_be_asked_for_is),
        A_LOOKUP(name_of_a_host_has_an_address),
        A_LOOKUP(name_that_is_answered_late_is_left_behind),
    };
    return cmocka_run_group_tests_name("lookup", tests, NULL, NULL);
}
