/* SPDX-License-Identifier: MIT */
/* RPC programs: what an answer of rpcbind says, also one that is cut or lies about its lengths. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/hosts.h"
#include "fastnet/rpc_programs.h"
#include "kit.h"

struct message {
    unsigned char bytes[1024];
    size_t length;
};

static void put_number(struct message *message, uint32_t number)
{
    number = htonl(number);
    memcpy(message->bytes + message->length, &number, sizeof number);
    message->length += sizeof number;
}

static void put_text(struct message *message, const char *text)
{
    const size_t length = strlen(text);

    put_number(message, (uint32_t)length);
    memcpy(message->bytes + message->length, text, length);
    message->length += (length + 3) / 4 * 4;
}

/* An answer that is accepted, with a verifier of three bytes. */
static struct message begun(void)
{
    struct message message = {.length = 0};

    put_number(&message, 1);
    put_number(&message, 1);
    put_number(&message, 0);
    put_number(&message, 0);
    put_text(&message, "abc");
    put_number(&message, 0);
    return message;
}

static void put_program(struct message *message, uint32_t program, const char *netid,
                        const char *address)
{
    put_number(message, 1);
    put_number(message, program);
    put_number(message, 4);
    put_text(message, netid);
    put_text(message, address);
    put_text(message, "superuser");
}

static struct rpc_programs *programs_create(void)
{
    char path[] = "/tmp/fastnet-rpc-XXXXXX";
    const int fd = mkstemp(path);
    static const char names[] = "# number\n\nportmapper\t100000\trpcbind # first\n"
                                "nlockmgr 100021\nbad x7\nhuge 99999999999\nsecond 100021\nalone\n";
    struct rpc_programs *programs;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, names, sizeof names - 1), sizeof names - 1);
    close(fd);
    programs = rpc_programs_create(path);
    unlink(path);
    assert_non_null(programs);
    return programs;
}

static void programs_have_names_by_protocol_and_port(void **state)
{
    struct rpc_programs *programs = programs_create();
    struct message message = begun();

    (void)state;
    put_program(&message, 100000, "tcp", "0.0.0.0.0.111");
    put_program(&message, 100000, "udp6", "::.1.2");
    put_program(&message, 100021, "sctp", "0.0.0.0.255.255");
    put_program(&message, 100021, "local", "/run/rpcbind.sock");
    put_program(&message, 100021, "tcp", "127.0.0.1.3.4");
    put_program(&message, 100021, "tcp", "0.0.0.0.256.4");
    put_program(&message, 7, "tcp", "0.0.0.0.0.111");
    put_number(&message, 0);
    assert_int_equal(rpc_programs_take(programs, message.bytes, message.length), 0);
    assert_string_equal(rpc_programs_name(programs, IPPROTO_TCP, 111), "rpc.portmapper");
    assert_string_equal(rpc_programs_name(programs, IPPROTO_UDP, 258), "rpc.portmapper");
    assert_string_equal(rpc_programs_name(programs, IPPROTO_SCTP, 65535), "rpc.nlockmgr");
    assert_null(rpc_programs_name(programs, IPPROTO_UDP, 111));
    assert_null(rpc_programs_name(programs, IPPROTO_TCP, 772));
    assert_null(rpc_programs_name(programs, IPPROTO_TCP, 4));
    assert_int_equal(rpc_programs_error(programs), 0);
    rpc_programs_destroy(programs);
}

static void the_last_program_of_a_port_counts(void **state)
{
    struct rpc_programs *programs = programs_create();
    struct message message = begun();

    (void)state;
    put_program(&message, 100000, "tcp", "0.0.0.0.8.1");
    put_program(&message, 100021, "tcp6", "::.8.1");
    put_number(&message, 0);
    assert_int_equal(rpc_programs_take(programs, message.bytes, message.length), 0);
    assert_string_equal(rpc_programs_name(programs, IPPROTO_TCP, 2049), "rpc.nlockmgr");
    rpc_programs_destroy(programs);
}

static void an_answer_that_is_cut_is_malformed(void **state)
{
    struct rpc_programs *programs = programs_create();
    struct message message = begun();

    (void)state;
    put_program(&message, 100000, "tcp", "0.0.0.0.0.111");
    put_number(&message, 0);
    for (size_t length = 0; length < message.length; length++) {
        unsigned char *copy = malloc(length + 1); /* ends where valgrind and ASan see it */
        assert_non_null(copy);
        memcpy(copy, message.bytes, length);
        assert_int_equal(rpc_programs_take(programs, copy, length), -EBADMSG);
        free(copy);
    }
    rpc_programs_destroy(programs);
}

static void a_length_that_is_too_large_is_malformed(void **state)
{
    static const uint32_t lengths[] = {UINT32_MAX, UINT32_MAX - 3, 0x80000000, 100};
    struct rpc_programs *programs = programs_create();

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct message message = begun();
        put_number(&message, 1);
        put_number(&message, 100000);
        put_number(&message, 4);
        put_number(&message, lengths[i]);
        assert_int_equal(rpc_programs_take(programs, message.bytes, message.length), -EBADMSG);
    }
    rpc_programs_destroy(programs);
}

static void a_refusal_has_no_programs(void **state)
{
    struct rpc_programs *programs = programs_create();
    struct message message = begun();

    (void)state;
    message.bytes[message.length - 1] = 2; /* PROG_MISMATCH */
    put_number(&message, 2);
    put_number(&message, 4);
    assert_int_equal(rpc_programs_take(programs, message.bytes, message.length), -EPROTO);
    rpc_programs_destroy(programs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_have_names_by_protocol_and_port),
        cmocka_unit_test(the_last_program_of_a_port_counts),
        cmocka_unit_test(an_answer_that_is_cut_is_malformed),
        cmocka_unit_test(a_length_that_is_too_large_is_malformed),
        cmocka_unit_test(a_refusal_has_no_programs),
    };

    return cmocka_run_group_tests_name("rpc_programs", tests, NULL, NULL);
}
