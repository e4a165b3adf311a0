/* SPDX-License-Identifier: MIT */
/* One flow of connection tracking, and what NAT does to its packets. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>

#include "ct_messages.h"
#include "doctor/rules.h"
#include "fastnet/flow_find.h"
#include "kit.h"

struct flow_question {
    struct flow_tuple orig, reply; /* of the flow that the kernel has */
    int error;                     /* of the answer, instead of a flow */
};

/* 192.0.2.1 port 40000 to 198.51.100.1 port 443, and the answers. */
static struct flow_question plain(uint8_t family)
{
    struct flow_question question = {.error = 0};

    question.orig = ct_tuple_of(family, IPPROTO_TCP, 1, 40000);
    question.reply = ct_reversed(&question.orig);
    return question;
}

static int find(struct stage *stage, const struct flow_question *question,
                const struct flow_tuple *tuple, struct flow_found *found)
{
    const uint8_t family = question->orig.src.family;

    stage_anew(stage);
    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_count", "1\n");
    if (!question->error) {
        ct_message(&stage->wire, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_NEW, 0, 1, family);
        ct_tuple(&stage->wire, CTA_TUPLE_ORIG, &question->orig, family);
        ct_tuple(&stage->wire, CTA_TUPLE_REPLY, &question->reply, family);
        ct_be32(&stage->wire, CTA_STATUS, IPS_CONFIRMED);
        stage_send(stage);
    }
    ct_send_error(stage, 1, question->error);
    return flow_find(stage->netlink, stage->tree.root, IPPROTO_TCP,
                     &(struct endpoint){tuple->src, tuple->src_port},
                     &(struct endpoint){tuple->dst, tuple->dst_port}, found);
}

static void assert_found(const struct flow_found *found, bool translated, const char *source,
                         const char *destination)
{
    char text[ENDPOINT_TEXT];

    assert_true(found->exists);
    assert_int_equal(found->translated, translated);
    assert_string_equal(endpoint_text(text, &found->source), source);
    assert_string_equal(endpoint_text(text, &found->destination), destination);
}

static void the_flow_is_asked_for_by_its_tuple(void **state)
{
    struct stage *stage = *state;
    const struct flow_question question = plain(AF_INET);
    const struct nlmsghdr *request;
    struct flow_found found;

    assert_int_equal(find(stage, &question, &question.orig, &found), 0);
    request = ct_request(&stage->peer, 0);
    assert_int_equal(request->nlmsg_type, NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET);
    assert_int_equal(ct_family(request), AF_INET);
    assert_non_null(ct_find(request, CTA_TUPLE_ORIG));
    assert_found(&found, false, "192.0.2.1:40000", "198.51.100.1:443");
}

static void packets_after_nat_have_the_ends_of_the_answers(void **state)
{
    static const uint8_t families[] = {AF_INET, AF_INET6};
    struct stage *stage = *state;
    struct flow_found found;

    for (size_t i = 0; i < COUNT(families); i++) {
        const bool v6 = families[i] == AF_INET6;
        struct flow_question question = plain(families[i]);
        question.reply.src = ip(v6 ? "2001:db8:9::9" : "10.9.9.9");
        question.reply.src_port = 8443;
        question.reply.dst_port = 1024;
        assert_int_equal(find(stage, &question, &question.orig, &found), 0);
        assert_found(&found, true, v6 ? "[2001:db8:c000:2::1]:1024" : "192.0.2.1:1024",
                     v6 ? "[2001:db8:9::9]:8443" : "10.9.9.9:8443");
        /* the answer of the server, which NAT changes back */
        assert_int_equal(find(stage, &question, &question.reply, &found), 0);
        assert_found(&found, true, v6 ? "[2001:db8:c633:6400::1]:443" : "198.51.100.1:443",
                     v6 ? "[2001:db8:c000:2::1]:40000" : "192.0.2.1:40000");
    }
}

static void a_flow_that_does_not_exist_is_no_error(void **state)
{
    struct stage *stage = *state;
    struct flow_question question = plain(AF_INET);
    struct flow_found found;

    question.error = -ENOENT;
    assert_int_equal(find(stage, &question, &question.orig, &found), 0);
    assert_false(found.exists || found.translated);
    assert_int_equal(found.destination.port, 443);
    question.error = -EPERM;
    assert_int_equal(find(stage, &question, &question.orig, &found), -EPERM);
    assert_false(found.exists);
}

static void without_the_module_the_kernel_is_not_asked(void **state)
{
    struct stage *stage = *state;
    const struct endpoint end = {.address = ip("192.0.2.1"), .port = 1};
    struct flow_found found;

    assert_int_equal(flow_find(stage->netlink, stage->tree.root, IPPROTO_TCP, &end, &end, &found),
                     0);
    assert_false(found.exists);
    assert_int_equal(stage->peer.request_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(the_flow_is_asked_for_by_its_tuple),
        ON_STAGE(packets_after_nat_have_the_ends_of_the_answers),
        ON_STAGE(a_flow_that_does_not_exist_is_no_error),
        ON_STAGE(without_the_module_the_kernel_is_not_asked),
    };

    return cmocka_run_group_tests_name("flow_find", tests, NULL, NULL);
}
