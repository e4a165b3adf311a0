/* SPDX-License-Identifier: MIT */
/*
 * Prints the way of a flow (fastnet/routing.h) in one line, the ways of the flows that are the
 * lines of standard input, or the neighbour of an interface:
 *
 *     way ADDRESS [from ADDRESS] [mark N] [oif NAME] [uid N] [sport N] [dport N] [ipproto N]
 *     way -
 *     way neighbour ADDRESS NAME
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/netlink.h"
#include "fastnet/record.h"
#include "fastnet/routing.h"

static struct address parsed(const char *text)
{
    struct address address = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};

    if (inet_pton(address.family, text, address.bytes) != 1) {
        fprintf(stderr, "%s is not an address\n", text);
        exit(2);
    }
    return address;
}

static void put(const char *name, const struct address *address)
{
    if (address->family != AF_UNSPEC) {
        char text[INET6_ADDRSTRLEN];
        printf(" %s %s", name, inet_ntop(address->family, address->bytes, text, sizeof text));
    }
}

static void put_interface(const char *name, uint32_t index)
{
    if (index) {
        char text[IF_NAMESIZE] = "?";
        if_indextoname(index, text);
        printf(" %s %s", name, text);
    }
}

static const char *const end_names[] = {
    [ROUTING_LEADS] = "leads",         [ROUTING_NONE] = "none",
    [ROUTING_BLACKHOLE] = "blackhole", [ROUTING_UNREACHABLE] = "unreachable",
    [ROUTING_PROHIBIT] = "prohibit",   [ROUTING_NEEDS_INTERFACE] = "needs-interface",
    [ROUTING_UNKNOWN] = "unknown",
};

static void print_answer(const struct routing_answer *answer)
{
    fputs(end_names[answer->end], stdout);
    if (answer->error)
        printf(" errno %d", answer->error);
    if (answer->rule.known)
        printf(" rule %u%s", answer->rule.priority, answer->rule.ends ? " itself" : "");
    if (answer->table)
        printf(" table %u", answer->table);
    if (answer->end == ROUTING_LEADS) {
        const char *type = route_type_name(answer->type);
        printf(" type %s", type ? type : "?");
        put("via", &answer->gateway);
        put_interface("dev", answer->interface);
        put("src", &answer->source);
        if (answer->mtu_is_learnt)
            printf(" mtu %u", answer->mtu);
        if (answer->next_hops != 1)
            printf(" hops %u", answer->next_hops);
    }
    putchar('\n');
}

static bool take_option(struct routing_question *question, const char *name, const char *value)
{
    const uint32_t number = (uint32_t)strtoul(value, NULL, 0);

    question->has_uid |= strcmp(name, "uid") == 0;
    if (strcmp(name, "from") == 0)
        question->source = parsed(value);
    else if (strcmp(name, "mark") == 0)
        question->mark = number;
    else if (strcmp(name, "oif") == 0)
        question->interface = if_nametoindex(value);
    else if (strcmp(name, "uid") == 0)
        question->uid = number;
    else if (strcmp(name, "sport") == 0)
        question->source_port = (uint16_t)number;
    else if (strcmp(name, "dport") == 0)
        question->peer.port = (uint16_t)number;
    else if (strcmp(name, "ipproto") == 0)
        question->protocol = (uint8_t)number;
    else
        return false;
    return true;
}

static int print_neighbour(struct netlink *netlink, const char *text, const char *name)
{
    const struct address address = parsed(text);
    struct record record;
    const int error = routing_neighbour(netlink, &address, if_nametoindex(name), &record);
    const char *state = error < 0 ? strerror(-error) : neighbour_state_name(record.neighbour.state);

    puts(state ? state : "?");
    return 0;
}

static int print_way(struct netlink *netlink, int count, char *words[])
{
    struct routing_question question = {.protocol = IPPROTO_TCP, .peer.address = parsed(words[0])};
    struct routing_answer answer;

    for (int i = 1; i < count; i += 2)
        if (i + 1 == count || !take_option(&question, words[i], words[i + 1]))
            return 2;
    const int error = routing_ask(netlink, &question, &answer);
    if (error < 0)
        printf("%s: ", strerror(-error));
    print_answer(&answer);
    return 0;
}

static int print_ways(struct netlink *netlink)
{
    enum { WORDS_MAX = 16 };
    char line[256];
    int result = 0;

    while (result == 0 && fgets(line, sizeof line, stdin)) {
        char *words[WORDS_MAX];
        int count = 0;
        for (char *word = strtok(line, " \n"); word && count < WORDS_MAX;
             word = strtok(NULL, " \n"))
            words[count++] = word;
        result = count ? print_way(netlink, count, words) : 2;
    }
    return result;
}

int main(int argc, char *argv[])
{
    struct netlink *netlink = netlink_create(NULL);
    int result;

    if (!netlink || argc < 2)
        return 2;
    if (strcmp(argv[1], "neighbour") == 0)
        return argc == 4 ? print_neighbour(netlink, argv[2], argv[3]) : 2;
    if (strcmp(argv[1], "-") == 0)
        result = print_ways(netlink);
    else
        result = print_way(netlink, argc - 1, argv + 1);
    netlink_destroy(netlink);
    return result;
}
