/* SPDX-License-Identifier: MIT */
/*
 * Makes one attempt to connect (fastnet/attempt.h), and prints its result: a line NAME=VALUE for
 * each member that is known.
 *
 *     attempt [OPTION]... ADDRESS PORT
 *
 *     -a AS      as whom, as --as=AS of fastnet why
 *     -b BYTES   send this number of zero bytes
 *     -i INDEX   interface of a link-local address
 *     -m MARK    mark of the socket
 *     -r COUNT   stop when this number of SYNs was sent again
 *     -t TIME    the longest time to wait, ms (default: 5000)
 *     -u         UDP
 *
 *     attempt as AS      only finds AS, and prints what is found
 *
 * The exit status is 1 if AS is not found; the message is printed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/attempt.h"
#include "fastnet/rights.h"

static const char *error_name(int error)
{
    static const struct {
        int number;
        const char *name;
    } errors[] = {
        {EPERM, "EPERM"},
        {ESRCH, "ESRCH"},
        {EAGAIN, "EAGAIN"},
        {EACCES, "EACCES"},
        {EINVAL, "EINVAL"},
        {EPROTO, "EPROTO"},
        {ENOPROTOOPT, "ENOPROTOOPT"},
        {EADDRNOTAVAIL, "EADDRNOTAVAIL"},
        {ENETUNREACH, "ENETUNREACH"},
        {ECONNRESET, "ECONNRESET"},
        {ETIMEDOUT, "ETIMEDOUT"},
        {ECONNREFUSED, "ECONNREFUSED"},
        {EHOSTUNREACH, "EHOSTUNREACH"},
        {EMSGSIZE, "EMSGSIZE"},
    };
    static char number[16];

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == error)
            return errors[i].name;
    snprintf(number, sizeof number, "%d", error);
    return number;
}

static const char *address_text(const struct address *address)
{
    static char text[INET6_ADDRSTRLEN];

    return inet_ntop(address->family, address->bytes, text, sizeof text) ? text : "?";
}

static void put_lacks(unsigned lacks)
{
    static const char *const names[] = {"netns", "cgroup", "user", "mark"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (lacks >> i & 1)
            printf("lacks=%s\n", names[i]);
}

static void put_result(const struct attempt_result *result, const struct attempt_question *question)
{
    static const char *const states[] = {"none", "waits", "connected", "failed"};

    printf("state=%s\n", states[result->state]);
    put_lacks(result->lacks);
    if (result->error)
        printf("error=%s\n", error_name(result->error));
    if (result->at_once)
        puts("at_once=1");
    printf("elapsed=%" PRIu64 "\n", result->elapsed / 1000000);
    if (result->local.address.family)
        printf("local=%s\nport=%u\n", address_text(&result->local.address), result->local.port);
    printf("cookie=%" PRIu64 "\nretransmits=%u\n", result->cookie, result->retransmits);
    if (result->has_icmp)
        printf("icmp=%u/%u %s info %u from %s%s\n", result->icmp_type, result->icmp_code,
               error_name(result->icmp_error), result->icmp_info, address_text(&result->offender),
               result->icmp_is_local ? " local" : "");
    if (result->mtu)
        printf("mtu=%u\nmss=%u\n", result->mtu, result->mss);
    if (question->bytes)
        printf("sent=%" PRIu64 "\nacked=%" PRIu64 "\ndata_retransmits=%u\n", result->sent,
               result->acked, result->data_retransmits);
    if (result->reset)
        puts("reset=1");
}

static void find(struct attempt_as *as, const char *argument)
{
    char wrong[ATTEMPT_WRONG] = "";
    const int error = attempt_as_find(as, argument, "/proc", wrong);

    if (!error)
        return;
    printf("wrong=%s %s\n", error == -ENOENT ? "ENOENT" : error_name(-error), wrong);
    exit(1);
}

static int put_as(const char *argument)
{
    struct attempt_as as;

    find(&as, argument);
    printf("text=%s\n", as.text);
    if (as.pid)
        printf("pid=%d\n", (int)as.pid);
    if (as.netns_id)
        printf("netns=%" PRIu64 "\n", as.netns_id);
    if (as.cgroup)
        puts("cgroup=1");
    if (as.has_user)
        printf("user=%u %u\n", as.uid, as.gid);
    put_lacks(as.lacks);
    attempt_as_finish(&as);
    return 0;
}

static void make(const struct attempt_question *question, uint32_t retransmits)
{
    struct attempt *attempt;
    struct attempt_result result;
    const int error = attempt_begin(&attempt, question);
    struct pollfd event = {.events = POLLIN};

    if (error)
        errx(2, "attempt_begin: %s", strerror(-error));
    event.fd = attempt_descriptor(attempt);
    while (!attempt_read(attempt, &result) && result.retransmits < retransmits)
        (void)poll(&event, 1, 1000);
    put_result(&result, question);
    attempt_end(attempt);
}

int main(int argc, char **argv)
{
    struct attempt_as as = {.pid = 0};
    struct attempt_question question = {.protocol = IPPROTO_TCP, .milliseconds = 5000, .as = &as};
    uint32_t retransmits = UINT32_MAX;
    int option;

    if (rights_init() < 0)
        errx(2, "rights");
    if (argc == 3 && strcmp(argv[1], "as") == 0)
        return put_as(argv[2]);
    while ((option = getopt(argc, argv, "a:b:i:m:r:t:u")) != -1)
        switch (option) {
        case 'a':
            find(&as, optarg);
            break;
        case 'b':
            question.bytes = strtoul(optarg, NULL, 10);
            break;
        case 'i':
            question.interface = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'm':
            question.mark = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            retransmits = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 't':
            question.milliseconds = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'u':
            question.protocol = IPPROTO_UDP;
            break;
        default:
            return 2;
        }
    if (argc - optind != 2)
        errx(2, "usage: attempt [OPTION]... ADDRESS PORT");
    question.peer.port = (uint16_t)strtoul(argv[optind + 1], NULL, 10);
    question.peer.address.family = strchr(argv[optind], ':') ? AF_INET6 : AF_INET;
    if (inet_pton(question.peer.address.family, argv[optind], question.peer.address.bytes) != 1)
        errx(2, "%s: no address", argv[optind]);
    make(&question, retransmits);
    attempt_as_finish(&as);
    return 0;
}
