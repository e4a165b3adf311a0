/* SPDX-License-Identifier: MIT */
/* What a process can no longer do that reads what a stranger made. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/kernel_abi.h"
#include "fastnet/rights.h"
#include "kit.h"

static bool kernel_knows_landlock(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

/* Returns 0, or the number of the first step that went otherwise than it must. */
static int try_all(const char *file)
{
    char other[160], byte = 0;
    int output = open(file, O_WRONLY | O_APPEND), fd;

    snprintf(other, sizeof other, "%s.other", file);
    if (output < 0 || rights_init() < 0)
        return 1;
    sandbox_enter();
    fd = open(file, O_RDONLY);
    if (fd < 0 || read(fd, &byte, 1) != 1)
        return 2;
    if (write(output, "x", 1) != 1)
        return 3;
    if (open(file, O_WRONLY) >= 0 || errno != EACCES)
        return 4;
    if (open(other, O_WRONLY | O_CREAT, 0600) >= 0 || errno != EACCES)
        return 5;
    if (unlink(file) == 0 || errno != EACCES)
        return 6;
    if (mkdir(other, 0700) == 0 || errno != EACCES)
        return 7;
    execl("/bin/true", "true", (char *)NULL);
    return errno == EACCES ? 0 : 8;
}

static void files_are_read_and_nothing_is_changed_or_executed(void **state)
{
    struct tree tree;
    char file[128];
    int status = 0;

    (void)state;
    if (!kernel_knows_landlock())
        skip();
    tree_make(&tree);
    tree_puts(&tree, "tcp", "rows\n");
    snprintf(file, sizeof file, "%s/net/tcp", tree.root);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(try_all(file));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    tree_remove(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_and_nothing_is_changed_or_executed),
    };

    return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
