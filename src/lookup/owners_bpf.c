/*
 * /proc/PID/fd shows the descriptors of a process's first thread, and none if that has ended. So
 * does the program: it leaves out all threads but the first, even those with descriptors of their
 * own.
 */
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
#include "fastnet/bpf_iterator.h"
#include "fastnet/rights.h"

/* --- The kernel's structs --------------------------------------------------------------------- */

static int opcode_of(const struct btf *btf, uint32_t type)
{
    size_t size;

    if (!btf_size(btf, type, &size))
        return -1;
    return size == sizeof(uint64_t) ? BPF_DW : size == sizeof(uint32_t) ? BPF_W : -1;
}

static bool take_member(const struct btf *btf, uint32_t type, const char *name,
                        struct kernel_member *member, uint32_t *its_type)
{
    struct btf_member found;
    int size;

    if (!btf_find_member(btf, type, name, &found) || found.bits || found.offset % 8 ||
        found.offset / 8 > INT16_MAX)
        return false;
    size = opcode_of(btf, found.type);
    *member = (struct kernel_member){(int16_t)(found.offset / 8), (uint8_t)size};
    if (its_type)
        *its_type = found.type;
    return size >= 0;
}

/* What a pointer of 64 bits points to; 0 if it is none. */
static uint32_t pointed_to(const struct btf *btf, uint32_t id)
{
    struct btf_type type;

    return btf_resolve(btf, id, &type) && type.kind == BTF_POINTER ? type.type : 0;
}

/* Parameters of a tracing program follow each other in its context, 8 bytes each. */
static bool take_parameter(const struct btf *btf, const struct btf_type *prototype,
                           const char *name, struct kernel_member *member, uint32_t *type)
{
    struct btf_parameter parameter;
    uint32_t i = 0;
    int size;

    while (i < prototype->count &&
           !(btf_parameter(btf, prototype, i, &parameter) && text_is(parameter.name, name)))
        i++;
    if (i >= prototype->count || i >= 8)
        return false;
    size = opcode_of(btf, parameter.type);
    *member = (struct kernel_member){(int16_t)(8 * i), (uint8_t)size};
    *type = parameter.type;
    return size >= 0;
}

static bool follow(struct kernel_layout *layout, const struct btf *btf,
                   const struct btf_type *prototype)
{
    uint32_t meta, task, fd, file, inode, super_block;

    return take_parameter(btf, prototype, "meta", &layout->meta, &meta) &&
           take_parameter(btf, prototype, "task", &layout->task, &task) &&
           take_parameter(btf, prototype, "fd", &layout->fd, &fd) &&
           take_parameter(btf, prototype, "file", &layout->file, &file) &&
           take_member(btf, pointed_to(btf, meta), "seq", &layout->seq, NULL) &&
           take_member(btf, pointed_to(btf, task), "pid", &layout->pid, NULL) &&
           take_member(btf, pointed_to(btf, task), "tgid", &layout->tgid, NULL) &&
           take_member(btf, pointed_to(btf, file), "f_inode", &layout->inode, &inode) &&
           take_member(btf, pointed_to(btf, inode), "i_ino", &layout->number, NULL) &&
           take_member(btf, pointed_to(btf, inode), "i_sb", &layout->super_block, &super_block) &&
           take_member(btf, pointed_to(btf, super_block), "s_magic", &layout->magic, NULL);
}

int kernel_layout_init(struct kernel_layout *layout, const struct btf *btf)
{
    struct btf_type function, prototype;

    *layout = (struct kernel_layout){.function = 0};
    layout->function = btf_find(btf, BTF_FUNCTION, "bpf_iter_task_file");
    if (!layout->function || !btf_type(btf, layout->function, &function) ||
        !btf_type(btf, function.type, &prototype) || prototype.kind != BTF_PROTOTYPE ||
        !follow(layout, btf, &prototype))
        return -ENOTSUP;
    return 0;
}

/* --- The program ------------------------------------------------------------------------------ */

/* What the registers keep; 0 to 5 are for results and arguments. */
enum { CONTEXT = BPF_REG_6, FILE_OF = BPF_REG_7, TASK = BPF_REG_8, INODE = BPF_REG_9 };
enum { FIRST = BPF_REG_1, SECOND = BPF_REG_2, THIRD = BPF_REG_3, STACK = BPF_REG_10 };

struct assembly {
    struct bpf_insn *code;
    size_t count;
};

static void put(struct assembly *to, struct bpf_insn instruction)
{
    to->code[to->count++] = instruction;
}

static void put_load(struct assembly *to, unsigned into, unsigned from, struct kernel_member member)
{
    put(to, (struct bpf_insn){.code = (uint8_t)(BPF_LDX | BPF_MEM | member.size),
                              .dst_reg = into & 0xf,
                              .src_reg = from & 0xf,
                              .off = member.offset});
}

static void put_store(struct assembly *to, unsigned from, int16_t offset)
{
    put(to, (struct bpf_insn){.code = BPF_STX | BPF_MEM | BPF_DW,
                              .dst_reg = STACK,
                              .src_reg = from & 0xf,
                              .off = offset});
}

/* operation: BPF_MOV, BPF_ADD ...; BPF_X: with a register, BPF_K: with a number */
static void put_register(struct assembly *to, unsigned operation, unsigned with, unsigned other)
{
    put(to, (struct bpf_insn){.code = (uint8_t)(BPF_ALU64 | operation | BPF_X),
                              .dst_reg = with & 0xf,
                              .src_reg = other & 0xf});
}

static void put_number(struct assembly *to, unsigned operation, unsigned with, int number)
{
    put(to, (struct bpf_insn){.code = (uint8_t)(BPF_ALU64 | operation | BPF_K),
                              .dst_reg = with & 0xf,
                              .imm = number});
}

/* Ends the program if the comparison holds; finish() sets how far the jump goes. */
static void put_end_if(struct assembly *to, unsigned comparison, unsigned of, int number)
{
    put(to, (struct bpf_insn){.code = (uint8_t)(BPF_JMP | comparison | BPF_K),
                              .dst_reg = of & 0xf,
                              .imm = number});
}

static void put_end_if_unequal(struct assembly *to, unsigned one, unsigned other)
{
    put(to, (struct bpf_insn){
                .code = BPF_JMP | BPF_JNE | BPF_X, .dst_reg = one & 0xf, .src_reg = other & 0xf});
}

static void put_call(struct assembly *to, int function)
{
    put(to, (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = function});
}

/* Returns 0: go on with the next descriptor. */
static void finish(struct assembly *to)
{
    for (size_t i = 0; i < to->count; i++) {
        const unsigned operation = BPF_OP(to->code[i].code);
        if (BPF_CLASS(to->code[i].code) == BPF_JMP && operation != BPF_CALL)
            to->code[i].off = (int16_t)(to->count - i - 1);
    }
    put_number(to, BPF_MOV, BPF_REG_0, 0);
    put(to, (struct bpf_insn){.code = BPF_JMP | BPF_EXIT});
}

/* A file on sockfs is what /proc/PID/fd shows as socket:[NUMBER], also if opened with O_PATH. */
static void put_conditions(struct assembly *to, const struct kernel_layout *layout)
{
    put_load(to, FILE_OF, CONTEXT, layout->file);
    put_end_if(to, BPF_JEQ, FILE_OF, 0); /* the end of the walk */
    put_load(to, TASK, CONTEXT, layout->task);
    put_end_if(to, BPF_JEQ, TASK, 0);
    put_load(to, FIRST, TASK, layout->pid);
    put_load(to, SECOND, TASK, layout->tgid);
    put_end_if_unequal(to, FIRST, SECOND);
    put_load(to, INODE, FILE_OF, layout->inode);
    put_end_if(to, BPF_JEQ, INODE, 0);
    put_load(to, FIRST, INODE, layout->super_block);
    put_end_if(to, BPF_JEQ, FIRST, 0);
    put_load(to, FIRST, FIRST, layout->magic);
    put_end_if(to, BPF_JNE, FIRST, SOCKFS_MAGIC);
    put_load(to, FIRST, INODE, layout->number);
    put_end_if(to, BPF_JEQ, FIRST, 0);
}

_Static_assert(sizeof(struct holding) == 16 && offsetof(struct holding, inode) == 0,
               "a holding is what the program writes");

size_t owners_program_make(const struct kernel_layout *layout,
                           struct bpf_insn program[OWNERS_PROGRAM_MAX])
{
    /* on the stack */
    enum { INODE_AT = -16, HOLDER_AT = INODE_AT + (int)offsetof(struct holding, holder) };
    struct assembly to = {.code = program};

    put_register(&to, BPF_MOV, CONTEXT, FIRST);
    put_conditions(&to, layout);
    put_store(&to, FIRST, INODE_AT);
    put_number(&to, BPF_LSH, SECOND, HOLDER_PROCESS_SHIFT);
    put_load(&to, FIRST, CONTEXT, layout->fd);
    put_register(&to, BPF_OR, SECOND, FIRST);
    put_store(&to, SECOND, HOLDER_AT);

    put_load(&to, FIRST, CONTEXT, layout->meta);
    put_load(&to, FIRST, FIRST, layout->seq);
    put_register(&to, BPF_MOV, SECOND, STACK);
    put_number(&to, BPF_ADD, SECOND, INODE_AT);
    put_number(&to, BPF_MOV, THIRD, sizeof(struct holding));
    put_call(&to, BPF_FUNC_seq_write);
    finish(&to);
    return to.count;
}

/* --- Where and when it may be loaded ---------------------------------------------------------- */

struct owners_program {
    int iterator; /* -1: not loaded */
    bool refused; /* for good */
    char reason[OWNERS_REASON];
};

struct owners_program *owners_program_create(void)
{
    struct owners_program *program = calloc(1, sizeof *program);

    if (program)
        program->iterator = -1;
    return program;
}

void owners_program_destroy(struct owners_program *program)
{
    if (!program)
        return;
    if (program->iterator >= 0)
        close(program->iterator);
    free(program);
}

const char *owners_program_reason(const struct owners_program *program)
{
    return program->reason;
}

static bool refuse(struct owners_program *program, const char *reason)
{
    program->refused = true;
    snprintf(program->reason, sizeof program->reason, "%s", reason);
    return false;
}

static bool refuse_for(struct owners_program *program, const char *what, int error)
{
    char reason[OWNERS_REASON];

    snprintf(reason, sizeof reason, "%s: %s", what, strerror(-error));
    return refuse(program, reason);
}

/*
 * Open files of the machine from which on the program is loaded without being asked for. From about
 * 1,000 on it is faster than the walk, and with these it takes a quarter of the time. But auditd(8)
 * notes each load.
 */
enum { OPEN_FILES_WORTH = 4096 };

static bool is_worth_it(void)
{
    char text[64] = "";
    const int fd = open("/proc/sys/fs/file-nr", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    if (read(fd, text, sizeof text - 1) < 0)
        *text = '\0';
    close(fd);
    return strtoul(text, NULL, 10) >= OPEN_FILES_WORTH;
}

static bool is_in_namespace(const char *link, const char *namespace)
{
    char text[32];
    const size_t length = strlen(namespace);

    return readlink(link, text, sizeof text) == (ssize_t)length &&
           memcmp(text, namespace, length) == 0;
}

/*
 * The numbers of processes that the program sees are those of the first pid namespace. If this
 * process is in it and in /proc, these are the numbers of /proc, too. And only rights in the first
 * user namespace let it load.
 */
static bool is_in_first_namespaces(struct owners_program *program)
{
    if (!is_in_namespace("/proc/self/ns/pid", "pid:[4026531836]")) /* linux/nsfs.h */
        return refuse(program, "this is not the first pid namespace");
    if (!is_in_namespace("/proc/self/ns/user", "user:[4026531837]"))
        return refuse(program, "this is not the first user namespace");
    return true;
}

/* Where /proc hides what other processes hold, it tells how many do. */
static bool sees_all(void)
{
    const int fd = open("/proc/1/comm", O_RDONLY | O_CLOEXEC);
    int directory = -1;

    if (fd >= 0) { /* nor does hidepid= hide others from a user who was lent rights */
        close(fd);
        rights_raise(RIGHT_OWNERS);
        directory = open("/proc/1/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        rights_lower();
    }
    if (directory >= 0)
        close(directory);
    return directory >= 0;
}

static bool is_allowed(struct owners_program *program)
{
    if (!rights_have_all_of(RIGHT_OWNERS) || !rights_have_all_of(RIGHT_ITERATORS))
        return refuse(program, "it needs CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and "
                               "CAP_DAC_READ_SEARCH (try sudo)");
    return is_in_first_namespaces(program) &&
           (sees_all() || refuse(program, "/proc hides what other processes hold"));
}

/* The lowest free descriptor was taken; /proc is read with some more. */
static bool leaves_room(int iterator)
{
    enum { OTHERS = 16 };
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)iterator + OTHERS <= limit.rlim_cur;
}

static bool load(struct owners_program *program)
{
    struct bpf_insn code[OWNERS_PROGRAM_MAX];
    struct kernel_types types;
    struct kernel_layout layout = {.function = 0};
    int status = kernel_types_init(&types);

    if (status == 0)
        status = kernel_layout_init(&layout, &types.btf);
    kernel_types_finish(&types);
    if (status < 0)
        return refuse_for(program, "/sys/kernel/btf/vmlinux", status);
    program->iterator = bpf_iterator_load(code, owners_program_make(&layout, code), layout.function,
                                          "fastnet_owners");
    if (program->iterator < 0)
        return refuse_for(program, "bpf(2)", program->iterator);
    if (leaves_room(program->iterator))
        return true;
    close(program->iterator);
    program->iterator = -1;
    return refuse(program, "too few files may be open (RLIMIT_NOFILE)");
}

bool owners_program_load(struct owners_program *program, bool always)
{
    if (program->iterator >= 0 || program->refused)
        return program->iterator >= 0;
    if (!always && !is_worth_it())
        return false;
    return is_allowed(program) && load(program);
}

/* --- What it says ----------------------------------------------------------------------------- */

/* Makes room for what the kernel hands over at once (kernel/bpf/bpf_iter.c): 8 pages. */
static int make_room(struct holdings *found)
{
    const size_t at_once = 32 * (size_t)1024 / sizeof(struct holding);
    struct holding *items = array_with_room(found->items, &found->capacity, found->count + at_once,
                                            sizeof *found->items);

    if (!items)
        return -ENOMEM;
    found->items = items;
    return 0;
}

/* Descriptors of a process follow each other. */
static int add_processes(struct processes *processes, const struct holdings *found, size_t from)
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

/* The kernel gives up after a million descriptors without a socket (EAGAIN), and then goes on. */
static ssize_t read_some(int fd, void *buffer, size_t size)
{
    ssize_t length;

    do
        length = read(fd, buffer, size);
    while (length < 0 && (errno == EINTR || errno == EAGAIN));
    return length < 0 ? -errno : length;
}

int owners_program_read(int fd, struct processes *processes, struct holdings *found)
{
    const size_t from = found->count;
    ssize_t length;
    int status;

    do {
        status = make_room(found);
        length = status < 0 ? 0
                            : read_some(fd, found->items + found->count,
                                        (found->capacity - found->count) * sizeof *found->items);
        if (length > 0 && length % (ssize_t)sizeof *found->items)
            length = -EIO;
        found->count += length > 0 ? (size_t)length / sizeof *found->items : 0;
    } while (length > 0);
    if (status == 0)
        status = length < 0 ? (int)length : add_processes(processes, found, from);
    if (status < 0)
        found->count = from; /* no holding without its process */
    return status;
}

int owners_program_walk(struct owners_program *program, struct processes *processes,
                        struct holdings *found)
{
    const int fd = bpf_iterator_start(program->iterator);
    int status;

    if (fd < 0)
        return fd;
    status = owners_program_read(fd, processes, found);
    close(fd);
    return status;
}
