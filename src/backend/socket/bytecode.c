/* SPDX-License-Identifier: MIT */
#include "backend/socket/bytecode.h"

#include <linux/inet_diag.h>
#include <net/if.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "fastnet/record.h"
#include "model/explanation.h"

/* An instruction is a struct inet_diag_bc_op, maybe with operands. If its test holds, the program
 * continues `yes` bytes after the start of the instruction, else `no` bytes after it. At the end of
 * the program the socket passes; four bytes after the end it does not. All jumps lead forward.
 * Until the program is complete, `no` is the number of a label. */
enum { LABELS_MAX = 1024, LABEL_FAIL = 0 };

struct bytecode_compiler {
    struct cgroups *cgroups;
    uint16_t labels[LABELS_MAX]; /* words from the start; LABEL_FAIL is set last */
    uint32_t *words;
    size_t count, label_count;
    bool full; /* too many words or labels */
};

static unsigned bytecode_new_label(struct bytecode_compiler *compiler)
{
    if (compiler->label_count == LABELS_MAX) {
        compiler->full = true;
        return LABEL_FAIL;
    }
    return (unsigned)compiler->label_count++;
}

static void bytecode_set_label(struct bytecode_compiler *compiler, unsigned label)
{
    compiler->labels[label] = (uint16_t)compiler->count;
}

static void bytecode_emit(struct bytecode_compiler *compiler, uint8_t code, unsigned label,
                          const void *operands, size_t size)
{
    const struct inet_diag_bc_op op = {code, (uint8_t)(sizeof op + size), (uint16_t)label};

    if (compiler->count + op.yes / 4 > BYTECODE_WORDS) {
        compiler->full = true;
        return;
    }
    memcpy(&compiler->words[compiler->count], &op, sizeof op);
    if (size)
        memcpy(&compiler->words[compiler->count + 1], operands, size);
    compiler->count += op.yes / 4;
}

static void bytecode_jump(struct bytecode_compiler *compiler, unsigned label)
{
    bytecode_emit(compiler, INET_DIAG_BC_JMP, label, NULL, 0);
}

/* --- Comparisons ------------------------------------------------------------------------------ */

/* A comparison, in the kernel's terms. */
struct test {
    enum {
        TEST_NONE,
        TEST_PORT,
        TEST_ADDRESS,
        TEST_INTERFACE,
        TEST_MARK,
        TEST_CGROUP,
        TEST_CHOSEN, /* the kernel chose the local port */
    } type;
    bool opposite; /* the comparison holds if the test fails */
    bool remote;
    uint32_t least, most;   /* TEST_PORT; least > most: no port passes */
    struct network network; /* TEST_ADDRESS */
    uint32_t index;         /* TEST_INTERFACE */
    struct inet_diag_markcond mark;
    uint64_t cgroup;
};

static bool find_ports(const struct predicate *comparison, struct test *test)
{
    const uint64_t number = comparison->constant.number;
    const uint32_t port = number < UINT16_MAX ? (uint32_t)number : UINT16_MAX;
    const bool is_port = number <= UINT16_MAX;

    if (comparison->constant.type != VALUE_NUMBER)
        return false;
    test->least = 1; /* no port passes */
    test->most = 0;
    if (comparison->operation == PREDICATE_EQUAL && is_port) {
        test->least = test->most = port;
    } else if (comparison->operation == PREDICATE_BELOW && number > 0) {
        test->least = 0;
        test->most = is_port ? port - 1 : UINT16_MAX;
    } else if (comparison->operation == PREDICATE_ABOVE && number < UINT16_MAX) {
        test->least = port + 1;
        test->most = UINT16_MAX;
    }
    return comparison->operation == PREDICATE_EQUAL || comparison->operation == PREDICATE_BELOW ||
           comparison->operation == PREDICATE_ABOVE;
}

static bool find_addresses(const struct predicate *comparison, struct test *test)
{
    const struct address *address = &comparison->constant.address;
    const size_t size = address_size(address);

    if (comparison->constant.type != VALUE_ADDRESS || !size)
        return false;
    test->network = (struct network){*address, (uint8_t)(8 * size)};
    return comparison->operation == PREDICATE_EQUAL ||
           (comparison->operation == PREDICATE_WITHIN &&
            mask_prefix(comparison->mask.address, size, &test->network.prefix));
}

static bool find_interface(const struct predicate *comparison, struct test *test)
{
    const struct value *constant = &comparison->constant;
    char name[IF_NAMESIZE] = "";

    if (comparison->operation != PREDICATE_EQUAL)
        return false;
    if (constant->type == VALUE_TEXT && constant->text.length < sizeof name) {
        memcpy(name, constant->text.data, constant->text.length);
        test->index = if_nametoindex(name);
    } else if (constant->type == VALUE_NUMBER && constant->number <= INT32_MAX) {
        test->index = (uint32_t)constant->number;
    }
    return test->index != 0;
}

static bool find_mark(const struct predicate *comparison, struct test *test)
{
    const uint64_t number = comparison->constant.number;
    const bool masked = comparison->operation == PREDICATE_MASKED;
    const uint64_t mask = masked ? comparison->mask.bits[0] : UINT32_MAX;

    if (comparison->constant.type != VALUE_NUMBER || number > UINT32_MAX ||
        (!masked && comparison->operation != PREDICATE_EQUAL))
        return false;
    test->mark = (struct inet_diag_markcond){(uint32_t)number, (uint32_t)mask};
    return true;
}

static bool find_cgroup(const struct predicate *comparison, struct test *test)
{
    test->cgroup = comparison->constant.number;
    return comparison->constant.type == VALUE_NUMBER && comparison->operation == PREDICATE_EQUAL;
}

/* The kernel knows whether it chose a port; the field knows only whether it could have chosen it. A
 * row is wanted if both agree, as in ss of iproute2. */
static bool bytecode_find_chosen(const struct predicate *comparison, struct test *test)
{
    test->opposite = comparison->constant.number == 0;
    return comparison->constant.type == VALUE_NUMBER && comparison->constant.number <= 1 &&
           comparison->operation == PREDICATE_EQUAL;
}

/* Returns false if the comparison holds for no socket of IP. */
static bool may_be_inet(const struct predicate *comparison)
{
    const struct text name = comparison->constant.text;

    return comparison->operation != PREDICATE_EQUAL || comparison->constant.type != VALUE_TEXT ||
           (name.length >= 4 && strncasecmp(name.data, "inet", 4) == 0);
}

/* Returns the test for a comparison. Fields of services and host names have the same members as
 * ports and addresses, but their values are texts. */
static struct test test_of(const struct predicate *comparison)
{
    const struct field *field = comparison->field;
    const size_t offset = field->offset;
    struct test test = {.type = TEST_NONE};

    if (field->port && (offset == offsetof(struct record, socket.local.port) ||
                        offset == offsetof(struct record, socket.remote.port))) {
        test.remote = offset == offsetof(struct record, socket.remote.port);
        test.type = find_ports(comparison, &test) ? TEST_PORT : TEST_NONE;
    } else if (field->type == VALUE_ADDRESS &&
               (offset == offsetof(struct record, socket.local.address) ||
                offset == offsetof(struct record, socket.remote.address))) {
        test.remote = offset == offsetof(struct record, socket.remote.address);
        test.type = find_addresses(comparison, &test) ? TEST_ADDRESS : TEST_NONE;
    } else if (field->type == VALUE_NAME && offset == offsetof(struct record, socket.interface)) {
        test.type = find_interface(comparison, &test) ? TEST_INTERFACE : TEST_NONE;
    } else if (field->type == VALUE_NUMBER && offset == offsetof(struct record, socket.mark)) {
        test.type = find_mark(comparison, &test) ? TEST_MARK : TEST_NONE;
    } else if (field->type == VALUE_NUMBER && offset == offsetof(struct record, socket.cgroup)) {
        test.type = find_cgroup(comparison, &test) ? TEST_CGROUP : TEST_NONE;
    } else if (field->type == VALUE_TEXT && offset == offsetof(struct record, socket.family)) {
        test.type = may_be_inet(comparison) ? TEST_NONE : TEST_PORT;
        test.least = 1; /* no port passes */
    } else if (field->lookups == NEED_EPHEMERAL) {
        test.type = bytecode_find_chosen(comparison, &test) ? TEST_CHOSEN : TEST_NONE;
    }
    return test;
}

static void emit_port(struct bytecode_compiler *compiler, uint8_t code, uint32_t port,
                      unsigned label)
{
    const struct inet_diag_bc_op operand = {.no = (uint16_t)port};

    bytecode_emit(compiler, code, label, &operand, sizeof operand);
}

static void emit_network(struct bytecode_compiler *compiler, uint8_t code,
                         const struct network *network, unsigned label)
{
    const struct inet_diag_hostcond condition = {
        .family = network->address.family, .prefix_len = network->prefix, .port = -1};
    char operands[sizeof condition + sizeof network->address.bytes];

    memcpy(operands, &condition, sizeof condition);
    memcpy(operands + sizeof condition, network->address.bytes, sizeof network->address.bytes);
    bytecode_emit(compiler, code, label, operands,
                  sizeof condition + address_size(&network->address));
}

/* Continues if the test holds, else jumps to the label. */
static void emit_test(struct bytecode_compiler *compiler, const struct test *test, unsigned label)
{
    switch (test->type) {
    case TEST_PORT:
        if (test->least > test->most) {
            bytecode_jump(compiler, label);
            break;
        }
        if (test->least > 0)
            emit_port(compiler, test->remote ? INET_DIAG_BC_D_GE : INET_DIAG_BC_S_GE, test->least,
                      label);
        if (test->most < UINT16_MAX)
            emit_port(compiler, test->remote ? INET_DIAG_BC_D_LE : INET_DIAG_BC_S_LE, test->most,
                      label);
        break;
    case TEST_ADDRESS:
        emit_network(compiler, test->remote ? INET_DIAG_BC_D_COND : INET_DIAG_BC_S_COND,
                     &test->network, label);
        break;
    case TEST_INTERFACE:
        bytecode_emit(compiler, INET_DIAG_BC_DEV_COND, label, &test->index, sizeof test->index);
        break;
    case TEST_MARK:
        bytecode_emit(compiler, INET_DIAG_BC_MARK_COND, label, &test->mark, sizeof test->mark);
        break;
    case TEST_CGROUP:
        bytecode_emit(compiler, INET_DIAG_BC_CGROUP_COND, label, &test->cgroup,
                      sizeof test->cgroup);
        break;
    case TEST_CHOSEN:
        bytecode_emit(compiler, INET_DIAG_BC_AUTO, label, NULL, 0);
        break;
    case TEST_NONE:
        break;
    }
}

/* Whether the kernel can reject any socket by this test. */
static bool bytecode_is_judged(const struct test *test, bool negated)
{
    if (test->type == TEST_PORT)
        return negated ? test->least <= test->most : test->least > 0 || test->most < UINT16_MAX;
    return test->type != TEST_NONE;
}

/* Jumps to the label if the test holds. */
static void jump_if(struct bytecode_compiler *compiler, const struct test *test, unsigned label)
{
    const unsigned next = bytecode_new_label(compiler);

    emit_test(compiler, test, next);
    bytecode_jump(compiler, label);
    bytecode_set_label(compiler, next);
}

/* Jumps to `label` unless the port is in one of the ranges; negated: if it is in any range. */
static bool compile_ranges(struct bytecode_compiler *compiler, const struct predicate *among,
                           bool remote, bool negated, unsigned label)
{
    const unsigned done = bytecode_new_label(compiler);

    for (size_t i = 0; i < among->ranges.count && !compiler->full; i++) {
        const struct number_range *range = &among->ranges.first[i];
        if (range->first > UINT16_MAX)
            break;
        const struct test test = {.type = TEST_PORT,
                                  .remote = remote,
                                  .least = (uint32_t)range->first,
                                  .most = range->last < UINT16_MAX ? (uint32_t)range->last
                                                                   : UINT16_MAX};
        jump_if(compiler, &test, negated ? label : done);
    }
    if (!negated)
        bytecode_jump(compiler, label);
    bytecode_set_label(compiler, done);
    return true;
}

/* The kernel tries groups one after the other: more groups are cheaper to compare in fastnet. */
enum { GROUPS_MAX = 64 };

struct bytecode_groups {
    uint64_t ids[GROUPS_MAX];
    size_t count;
};

/* Finds the groups whose sockets pass the comparison. Returns false if there are too many. */
static bool find_groups(struct cgroups *cgroups, const struct predicate *comparison,
                        struct bytecode_groups *groups)
{
    const struct context context = {.cgroups = cgroups};
    struct record record = {.kind = &kind_socket, .has = SOCKET_CGROUP};

    groups->count = 0;
    for (size_t i = 0; i < cgroups_count(cgroups); i++) {
        record.socket.cgroup = cgroups_id(cgroups, i);
        if (!predicate_is_met(comparison, &record, &context))
            continue;
        if (groups->count == GROUPS_MAX)
            return false;
        groups->ids[groups->count++] = record.socket.cgroup;
    }
    return true;
}

/* Jumps to `label` unless the socket is in one of the groups; negated: if it is in any group. If no
 * group passes, the kernel compares with group 0, which no socket has, so it lists no socket. */
static bool compile_groups(struct bytecode_compiler *compiler, const struct predicate *comparison,
                           bool negated, unsigned label)
{
    struct bytecode_groups groups;
    unsigned done;

    if (!find_groups(compiler->cgroups, comparison, &groups) || (negated && !groups.count))
        return false;
    if (!groups.count)
        groups.ids[groups.count++] = 0;
    done = bytecode_new_label(compiler);
    for (size_t i = 0; i < groups.count && !compiler->full; i++) {
        const struct test test = {.type = TEST_CGROUP, .cgroup = groups.ids[i]};
        jump_if(compiler, &test, negated ? label : done);
    }
    if (!negated)
        bytecode_jump(compiler, label);
    bytecode_set_label(compiler, done);
    return true;
}

static bool compile_comparison(struct bytecode_compiler *compiler,
                               const struct predicate *comparison, bool negated, unsigned label)
{
    const struct test test = test_of(comparison);
    const size_t offset = comparison->field->offset;
    const bool remote = offset == offsetof(struct record, socket.remote.port);

    if (comparison->operation == PREDICATE_AMONG && comparison->field->port &&
        (remote || offset == offsetof(struct record, socket.local.port)))
        return compile_ranges(compiler, comparison, remote, negated, label);
    /* fields that follow from the path of a group */
    if (compiler->cgroups && comparison->field->type == VALUE_TEXT &&
        comparison->field->lookups & NEED_CGROUPS)
        return compile_groups(compiler, comparison, negated, label);
    if (!bytecode_is_judged(&test, negated))
        return false;
    negated ^= test.opposite;
    if (!negated) {
        emit_test(compiler, &test, label);
        return true;
    }
    const unsigned fails = bytecode_new_label(compiler);
    emit_test(compiler, &test, fails);
    bytecode_jump(compiler, label);
    bytecode_set_label(compiler, fails);
    return true;
}

/* --- Trees ------------------------------------------------------------------------------------ */

static bool bytecode_compile_predicate(struct bytecode_compiler *compiler,
                                       const struct predicate *predicate, bool negated,
                                       unsigned label);

/* Jumps to `label` if no part can hold. Returns false if the kernel cannot judge one of the
 * parts. */
static bool compile_any(struct bytecode_compiler *compiler, const struct predicate *parts,
                        bool negated, unsigned label)
{
    const size_t count = compiler->count, label_count = compiler->label_count;
    const unsigned done = bytecode_new_label(compiler);
    const bool full = compiler->full;

    for (; parts; parts = parts->next) {
        const unsigned next = bytecode_new_label(compiler);
        if (!bytecode_compile_predicate(compiler, parts, negated, next)) {
            compiler->count = count;
            compiler->label_count = label_count;
            compiler->full = full;
            return false;
        }
        bytecode_jump(compiler, done);
        bytecode_set_label(compiler, next);
    }
    bytecode_jump(compiler, label);
    bytecode_set_label(compiler, done);
    return true;
}

/* Jumps to `label` if the predicate (negated: its opposite) cannot hold; continues if it could
 * hold. A `not` is the opposite of its parts. Returns false, and adds nothing, if the kernel can
 * judge no part of the predicate. */
static bool bytecode_compile_predicate(struct bytecode_compiler *compiler,
                                       const struct predicate *predicate, bool negated,
                                       unsigned label)
{
    bool judged = false;

    if (predicate->field)
        return compile_comparison(compiler, predicate, negated, label);
    negated ^= predicate->operation == PREDICATE_NOT;
    if ((predicate->operation == PREDICATE_OR) != negated)
        return compile_any(compiler, predicate->parts, negated, label);
    for (const struct predicate *part = predicate->parts; part; part = part->next)
        judged |= bytecode_compile_predicate(compiler, part, negated, label);
    return judged;
}

size_t bytecode_compile(uint32_t words[BYTECODE_WORDS], const struct predicate *where,
                        struct cgroups *cgroups)
{
    struct bytecode_compiler compiler; /* not cleared: labels are set before use */
    struct inet_diag_bc_op op;

    compiler.cgroups = cgroups;
    compiler.words = words;
    compiler.count = 0;
    compiler.label_count = LABEL_FAIL + 1;
    compiler.full = false;
    if (!where || !bytecode_compile_predicate(&compiler, where, false, LABEL_FAIL))
        return compiler.full ? 0 : compiler.count;
    /* replaces labels by distances */
    compiler.labels[LABEL_FAIL] = (uint16_t)(compiler.count + 1);
    for (size_t at = 0; at < compiler.count; at += op.yes / 4) {
        memcpy(&op, &compiler.words[at], sizeof op);
        op.no = (uint16_t)(4 * (compiler.labels[op.no] - at));
        memcpy(&compiler.words[at], &op, sizeof op);
    }
    return compiler.full ? 0 : compiler.count;
}

/* --- Explanation ------------------------------------------------------------------------------ */

static const size_t compared[] = {
    [INET_DIAG_BC_S_GE] = offsetof(struct record, socket.local.port),
    [INET_DIAG_BC_S_LE] = offsetof(struct record, socket.local.port),
    [INET_DIAG_BC_D_GE] = offsetof(struct record, socket.remote.port),
    [INET_DIAG_BC_D_LE] = offsetof(struct record, socket.remote.port),
    [INET_DIAG_BC_S_COND] = offsetof(struct record, socket.local.address),
    [INET_DIAG_BC_D_COND] = offsetof(struct record, socket.remote.address),
    [INET_DIAG_BC_AUTO] = offsetof(struct record, socket.local.port),
    [INET_DIAG_BC_DEV_COND] = offsetof(struct record, socket.interface),
    [INET_DIAG_BC_MARK_COND] = offsetof(struct record, socket.mark),
    [INET_DIAG_BC_CGROUP_COND] = offsetof(struct record, socket.cgroup),
};

void bytecode_explain(struct text program, struct explanation *explanation)
{
    size_t instructions = 0;
    struct inet_diag_bc_op op;

    for (size_t at = 0; at < program.length; at += op.yes) {
        memcpy(&op, program.data + at, sizeof op);
        if (op.code < COUNT(compared) && compared[op.code])
            explanation_add(explanation, compared[op.code]);
        instructions++;
    }
    explanation_describe(explanation, "program of %zu instruction%s", instructions,
                         instructions == 1 ? "" : "s");
}
