/* SPDX-License-Identifier: MIT */
/*
 * Holds UDP sockets in processes of all kinds.
 *
 *     holders PORT [FILES]
 *
 * Each kind has a socket of its own: 127.0.0.1, from PORT on, in the order of kinds[]. FILES files
 * are opened as well. Prints "ready" when all are there, or says on stderr which kind cannot be
 * made; ends when stdin does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER = 54321 /* who has no other process */, MANY = 100, CHILDREN = 3 };

static uint16_t port;
static int ready; /* a pipe: each process writes a byte when it holds what it should */

static int bound_socket(void)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0)
        err(1, "port %u", port);
    return fd;
}

static void say_ready(void)
{
    if (write(ready, "", 1) != 1)
        _exit(1);
}

static _Noreturn void hold(void)
{
    say_ready();
    for (;;)
        pause();
}

static pid_t start(long flags)
{
    const pid_t child = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

    if (child < 0)
        err(1, "clone");
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

static void start_thread(void *(*run)(void *), void *arg)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, arg) != 0)
        errx(1, "pthread_create");
}

/* --- The kinds -------------------------------------------------------------------------------- */

static void plain(void)
{
    bound_socket();
}

static void *hold_in_own_table(void *arg)
{
    (void)arg;
    if (unshare(CLONE_FILES) < 0)
        err(1, "unshare");
    bound_socket();
    hold();
}

/* The first thread does not hold it. */
static void only_in_the_table_of_a_thread(void)
{
    start_thread(hold_in_own_table, NULL);
    for (;;)
        pause();
}

static void *close_in_own_table(void *arg)
{
    if (unshare(CLONE_FILES) < 0 || close(*(int *)arg) < 0)
        err(1, "unshare");
    hold();
}

static void not_in_the_table_of_a_thread(void)
{
    static int fd;

    fd = bound_socket();
    start_thread(close_in_own_table, &fd);
    for (;;)
        pause();
}

static void in_a_table_of_two_processes(void)
{
    if (start(CLONE_FILES) == 0) {
        prctl(PR_SET_NAME, "the other");
        bound_socket();
        hold();
    }
    for (;;)
        pause();
}

static void of_a_zombie_and_its_parent(void)
{
    siginfo_t ended;

    bound_socket();
    if (start(0) == 0)
        _exit(0);
    waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT);
}

static void *outlive_the_first(void *arg)
{
    char state = 'R', path[64];

    (void)arg;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
    while (state != 'Z') {
        FILE *stat = fopen(path, "r");
        if (!stat || fscanf(stat, "%*d %*s %c", &state) != 1)
            err(1, "%s", path);
        fclose(stat);
    }
    hold();
}

static void of_a_process_whose_first_thread_has_ended(void)
{
    bound_socket();
    start_thread(outlive_the_first, NULL);
    syscall(SYS_exit, 0L);
}

static void by_many_descriptors(void)
{
    const int fd = bound_socket();

    for (int i = 0; i < MANY; i++)
        if (dup(fd) < 0)
            err(1, "dup");
}

static void by_parent_and_children(void)
{
    bound_socket();
    for (int i = 0; i < CHILDREN; i++)
        if (start(0) == 0)
            hold();
    for (;;)
        pause();
}

/* It is nobody's, but in a message that nobody receives. */
static void passed_on_but_not_received(void)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    struct iovec byte = {.iov_base = (char[]){0}, .iov_len = 1};
    const struct msghdr message = {.msg_iov = &byte,
                                   .msg_iovlen = 1,
                                   .msg_control = control.bytes,
                                   .msg_controllen = sizeof control.bytes};
    const int fd = bound_socket();
    int ends[2];

    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || sendmsg(ends[0], &message, 0) < 0)
        err(1, "sendmsg");
    close(fd);
}

static void in_another_pid_namespace(void)
{
    if (unshare(CLONE_NEWPID) < 0)
        warn("no pid namespace");
    else if (start(0) > 0)
        for (;;)
            pause();
    bound_socket();
}

static void by_its_path_too(void)
{
    const int fd = bound_socket();
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (open(path, O_PATH) < 0)
        err(1, "%s", path);
}

static void by_a_strange_name(void)
{
    bound_socket();
    prctl(PR_SET_NAME, "a) (b\n\",pid=1");
}

static void of_another_user(void)
{
    bound_socket();
    if (setresgid(USER, USER, USER) < 0 || setresuid(USER, USER, USER) < 0)
        warn("no other user");
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* changing the user has undone both */
    prctl(PR_SET_DUMPABLE, 1);
}

static void that_cannot_be_traced(void)
{
    bound_socket();
    prctl(PR_SET_DUMPABLE, 0);
}

static const struct kind {
    void (*make)(void);
    unsigned processes; /* that say that they are ready */
} kinds[] = {
    {plain, 1},
    {only_in_the_table_of_a_thread, 1},
    {not_in_the_table_of_a_thread, 1},
    {in_a_table_of_two_processes, 1},
    {of_a_zombie_and_its_parent, 1},
    {of_a_process_whose_first_thread_has_ended, 1},
    {by_many_descriptors, 1},
    {by_parent_and_children, CHILDREN},
    {passed_on_but_not_received, 1},
    {in_another_pid_namespace, 1},
    {by_its_path_too, 1},
    {by_a_strange_name, 1},
    {of_another_user, 1},
    {that_cannot_be_traced, 1},
};

static void open_files(rlim_t count)
{
    const struct rlimit limit = {count + 64, count + 64};

    if (count && setrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(1, "%lu files", (unsigned long)count);
    while (count-- > 0)
        if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
            err(1, "/dev/null");
}

int main(int argc, char *argv[])
{
    enum { KINDS = sizeof kinds / sizeof *kinds };
    pid_t processes[KINDS];
    int ends[2];
    char byte;

    if (argc < 2 || pipe(ends) < 0)
        errx(2, "usage: holders PORT [FILES]");
    ready = ends[1];
    port = (uint16_t)strtoul(argv[1], NULL, 10);
    for (unsigned i = 0; i < KINDS; i++, port++) {
        processes[i] = start(0);
        if (processes[i] == 0) {
            close(STDIN_FILENO);
            kinds[i].make();
            hold();
        }
        for (unsigned j = 0; j < kinds[i].processes; j++)
            if (read(ends[0], &byte, 1) != 1)
                err(1, "kind %u", i);
    }
    open_files(argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    for (unsigned i = 0; i < KINDS; i++)
        kill(processes[i], SIGKILL);
    return 0;
}
