/* SPDX-License-Identifier: MIT */
/* What a thread can no longer do, and what its process still can. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/rights.h"
#include "fastnet/thread.h"
#include "kit.h"

#ifdef FASTNET_SANITIZED

static void builds_with_sanitizers_leave_it_out(void **state)
{
    (void)state;
    assert_int_equal(seccomp_only(NULL, 0), -ENOSYS);
    assert_true(getppid() > 0);
}

#else

static const int calls[] = {
    SYS_read,         SYS_write, SYS_ppoll,
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_ppoll_time64
    SYS_ppoll_time64,
#endif
};

enum { SKIPPED = 77 };

/* A thread, what it does once it can only make these calls, and what came of that. */
struct trial {
    int (*work)(int fd); /* 0, or the number of the first step that went otherwise than it must */
    int fds[2];          /* a pipe */
    int result;
};

static void *run(void *arg)
{
    struct trial *trial = arg;
    const int error = seccomp_only(calls, COUNT(calls));

    if (error)
        trial->result = error == -ENOSYS || error == -EINVAL ? SKIPPED : -error;
    else
        trial->result = trial->work(trial->fds[0]);
    return NULL;
}

/* In a process of its own: the exit status. */
static int in_thread(int (*work)(int fd))
{
    struct trial trial = {.work = work};
    pthread_t thread;

    if (pipe(trial.fds) < 0 || write(trial.fds[1], "x", 1) != 1 ||
        thread_start(&thread, run, &trial) < 0 || pthread_join(thread, NULL) != 0)
        return 100;
    /* the others have lost nothing */
    if (open("/dev/null", O_RDONLY) < 0)
        return 101;
    return trial.result;
}

static pid_t begin(int (*work)(int fd))
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(in_thread(work));
    return child;
}

static int status_of(pid_t child)
{
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        skip();
    return status;
}

static void assert_done(pid_t child)
{
    const int status = status_of(child);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool is_refused(long result)
{
    return result == -1 && errno == ENOSYS;
}

static int make_calls(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char byte;

    if (poll(&ready, 1, 1000) != 1)
        return 1;
    if (read(fd, &byte, 1) != 1 || byte != 'x')
        return 2;
    return write(STDERR_FILENO, &byte, 0) == 0 ? 0 : 3;
}

static void the_calls_that_are_named_are_made_and_the_thread_ends(void **state)
{
    (void)state;
    assert_done(begin(make_calls));
}

static int make_others(int fd)
{
    static const char name[] = "/dev/null";

    if (!is_refused(syscall(SYS_openat, AT_FDCWD, name, O_RDONLY)))
        return 1;
    if (!is_refused(syscall(SYS_socket, AF_INET, SOCK_DGRAM, 0)))
        return 2;
    if (!is_refused(syscall(SYS_execve, name, NULL, NULL)))
        return 3;
    if (!is_refused(syscall(SYS_close, fd)))
        return 4;
    return is_refused(syscall(SYS_getpid)) ? 0 : 5;
}

static void all_others_fail_as_if_the_kernel_had_none(void **state)
{
    (void)state;
    assert_done(begin(make_others));
}

static int wait_long(int fd)
{
    struct pollfd asked = {.fd = STDIN_FILENO, .events = POLLIN};

    (void)fd;
    return poll(&asked, 1, 60000) == 1 ? 0 : 1;
}

/* Whether a process has two threads or more, which all wait. */
static bool all_wait(pid_t pid)
{
    char path[64], state;
    unsigned threads = 0, waiting = 0;
    const struct dirent *entry;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    while ((entry = readdir(tasks))) {
        char name[sizeof path + sizeof entry->d_name + 8];
        if (*entry->d_name == '.')
            continue;
        threads++;
        snprintf(name, sizeof name, "%s/%s/stat", path, entry->d_name);
        FILE *stat = fopen(name, "re");
        waiting += stat && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1 && state == 'S';
        if (stat)
            fclose(stat);
    }
    closedir(tasks);
    return waiting >= 2 && waiting == threads;
}

/* The kernel goes on with it by a call of another number. */
static void a_wait_goes_on_after_a_stop(void **state)
{
    siginfo_t end = {.si_pid = 0};
    int fds[2], status;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(dup2(fds[0], STDIN_FILENO) < 0 ? 102 : in_thread(wait_long));
    while (!all_wait(child) && !end.si_pid)
        assert_int_equal(waitid(P_PID, (id_t)child, &end, WEXITED | WNOHANG | WNOWAIT), 0);
    if (!end.si_pid) { /* or else the kernel lacks seccomp(2) */
        assert_int_equal(kill(child, SIGSTOP), 0);
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
        assert_int_equal(kill(child, SIGCONT), 0);
    }
    assert_int_equal(write(fds[1], "", 1), 1);
    close(fds[0]);
    close(fds[1]);
    assert_done(child);
}

#ifdef __x86_64__
/* getpid(2) of i386; a kernel may lack such calls, which is the signal SIGSEGV. */
static int call_as_i386(int fd)
{
    long result;

    (void)fd;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
    return result > 0 ? 1 : 2;
}

static void calls_of_another_machine_end_the_process(void **state)
{
    const int status = status_of(begin(call_as_i386));

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_true(WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV);
}
#endif

static void more_calls_than_there_is_room_for_change_nothing(void **state)
{
    static const int many[100];
    const int error = seccomp_only(many, COUNT(many));

    (void)state;
    if (error == -ENOSYS) /* a machine whose calls are not known */
        skip();
    assert_int_equal(error, -E2BIG);
    assert_true(getppid() > 0);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef FASTNET_SANITIZED
        cmocka_unit_test(builds_with_sanitizers_leave_it_out),
#else
        cmocka_unit_test(the_calls_that_are_named_are_made_and_the_thread_ends),
        cmocka_unit_test(all_others_fail_as_if_the_kernel_had_none),
        cmocka_unit_test(a_wait_goes_on_after_a_stop),
#ifdef __x86_64__
        cmocka_unit_test(calls_of_another_machine_end_the_process),
#endif
        cmocka_unit_test(more_calls_than_there_is_room_for_change_nothing),
#endif
    };

    return cmocka_run_group_tests_name("seccomp", tests, NULL, NULL);
}
