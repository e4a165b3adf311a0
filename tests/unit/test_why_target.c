/* SPDX-License-Identifier: MIT */
/* The words of fastnet why: host and port, or what to type instead. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/why/target.h"
#include "kit.h"

static char services[] = "/tmp/fastnet-target-XXXXXX";

static int make_services(void **state)
{
    const int fd = mkstemp(services);
    static const char text[] = "https 443/tcp\nhttps 443/udp\npostgresql 5432/tcp postgres\n"
                               "domain 53/tcp\nssh 22/tcp\nsnmp 161/udp\n";

    (void)state;
    return fd < 0 || write(fd, text, sizeof text - 1) < 0 || close(fd) < 0;
}

static int remove_services(void **state)
{
    (void)state;
    return unlink(services);
}

/* Splits a line at its spaces, as a shell does; '_' is an empty word. */
static int parse(struct why_target *target, const char *line, char wrong[MESSAGE_TEXT_MAX])
{
    char text[256];
    const char *words[8];
    size_t count = 0;

    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word && count < COUNT(words); word = strtok(NULL, " "))
        words[count++] = strcmp(word, "_") == 0 ? "" : word;
    return target_parse(target, words, count, services, "tcp", wrong);
}

struct accepted {
    const char *line, *host;
    uint16_t port;
    const char *service;
};

static void accept_all(const struct accepted *cases, size_t count)
{
    char wrong[MESSAGE_TEXT_MAX];

    for (size_t i = 0; i < count; i++) {
        struct why_target target;
        *wrong = '\0';
        if (parse(&target, cases[i].line, wrong) < 0)
            fail_msg("%s: %s", cases[i].line, wrong);
        assert_string_equal(target.host, cases[i].host);
        assert_int_equal(target.port, cases[i].port);
        assert_string_equal(target.service, cases[i].service ? cases[i].service : "");
    }
}

static void a_host_and_its_port_are_one_word_or_two(void **state)
{
    static const struct accepted cases[] = {
        {"db.example:5432", "db.example", 5432, NULL},
        {"db.example 5432", "db.example", 5432, NULL},
        {"10.9.2.2:https", "10.9.2.2", 443, "https"},
        {"db postgres", "db", 5432, "postgres"},
        {"[2001:db8::1]:80", "2001:db8::1", 80, NULL},
        {"[2001:db8::1] 80", "2001:db8::1", 80, NULL},
        {"2001:db8::1 80", "2001:db8::1", 80, NULL},
        {"user@db:22", "db", 22, NULL},
        {"db:65535", "db", 65535, NULL},
    };

    (void)state;
    accept_all(cases, COUNT(cases));
}

static void a_url_has_a_host_and_a_port(void **state)
{
    static const struct accepted cases[] = {
        {"https://db.example/x", "db.example", 443, "https"},
        {"https://db.example:8443/x?y#z", "db.example", 8443, NULL},
        {"http://db.example", "db.example", 80, "http"}, /* services has no http */
        {"https://me:pa%40ss@db.example/x@y:9", "db.example", 443, "https"},
        {"https://[2001:db8::1]:8443/x", "2001:db8::1", 8443, NULL},
        {"http://[fe80::1%eth0]:80/x", "fe80::1%eth0", 80, NULL},
        {"https://[2001:db8::1]", "2001:db8::1", 443, "https"},
        {"jdbc:postgresql://db/x", "db", 5432, "postgresql"},
        {"tcp://db:7000", "db", 7000, NULL},
    };

    (void)state;
    accept_all(cases, COUNT(cases));
}

static void a_port_alone_is_of_this_machine(void **state)
{
    static const struct accepted cases[] = {
        {"5432", "", 5432, NULL},      {":5432", "", 5432, NULL},
        {"ssh", "", 22, "ssh"},        {":ssh", "", 22, "ssh"},
        {"*:5432", "", 5432, NULL},    {"0.0.0.0:5432", "", 5432, NULL},
        {"[::]:5432", "", 5432, NULL}, {"0.0.0.0 5432", "", 5432, NULL},
    };

    (void)state;
    accept_all(cases, COUNT(cases));
}

static const struct {
    const char *line, *message;
} wrong_words[] = {
    {"", "a host and a port are missing: type HOST:PORT, or PORT for a port of this machine"},
    {"_", "a word is empty: type HOST:PORT"},
    {":", "a word is empty: type HOST:PORT"},
    {"0", "'0' is not a port: type a number from 1 to 65535"},
    {"db:0", "'0' is not a port: type a number from 1 to 65535"},
    {"db:70000", "'70000' is not a port: type a number from 1 to 65535"},
    {"db 99999999999999999999", "'99999999999999999999' is not a port: type a number from 1 to "
                                "65535"},
    {"db:8o", "'8o' is not a port: type a number from 1 to 65535"},
    {"db:80-90", "'80-90' is more than one port: type one port"},
    {"db:80,443", "'80,443' is more than one port: type one port"},
    {"80,443", "'80,443' is more than one port: type one port"},
    {"53/udp", "'53/udp': type only the port, and -u for UDP"},
    {"22/tcp", "'22/tcp': type only the port, and -u for UDP"},
    {"db:nosuch", "'nosuch' is neither a port nor a service of /etc/services"},
    {"db:snmp", "'snmp' is neither a port nor a service of /etc/services"},
    {"db", "'db' has no port, and is not a service of /etc/services: type db:PORT"},
    {"10.9.2.2", "'10.9.2.2' has no port, and is not a service of /etc/services: type "
                 "10.9.2.2:PORT"},
    {"db:", "'db' has no port: type db:PORT"},
    {"[2001:db8::1]", "'2001:db8::1' has no port: type [2001:db8::1]:PORT"},
    {"2001:db8:1:2:3:4:5:6", "'2001:db8:1:2:3:4:5:6' has no port: type "
                             "[2001:db8:1:2:3:4:5:6]:PORT"},
    {"2001:db8::1:443", "'2001:db8::1:443' is an address, or an address with a port: type "
                        "[2001:db8::1]:443 or [2001:db8::1:443]:PORT"},
    {"2001:db8::1:70000", "'2001:db8::1:70000' needs brackets: type [2001:db8::1]:70000"},
    {"[2001:db8::1]80", "'[2001:db8::1]80': type ':' between the address and the port"},
    {"[db]:80", "'[db]:80' is not an IPv6 address in brackets: type [ADDRESS]:PORT"},
    {"[2001:db8::1:80", "'[2001:db8::1:80' is not an IPv6 address in brackets: type "
                        "[ADDRESS]:PORT"},
    {"a:b:80", "'a:b:80' is not an IPv6 address, and a host has one ':' before its port: type "
               "HOST:PORT or [ADDRESS]:PORT"},
    {"db.example/x", "'db.example/x' has a '/': type HOST:PORT, or a URL such as "
                     "https://db.example/x"},
    {"10.0.0.0/8:80", "'10.0.0.0/8:80' has a '/': type HOST:PORT, or a URL such as "
                      "https://db.example/x"},
    {"gopher9://db/x", "the port of 'gopher9' is not known: type db:PORT"},
    {"https:///x", "the URL has no host: type HOST:PORT"},
    {"db:80 web:80", "one host at a time: type HOST:PORT or HOST PORT"},
    {"db web 80", "one host at a time: type HOST:PORT or HOST PORT"},
    {"10.9.2.2 10.9.2.3", "one host at a time: type HOST:PORT or HOST PORT"},
    {"5432 db", "the host comes first: type db:5432"},
    {"nc db 80", "type only the host and the port, without 'nc'"},
    {"curl https://db", "type only the host and the port, without 'curl'"},
    {"10.9.2.256:80", "'10.9.2.256' is not an IPv4 address"},
    {"d\"b:80", "'d\"b' is not the name of a host: type HOST:PORT"},
    {"db%eth0:80", "'db%eth0': '%' is for an IPv6 address with an interface, such as "
                   "[fe80::1%eth0]:80"},
    {"10.9.2.2%eth0:80", "'10.9.2.2%eth0': '%' is for an IPv6 address with an interface, such "
                         "as [fe80::1%eth0]:80"},
    {"[fe80::1%]:80", "'fe80::1%': '%' is for an IPv6 address with an interface, such as "
                      "[fe80::1%eth0]:80"},
};

static void a_wrong_word_says_what_to_type(void **state)
{
    char wrong[MESSAGE_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(wrong_words); i++) {
        struct why_target target;
        *wrong = '\0';
        assert_int_equal(parse(&target, wrong_words[i].line, wrong), -EINVAL);
        assert_string_equal(wrong, wrong_words[i].message);
    }
}

static void a_password_is_in_no_message(void **state)
{
    static const char *const lines[] = {"https://me:secret@/x", "https://me:secret@db:0/x",
                                        "nosuch://me:secret@db", "me:secret@db",
                                        "https://me:secret@d\"b"};
    char wrong[MESSAGE_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct why_target target;
        assert_int_equal(parse(&target, lines[i], wrong), -EINVAL);
        assert_null(strstr(wrong, "secret"));
    }
}

static void a_message_is_a_line_for_a_terminal(void **state)
{
    char wrong[MESSAGE_TEXT_MAX];
    struct why_target target;

    (void)state;
    assert_int_equal(parse(&target, "d\033[2Jb:80", wrong), -EINVAL);
    assert_null(strchr(wrong, '\033'));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_and_its_port_are_one_word_or_two),
        cmocka_unit_test(a_url_has_a_host_and_a_port),
        cmocka_unit_test(a_port_alone_is_of_this_machine),
        cmocka_unit_test(a_wrong_word_says_what_to_type),
        cmocka_unit_test(a_password_is_in_no_message),
        cmocka_unit_test(a_message_is_a_line_for_a_terminal),
    };

    return cmocka_run_group_tests_name("why target", tests, make_services, remove_services);
}
