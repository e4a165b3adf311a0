/* SPDX-License-Identifier: MIT */
/* What processes are, over trees of processes made for the purpose, and living ones. */
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/field.h"
#include "fastnet/profiles.h"
#include "kit.h"
#include "lookup/processes.h"

enum { PATH_LENGTH = 256 };

static char root[PATH_LENGTH];

static int make_tree(void **state)
{
    const char *directory = getenv("TMPDIR");

    (void)state;
    snprintf(root, sizeof root, "%.200s/fastnet-profiles-XXXXXX", directory ? directory : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static int remove_tree(void **state)
{
    (void)state;
    return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void add_bytes(const char *name, const char *data, size_t size)
{
    char path[PATH_LENGTH + 64];

    snprintf(path, sizeof path, "%s/%s", root, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

static void add_stat(int pid, const char *name, int parent, unsigned start)
{
    char path[64], text[256];

    snprintf(path, sizeof path, "%d/stat", pid);
    snprintf(text, sizeof text,
             "%d (%s) S %d 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 %u 23 24\n", pid, name,
             parent, start);
    add_bytes(path, text, strlen(text));
}

static void add_process(int pid, const char *name, int parent, unsigned start)
{
    char path[PATH_LENGTH + 64];

    snprintf(path, sizeof path, "%s/%d", root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
    add_stat(pid, name, parent, start);
}

static struct profiles *profiles_of_tree(void)
{
    struct profiles *profiles = NULL;

    assert_int_equal(profiles_create(&profiles, root, true), 0);
    return profiles;
}

static void assert_command(const char *words, size_t size, const char *expected, size_t length)
{
    struct profiles *profiles = profiles_of_tree();
    const struct profile *profile;

    add_bytes("7/cmdline", words, size);
    profile = profiles_find(profiles, 7, 0);
    assert_non_null(profile);
    assert_int_equal(profile->command.length, length);
    assert_memory_equal(profile->command.data, expected, length);
    profiles_destroy(profiles);
}

static void arguments_are_joined_by_spaces(void **state)
{
    (void)state;
    add_process(7, "a", 1, 5);
    assert_command("python3\0manage.py\0run server\0", 29, "python3 manage.py run server", 28);
    assert_command("a\0\0b\0", 5, "a  b", 4);
    assert_command("nginx: worker\0\0\0\0", 17, "nginx: worker", 13);
    assert_command("\n\x1b\xff\0x\0", 6, "\n\x1b\xff x", 5);
    assert_command("", 0, "", 0);
    assert_command("\0\0", 2, "", 0);
}

static void long_arguments_are_cut(void **state)
{
    static char words[128 * 1024], expected[PROFILE_COMMAND_MAX + 4];

    (void)state;
    add_process(7, "a", 1, 5);
    memset(words, 'x', sizeof words);
    memset(expected, 'x', PROFILE_COMMAND_MAX);
    assert_command(words, PROFILE_COMMAND_MAX, expected, PROFILE_COMMAND_MAX);
    memcpy(expected + PROFILE_COMMAND_MAX, "...", 3);
    assert_command(words, PROFILE_COMMAND_MAX + 1, expected, sizeof expected - 1);
    assert_command(words, sizeof words, expected, sizeof expected - 1);
}

static void an_ended_process_has_unknown_arguments(void **state)
{
    static const char ended[] = "7 (a) Z 1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 5 23\n";
    struct profiles *profiles;

    (void)state;
    add_process(7, "a", 1, 5);
    add_bytes("7/stat", ended, sizeof ended - 1);
    add_bytes("7/cmdline", "", 0);
    profiles = profiles_of_tree();
    assert_non_null(profiles_find(profiles, 7, 0));
    assert_null(profiles_find(profiles, 7, 0)->command.data);
    profiles_destroy(profiles);
}

static void the_line_of_a_process_may_have_any_name(void **state)
{
    static const char rest[] = " S 812 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 99 23";
    static const char *const names[] = {"a", "", "a) (b", ") S 1 2", "a\nb", "123456789012345"};
    struct process_stat stat;
    char line[256];

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(line, sizeof line, "7 (%s)%s", names[i], rest);
        assert_true(process_stat_parse(line, &stat));
        assert_string_equal(stat.name, names[i]);
        assert_int_equal(stat.state, 'S');
        assert_int_equal(stat.parent, 812);
        assert_int_equal(stat.start, 99);
    }
    for (size_t cut = 0; cut + 5 < strlen(line); cut++) {
        char part[sizeof line] = "";
        memcpy(part, line, cut);
        assert_false(process_stat_parse(part, &stat));
    }
}

static void a_program_that_is_no_longer_there_is_deleted(void **state)
{
    static const struct {
        const char *link, *name, *argument, *path;
        bool deleted;
    } cases[] = {
        {"/usr/sbin/nginx", "nginx", "nginx", "/usr/sbin/nginx", false},
        {"/usr/sbin/nginx (deleted)", "nginx", "nginx: master", "/usr/sbin/nginx", true},
        {"/memfd:x (deleted)", "memfd:x", "x", "/memfd:x", true},
        /* the name of the file ends so */
        {"/a/x (deleted)", "x (deleted)", "", "/a/x (deleted)", false},
        {"/a/x (deleted) (deleted)", "x (deleted)", "", "/a/x (deleted)", true},
        {"/a/long-name (deleted)", "long-name (dele", "", "/a/long-name (deleted)", false},
        {"/a/a-long-name-here (deleted)", "a-long-name-her", "./a-long-name-here (deleted)",
         "/a/a-long-name-here (deleted)", false},
        {"/a/a-long-name-here (deleted)", "a-long-name-her", "./a-long-name-here",
         "/a/a-long-name-here", true},
        {" (deleted)", "", "", " (deleted)", false},
        {"", "", "", "", false},
    };
    char path[64];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(path, sizeof path, "%s", cases[i].link);
        assert_int_equal(process_cut_deleted(path, cases[i].name, cases[i].argument),
                         cases[i].deleted);
        assert_string_equal(path, cases[i].path);
    }
}

static void links_are_shown_as_they_are(void **state)
{
    struct profiles *profiles;
    const struct profile *profile;
    char path[PATH_LENGTH + 64];

    (void)state;
    add_process(7, "a", 1, 5);
    add_bytes("7/cmdline", "a\0", 2);
    snprintf(path, sizeof path, "%s/7/exe", root);
    assert_int_equal(symlink("/usr/bin/a (deleted)", path), 0);
    snprintf(path, sizeof path, "%s/7/cwd", root);
    assert_int_equal(symlink("/no/such directory\n", path), 0);
    profiles = profiles_of_tree();
    profile = profiles_find(profiles, 7, 0);
    assert_string_equal(profile->exe, "/usr/bin/a");
    assert_true(profile->exe_deleted);
    assert_string_equal(profile->cwd, "/no/such directory\n");
    profiles_destroy(profiles);
}

static void the_start_is_that_of_the_machine_of_the_tree(void **state)
{
    struct profiles *profiles;

    (void)state;
    add_process(7, "a", 1, 5);
    profiles = profiles_of_tree();
    assert_int_equal(profiles_find(profiles, 7, 0)->started, 0);
    profiles_destroy(profiles);
    add_bytes("stat", "cpu 1 2\nintr 5 0 0\nbtime 1700000000\nctxt 5\n", 43);
    profiles = profiles_of_tree();
    assert_int_equal(profiles_find(profiles, 7, 0)->started,
                     UINT64_C(1700000000) * CLOCK_SECOND + 5 * (CLOCK_SECOND / 100));
    profiles_destroy(profiles);
}

static void ancestors_begin_with_the_first(void **state)
{
    struct profiles *profiles;
    const struct profile *profile;

    (void)state;
    add_process(1, "systemd", 0, 1);
    add_process(5, "sshd", 1, 2);
    add_process(6, "bash", 5, 3);
    add_process(7, "python3", 6, 3);
    profiles = profiles_of_tree();
    assert_string_equal("bash", profiles_find(profiles, 7, 0) ? profiles_parent(profiles, 7) : "");
    profile = profiles_find(profiles, 7, 0);
    assert_int_equal(profile->parent, 6);
    assert_int_equal(profile->ancestor_count, 3);
    assert_string_equal(profile->ancestors[0], "systemd");
    assert_string_equal(profile->ancestors[1], "sshd");
    profile = profiles_find(profiles, 1, 0);
    assert_null(profiles_parent(profiles, 1));
    assert_int_equal(profile->ancestor_count, 0);
    profiles_destroy(profiles);
}

static void a_process_that_got_the_pid_of_a_parent_is_no_parent(void **state)
{
    struct profiles *profiles;

    (void)state;
    add_process(6, "young", 0, 9);
    add_process(7, "old", 6, 8);
    profiles = profiles_of_tree();
    assert_non_null(profiles_find(profiles, 7, 0));
    assert_null(profiles_parent(profiles, 7));
    profiles_destroy(profiles);
}

static void ancestors_in_a_circle_end(void **state)
{
    struct profiles *profiles;

    (void)state;
    add_process(6, "a", 7, 9);
    add_process(7, "b", 6, 9);
    profiles = profiles_of_tree();
    assert_int_equal(profiles_find(profiles, 7, 0)->parent, 6);
    assert_string_equal(profiles_parent(profiles, 7), "a");
    assert_int_equal(profiles_find(profiles, 7, 0)->ancestor_count, PROFILE_ANCESTORS_MAX);
    profiles_destroy(profiles);
}

static void a_process_is_visited_again_if_it_was_seen_later(void **state)
{
    struct profiles *profiles;

    (void)state;
    add_process(7, "a", 1, 5);
    profiles = profiles_of_tree();
    assert_string_equal(profiles_find(profiles, 7, 0)->name, "a");
    add_stat(7, "b", 1, 6);
    assert_string_equal(profiles_find(profiles, 7, 0)->name, "a");
    assert_string_equal(profiles_find(profiles, 7, clock_nanoseconds(CLOCK_BOOTTIME))->name, "b");
    profiles_destroy(profiles);
}

static void a_profile_stays_when_the_process_has_ended(void **state)
{
    struct profiles *profiles;
    char path[PATH_LENGTH + 64];

    (void)state;
    add_process(7, "a", 1, 5);
    add_bytes("7/cmdline", "a\0b\0", 4);
    profiles = profiles_of_tree();
    profiles_read(profiles, 7);
    const uint64_t seen = profiles_find(profiles, 7, 0)->read_at;
    snprintf(path, sizeof path, "%s/7/stat", root);
    assert_int_equal(unlink(path), 0);
    profiles_read(profiles, 7);
    assert_true(text_is(profiles_find(profiles, 7, seen)->command, "a b"));
    assert_null(profiles_find(profiles, 7, clock_nanoseconds(CLOCK_BOOTTIME)));
    profiles_destroy(profiles);
}

/* A later process with the pid that an owner had: it began after the owner was seen. */
static void a_reused_pid_is_another_process(void **state)
{
    struct profiles *profiles = NULL;
    const uint64_t before = clock_nanoseconds(CLOCK_BOOTTIME);
    uint64_t now = before;

    (void)state;
    assert_int_equal(profiles_create(&profiles, "/proc", false), 0);
    while (now - before < CLOCK_SECOND / 20) /* some clock ticks */
        now = clock_nanoseconds(CLOCK_BOOTTIME);
    const pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    assert_null(profiles_find(profiles, child, before));
    assert_non_null(profiles_find(profiles, child, clock_nanoseconds(CLOCK_BOOTTIME)));
    assert_int_equal(profiles_find(profiles, child, 0)->parent, getpid());
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    profiles_destroy(profiles);
}

static void what_a_tree_lacks_is_counted(void **state)
{
    struct profiles *profiles;

    (void)state;
    add_process(7, "a", 1, 5);
    profiles = profiles_of_tree();
    assert_non_null(profiles_find(profiles, 7, 0));
    assert_null(profiles_find(profiles, 8, 0));
    assert_int_equal(profiles_summary(profiles)->absent, 2);
    assert_int_equal(profiles_summary(profiles)->denied, 0);
    profiles_destroy(profiles);
}

static void a_finding_has_the_arguments_of_its_process(void **state)
{
    struct context context = {.profiles = NULL};
    struct record record;
    struct value value;

    (void)state;
    add_process(7, "a", 1, 5);
    add_bytes("7/cmdline", "a\0b\0", 4);
    context.profiles = profiles_of_tree();
    record_begin(&record, &kind_finding, sizeof record.finding);
    record.has = FINDING_PROCESS;
    record.finding.pid = 7;
    record.finding.process = as_text("a");
    value = field_value(field_named(&kind_finding, "process_command"), &record, &context);
    assert_true(text_is(value.text, "a b"));
    record.finding.process = as_text("another");
    value = field_value(field_named(&kind_finding, "process_command"), &record, &context);
    assert_int_equal(value.type, VALUE_UNKNOWN);
    profiles_destroy(context.profiles);
}

#define OVER_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TREE(arguments_are_joined_by_spaces),
        OVER_TREE(long_arguments_are_cut),
        OVER_TREE(an_ended_process_has_unknown_arguments),
        cmocka_unit_test(the_line_of_a_process_may_have_any_name),
        cmocka_unit_test(a_program_that_is_no_longer_there_is_deleted),
        OVER_TREE(links_are_shown_as_they_are),
        OVER_TREE(the_start_is_that_of_the_machine_of_the_tree),
        OVER_TREE(ancestors_begin_with_the_first),
        OVER_TREE(a_process_that_got_the_pid_of_a_parent_is_no_parent),
        OVER_TREE(ancestors_in_a_circle_end),
        OVER_TREE(a_process_is_visited_again_if_it_was_seen_later),
        OVER_TREE(a_profile_stays_when_the_process_has_ended),
        cmocka_unit_test(a_reused_pid_is_another_process),
        OVER_TREE(what_a_tree_lacks_is_counted),
        OVER_TREE(a_finding_has_the_arguments_of_its_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
