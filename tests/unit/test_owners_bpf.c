/* SPDX-License-Identifier: MIT */
/* The program that finds owners: made from types of a kernel, run here, and what is read of it. */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helpers/made_kernel.h"
#include "fastnet/array.h"
#include "kit.h"
#include "lookup/owners_bpf.h"
#include "processor.h"

static char bytes[MADE_BTF_MAX];

static int layout_of(const struct made_kernel *kernel, struct kernel_layout *layout)
{
    struct made_btf made = {.types = 0};
    struct btf btf;
    int status;

    made_kernel(&made, kernel);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    status = kernel_layout_init(layout, &btf);
    btf_finish(&btf);
    return status;
}

static void offsets_are_those_of_the_kernels_types(void **state)
{
    struct kernel_layout layout;

    (void)state;
    assert_int_equal(layout_of(&made_kernel_usual, &layout), 0);
    assert_int_equal(layout.pid.offset, 12);
    assert_int_equal(layout.tgid.offset, 16);
    assert_int_equal(layout.leader.offset, 24);
    assert_int_equal(layout.files.offset, 40);
    assert_int_equal(layout.inode.offset, 32);
    assert_int_equal(layout.number.offset, 64);
    assert_int_equal(layout.super_block.offset, 40);
    assert_int_equal(layout.magic.offset, 96);
    assert_int_equal(layout.number.size, BPF_DW);
    assert_int_equal(layout.pid.size, BPF_W);
    assert_int_equal(layout.file.offset, 24);
}

static void kernels_that_are_too_different_are_refused(void **state)
{
    struct kernel_layout layout;
    struct made_kernel other = made_kernel_usual;

    (void)state;
    other.function = "bpf_iter_task";
    assert_int_equal(layout_of(&other, &layout), -ENOTSUP);
    other = made_kernel_usual;
    other.number_size = 16;
    assert_int_equal(layout_of(&other, &layout), -ENOTSUP);
    other = made_kernel_usual;
    other.magic = 40000;
    assert_int_equal(layout_of(&other, &layout), -ENOTSUP);
}

/* A name that is spoilt is not found: no part can be missing unnoticed. */
static void every_part_is_needed(void **state)
{
    static const char *const names[] = {"pid",   "tgid", "group_leader", "files", "f_inode",
                                        "i_ino", "i_sb", "s_magic",      "meta",  "task",
                                        "fd",    "file", "seq"};
    struct made_btf made = {.types = 0};
    const size_t length = (made_kernel(&made, &made_kernel_usual), made_bytes(&made, bytes));

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const size_t size = strlen(names[i]) + 1;
        char *at = bytes + length;
        struct kernel_layout layout;
        struct btf btf;
        while (memcmp(--at, names[i], size) != 0 || at[-1] != '\0')
            ;
        *at ^= 1;
        assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
        assert_int_equal(kernel_layout_init(&layout, &btf), -ENOTSUP);
        btf_finish(&btf);
        *at ^= 1;
    }
}

/* --- The program, run ------------------------------------------------------------------------- */

/* As the kernel that made_kernel_usual describes has them. */
struct scene {
    char task[64], leader[64], file[64], inode[128], super_block[128], meta[8];
    uint64_t context[4];
    struct holding said[2];
    size_t count; /* of these */
};

/* Descriptor 7 of process 1234 is the socket 5000000000. */
static void make_scene(struct scene *scene)
{
    *scene = (struct scene){.count = 0};
    place_u32(scene->task + 12, 1234);
    place_u32(scene->task + 16, 1234);
    place_u64(scene->task + 24, (uintptr_t)scene->leader);
    place_u64(scene->leader + 40, 1); /* its files */
    place_u64(scene->file + 32, (uintptr_t)scene->inode);
    place_u64(scene->inode + 40, (uintptr_t)scene->super_block);
    place_u64(scene->inode + 64, UINT64_C(5000000000));
    place_u64(scene->super_block + 96, SOCKFS_MAGIC);
    place_u64(scene->meta, 99);
    scene->context[0] = (uintptr_t)scene->meta;
    scene->context[1] = (uintptr_t)scene->task;
    place_u32((char *)&scene->context[2], 7);
    scene->context[3] = (uintptr_t)scene->file;
}

static uint64_t call(struct processor *processor, int function)
{
    const struct holding *said = (const void *)(uintptr_t)processor->registers[2];
    struct scene *scene = processor->arg;

    assert_int_equal(function, BPF_FUNC_seq_write);
    assert_int_equal(processor->registers[1], 99);
    assert_int_equal(processor->registers[3], sizeof *scene->said);
    assert_true(scene->count < COUNT(scene->said));
    if (!said)
        abort();
    scene->said[scene->count++] = *said;
    return 0;
}

static void run(struct scene *scene)
{
    struct processor processor = {.call = call, .arg = scene};
    struct kernel_layout layout;
    struct bpf_insn program[OWNERS_PROGRAM_MAX];
    size_t count;

    assert_int_equal(layout_of(&made_kernel_usual, &layout), 0);
    count = owners_program_make(&layout, program);
    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, scene->context);
}

static void a_socket_is_a_holding_of_its_process(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    run(&scene);
    assert_int_equal(scene.count, 1);
    assert_int_equal(scene.said[0].inode, UINT64_C(5000000000));
    assert_int_equal(scene.said[0].holder, UINT64_C(1234) << HOLDER_PROCESS_SHIFT | 7);
}

static void a_thread_counts_where_the_first_one_has_ended(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    place_u32(scene.task + 12, 1235);
    place_u64(scene.leader + 40, 0);
    run(&scene);
    assert_int_equal(scene.count, 1);
    assert_int_equal(scene.said[0].holder, UINT64_C(1234) << HOLDER_PROCESS_SHIFT | 7);
}

static void nothing_else_is(void **state)
{
    struct scene scene;

    (void)state;
    for (unsigned i = 0; i < 7; i++) {
        make_scene(&scene);
        if (i == 0)
            scene.context[3] = 0; /* the end of the walk */
        else if (i == 1)
            scene.context[1] = 0;
        else if (i == 2)
            place_u32(scene.task + 12, 1235); /* a thread */
        else if (i == 3)
            place_u64(scene.super_block + 96, PROC_SUPER_MAGIC);
        else if (i == 4)
            place_u64(scene.file + 32, 0);
        else if (i == 5)
            place_u64(scene.inode + 40, 0);
        else
            place_u64(scene.inode + 64, 0);
        run(&scene);
        assert_int_equal(scene.count, 0);
    }
}

/* --- What is read ----------------------------------------------------------------------------- */

static struct holding holding(pid_t pid, unsigned fd, uint64_t inode)
{
    return (struct holding){inode, (uint64_t)pid << HOLDER_PROCESS_SHIFT | fd};
}

/* A descriptor that these bytes can be read from. */
static int open_with(const void *data, size_t size)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], data, size), (ssize_t)size);
    close(ends[1]);
    return ends[0];
}

static int read_all(const void *data, size_t size, struct processes *processes,
                    struct holdings *found)
{
    const int fd = open_with(data, size);
    const int status = owners_program_read(fd, processes, found);

    close(fd);
    return status;
}

static void holdings_and_their_processes_are_added(void **state)
{
    const struct holding first[] = {holding(20, 3, 100), holding(20, 4, 101), holding(30, 3, 100)};
    const struct holding second[] = {holding(10, 0, 102), holding(20, 5, 103)};
    struct processes processes = {.count = 0};
    struct holdings found = {.count = 0};

    (void)state;
    assert_int_equal(read_all(first, sizeof first, &processes, &found), 0);
    assert_int_equal(processes.count, 2);
    processes.items[0].unread = false;
    assert_int_equal(read_all(second, sizeof second, &processes, &found), 0);
    assert_int_equal(found.count, 5);
    assert_memory_equal(found.items, first, sizeof first);
    assert_memory_equal(found.items + 3, second, sizeof second);
    assert_int_equal(processes.count, 3);
    assert_int_equal(processes.items[0].pid, 10);
    assert_true(processes.items[0].unread);
    assert_false(processes_find(&processes, 20)->unread);
    assert_int_equal(processes.items[2].leader, 30);
    free(found.items);
    processes_finish(&processes);
}

static void many_are_read_in_pieces(void **state)
{
    enum { MANY = 4000 }; /* a pipe takes no more than 64 KiB */
    struct holding *made = calloc(MANY, sizeof *made);
    struct processes processes = {.count = 0};
    struct holdings found = {.count = 0};

    (void)state;
    assert_non_null(made);
    for (unsigned i = 0; i < MANY; i++)
        made[i] = holding((pid_t)(1 + i / 10), i, 1 + i);
    assert_int_equal(read_all(made, MANY * sizeof *made, &processes, &found), 0);
    assert_int_equal(found.count, MANY);
    assert_int_equal(processes.count, MANY / 10);
    assert_memory_equal(found.items, made, MANY * sizeof *made);
    free(made);
    free(found.items);
    processes_finish(&processes);
}

static void a_cut_holding_is_an_error_and_none_is_added(void **state)
{
    const struct holding made[] = {holding(20, 3, 100), holding(20, 4, 101)};
    struct processes processes = {.count = 0};
    struct holdings found = {.count = 0};

    (void)state;
    assert_int_equal(read_all(made, sizeof made - 1, &processes, &found), -EIO);
    assert_int_equal(found.count, 0);
    assert_int_equal(owners_program_read(-1, &processes, &found), -EBADF);
    assert_int_equal(found.count, 0);
    free(found.items);
    processes_finish(&processes);
}

static void without_rights_it_is_refused_for_good(void **state)
{
    struct owners_program *program = owners_program_create();

    (void)state; /* rights_init() was not called: no right can be raised */
    assert_non_null(program);
    for (int i = 0; i < 2; i++) {
        struct bpf_refusal refusal = {.error = 0};
        assert_int_equal(owners_program_load(program, true, &refusal), -EPERM);
        assert_int_equal(refusal.error, -EPERM);
        assert_non_null(strstr(refusal.reason, "CAP_BPF"));
    }
    owners_program_destroy(program);
    owners_program_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_those_of_the_kernels_types),
        cmocka_unit_test(kernels_that_are_too_different_are_refused),
        cmocka_unit_test(every_part_is_needed),
        cmocka_unit_test(a_socket_is_a_holding_of_its_process),
        cmocka_unit_test(a_thread_counts_where_the_first_one_has_ended),
        cmocka_unit_test(nothing_else_is),
        cmocka_unit_test(holdings_and_their_processes_are_added),
        cmocka_unit_test(many_are_read_in_pieces),
        cmocka_unit_test(a_cut_holding_is_an_error_and_none_is_added),
        cmocka_unit_test(without_rights_it_is_refused_for_good),
    };

    return cmocka_run_group_tests_name("owners_bpf", tests, NULL, NULL);
}
