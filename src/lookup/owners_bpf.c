/* SPDX-License-Identifier: MIT */
/* /proc/PID/fd shows the descriptors of a process's first thread, and no descriptors if that thread
 * has ended. So the program reads only the first thread of a process, even if other threads have
 * descriptors of their own. If the first thread has ended, it has no files any more, and the
 * program reads the other threads. */
#include "lookup/owners_bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/bpf_assembly.h"
#include "fastnet/bpf_iterator.h"
#include "fastnet/bpf_program.h"
#include "fastnet/kernel_types.h"
#include "fastnet/owners.h"
#include "fastnet/rights.h"
#include "fastnet/sysctl.h"

/* --- The kernel's structs --------------------------------------------------------------------- */

int kernel_layout_init(struct kernel_layout *layout, const struct btf *btf)
{
    struct btf_type function, prototype;
    uint32_t meta, task, fd, file, inode, block, leader;

    *layout = (struct kernel_layout){.function = btf_find(btf, BTF_FUNCTION, "bpf_iter_task_file")};
    if (!layout->function || !btf_type(btf, layout->function, &function) ||
        !btf_type(btf, function.type, &prototype) || prototype.kind != BTF_PROTOTYPE ||
        !kernel_parameter_find(btf, &prototype, "meta", &layout->meta, &meta) ||
        !kernel_parameter_find(btf, &prototype, "task", &layout->task, &task) ||
        !kernel_parameter_find(btf, &prototype, "fd", &layout->fd, &fd) ||
        !kernel_parameter_find(btf, &prototype, "file", &layout->file, &file) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, meta), "seq", &layout->seq, NULL) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, task), "pid", &layout->pid, NULL) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, task), "tgid", &layout->tgid, NULL) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, task), "group_leader", &layout->leader,
                            &leader) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, leader), "files", &layout->files, NULL) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, file), "f_inode", &layout->inode, &inode) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, inode), "i_ino", &layout->number, NULL) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, inode), "i_sb", &layout->super_block,
                            &block) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, block), "s_magic", &layout->magic, NULL))
        return -ENOTSUP;
    return 0;
}

/* --- The program ------------------------------------------------------------------------------ */

/* Registers that keep values; registers 0 to 5 are for results and arguments. */
enum { CONTEXT = BPF_REG_6, FILE_OF = BPF_REG_7, TASK = BPF_REG_8, INODE = BPF_REG_9 };

/* Ends unless /proc/PID/fd shows a socket: any file on sockfs, even if opened with O_PATH. */
static void owners_bpf_put_conditions(struct assembly *to, const struct kernel_layout *layout)
{
    assembly_load(to, FILE_OF, CONTEXT, layout->file);
    assembly_end_if(to, BPF_JEQ, FILE_OF, 0); /* the end of the walk */
    assembly_load(to, TASK, CONTEXT, layout->task);
    assembly_end_if(to, BPF_JEQ, TASK, 0);
    assembly_load(to, BPF_FIRST, TASK, layout->pid);
    assembly_load(to, BPF_SECOND, TASK, layout->tgid);
    const size_t is_first = assembly_skip_if_equal(to, BPF_FIRST, BPF_SECOND);
    assembly_load(to, BPF_FIRST, TASK, layout->leader);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->files);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, 0);
    assembly_land(to, is_first);
    assembly_load(to, INODE, FILE_OF, layout->inode);
    assembly_end_if(to, BPF_JEQ, INODE, 0);
    assembly_load(to, BPF_FIRST, INODE, layout->super_block);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->magic);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, SOCKFS_MAGIC);
    assembly_load(to, BPF_FIRST, INODE, layout->number);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
}

_Static_assert(sizeof(struct holding) == 16 && offsetof(struct holding, inode) == 0,
               "the BPF program writes this layout");

size_t owners_program_make(const struct kernel_layout *layout,
                           struct bpf_insn program[OWNERS_PROGRAM_MAX])
{
    /* offsets on the stack */
    enum { INODE_AT = -16, HOLDER_AT = INODE_AT + (int)offsetof(struct holding, holder) };
    struct assembly to = {.code = program, .most = OWNERS_PROGRAM_MAX};

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    owners_bpf_put_conditions(&to, layout);
    assembly_store(&to, BPF_FIRST, INODE_AT, BPF_DW);
    assembly_number(&to, BPF_LSH, BPF_SECOND, HOLDER_PROCESS_SHIFT);
    assembly_load(&to, BPF_FIRST, CONTEXT, layout->fd);
    assembly_register(&to, BPF_OR, BPF_SECOND, BPF_FIRST);
    assembly_store(&to, BPF_SECOND, HOLDER_AT, BPF_DW);

    assembly_load(&to, BPF_FIRST, CONTEXT, layout->meta);
    assembly_load(&to, BPF_FIRST, BPF_FIRST, layout->seq);
    assembly_address(&to, BPF_SECOND, INODE_AT);
    assembly_number(&to, BPF_MOV, BPF_THIRD, sizeof(struct holding));
    assembly_call(&to, BPF_FUNC_seq_write);
    return assembly_finish(&to);
}

/* --- Where and when it may be loaded ---------------------------------------------------------- */

struct owners_program {
    int fd; /* -1: not loaded */
    struct bpf_refusal refusal;
};

struct owners_program *owners_program_create(void)
{
    struct owners_program *program = calloc(1, sizeof *program);

    if (program)
        program->fd = -1;
    return program;
}

void owners_program_destroy(struct owners_program *program)
{
    if (!program)
        return;
    if (program->fd >= 0)
        close(program->fd);
    free(program);
}

/* If the machine has this many open files, the program is loaded even if the user did not ask for
 * it. From about 1,000 open files on, the program is faster than the walk; with this number it
 * takes a quarter of the walk's time. But auditd(8) logs each load. */
enum { OPEN_FILES_WORTH = 4096 };

/* Returns whether /proc shows the descriptors of process 1. If it does not, the walk is needed: it
 * finds out how many processes hide their descriptors. */
static bool sees_all(void)
{
    const int fd = open("/proc/1/comm", O_RDONLY | O_CLOEXEC);
    int directory = -1;

    if (fd >= 0) { /* without raised rights: hidepid= does not hide process 1 from the user */
        close(fd);
        rights_raise(RIGHT_OWNERS);
        directory = open("/proc/1/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        rights_lower();
    }
    if (directory >= 0)
        close(directory);
    return directory >= 0;
}

int owners_check_bpf(struct bpf_refusal *refusal)
{
    int status;

    if (!rights_have_all_of(RIGHT_OWNERS) || !rights_have_all_of(RIGHT_BPF))
        return bpf_refuse(
            refusal, -EPERM,
            RIGHTS_MISSING("CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"));
    status = bpf_check_namespaces(refusal, true);
    return status < 0 || sees_all()
               ? status
               : bpf_refuse(refusal, -EPERM,
                            "/proc hides the open files of other processes (hidepid, proc(5))");
}

static int owners_bpf_load(struct owners_program *program)
{
    enum { OTHERS = 16 };
    struct rlimit limit;
    struct bpf_insn code[OWNERS_PROGRAM_MAX];
    struct kernel_types types;
    struct kernel_layout layout = {.function = 0};
    int status = kernel_types_init(&types);

    if (status == 0)
        status = kernel_layout_init(&layout, &types.btf);
    kernel_types_finish(&types);
    if (status < 0)
        return bpf_refuse_step(&program->refusal, status, "/sys/kernel/btf/vmlinux");
    program->fd = bpf_program_load(code, owners_program_make(&layout, code), BPF_TRACE_ITER,
                                   layout.function, "fastnet_owners");
    if (program->fd < 0)
        return bpf_refuse_step(&program->refusal, program->fd, "bpf(2)");
    /* the program has the lowest free descriptor; reading /proc needs more of them */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)program->fd + OTHERS <= limit.rlim_cur)
        return 0;
    close(program->fd);
    program->fd = -1;
    return bpf_refuse(&program->refusal, -EMFILE, "too few files may be open (RLIMIT_NOFILE)");
}

int owners_program_load(struct owners_program *program, bool always, struct bpf_refusal *refusal)
{
    if (program->fd < 0 && !program->refusal.error) {
        uint64_t files[3]; /* proc_sys_fs(5): open files are the first number */
        if (!always && (sysctl_numbers("/proc", "fs/file-nr", files, COUNT(files)) < 0 ||
                        files[0] < OPEN_FILES_WORTH))
            return bpf_refuse(refusal, -EAGAIN, "so few files are open that /proc is fast");
        if (owners_check_bpf(&program->refusal) == 0)
            (void)owners_bpf_load(program);
    }
    if (refusal)
        *refusal = program->refusal;
    return program->refusal.error;
}

/* --- What it writes --------------------------------------------------------------------------- */

/* Adds the processes of these holdings. The descriptors of a process follow each other. */
int owners_program_add(struct processes *processes, const struct holdings *found, size_t from)
{
    const size_t known = processes->count;
    pid_t last = 0;
    int status = 0;

    for (size_t i = from; i < found->count && status == 0; i++) {
        const pid_t pid = (pid_t)(found->items[i].holder >> HOLDER_PROCESS_SHIFT);
        if (pid != last)
            status = processes_add(processes, known, pid);
        last = pid;
    }
    processes_sort(processes);
    return status;
}

int owners_program_take(int fd, struct holdings *found)
{
    const size_t at_once = BPF_ITERATOR_AT_ONCE / sizeof(struct holding);
    ssize_t length;

    do {
        struct holding *items = array_with_room(found->items, &found->capacity,
                                                found->count + at_once, sizeof *found->items);
        if (!items)
            return -ENOMEM;
        found->items = items;
        length = bpf_iterator_read(fd, items + found->count,
                                   (found->capacity - found->count) * sizeof *items);
        if (length > 0 && length % (ssize_t)sizeof *found->items)
            length = -EIO;
        found->count += length > 0 ? (size_t)length / sizeof *found->items : 0;
    } while (length > 0);
    return (int)length;
}

int owners_program_read(int fd, struct processes *processes, struct holdings *found)
{
    const size_t from = found->count;
    int status = owners_program_take(fd, found);

    if (status == 0)
        status = owners_program_add(processes, found, from);
    if (status < 0)
        found->count = from; /* a holding is useless without its process */
    return status;
}

int owners_program_walk(struct owners_program *program, struct processes *processes,
                        struct holdings *found)
{
    int fd, status;

    if (owners_parts_walk(program->fd, processes, found) == 0)
        return 0;
    fd = bpf_iterator_start(program->fd, 0);
    if (fd < 0)
        return fd;
    status = owners_program_read(fd, processes, found);
    close(fd);
    return status;
}
