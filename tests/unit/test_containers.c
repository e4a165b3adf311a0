/* SPDX-License-Identifier: MIT */
/* Names of containers and pods, in a made tree that stands for the root of the machine. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "fastnet/containers.h"
#include "fastnet/hosts.h"
#include "kit.h"

#define REST    "cdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID      "0123456789ab" REST
#define ID2     "fedcba987654" REST
#define UID     "8c6fd7e2-4b1a-4f0e-9c55-0a1b2c3d4e5f"
#define LOGS    "var/log/containers/"
#define PODS    "var/log/pods/"
#define DOCKER  "var/lib/docker/containers/"
#define PODMAN  "var/lib/containers/storage/overlay-containers/"
#define OF_USER "root/.local/share/"

static char root[] = "/tmp/test_containers_XXXXXX";

static int start(void **state)
{
    (void)state;
    strcpy(root, "/tmp/test_containers_XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static int end(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The directories of a path below the root; whole: the path in full. */
static void make_above(const char *path, char whole[PATH_MAX])
{
    snprintf(whole, PATH_MAX, "%s/%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
    }
}

static void put_bytes(const char *path, const char *content, size_t length)
{
    char whole[PATH_MAX];

    make_above(path, whole);
    const int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, length), length);
    close(fd);
}

static void put(const char *path, const char *content)
{
    put_bytes(path, content, strlen(content));
}

static void put_link(const char *path, const char *target)
{
    char whole[PATH_MAX];

    make_above(path, whole);
    assert_int_equal(symlink(target, whole), 0);
}

static void assert_name(const char *id, const char *expected)
{
    struct containers *containers = containers_create(root);
    const char *name;

    assert_non_null(containers);
    name = containers_name(containers, id);
    if (!name != !expected || (name && expected && strcmp(name, expected) != 0))
        fail_msg("%s is named %s, not %s", id, name ? name : "nothing",
                 expected ? expected : "nothing");
    containers_destroy(containers);
}

/* --- The kubelet ------------------------------------------------------------------------------ */

static void a_log_names_a_container_of_kubernetes(void **state)
{
    (void)state;
    put_link(LOGS "web-5d8f_default_nginx-" ID ".log", "/nowhere");
    put_link(LOGS "db-0_data_post-gres-" ID2 ".log", "/nowhere");
    assert_name("0123456789ab", "nginx");
    assert_name("fedcba987654", "post-gres");
    assert_name("0123456789ac", NULL);
}

static void other_names_of_logs_name_nothing(void **state)
{
    static const char *const others[] = {LOGS "web_default_nginx-" REST "0123456789ab.txt",
                                         LOGS "web-" ID ".log",
                                         LOGS "web_default_" ID ".log",
                                         LOGS "web_default_-" ID ".log",
                                         LOGS "web_default_x-0" ID ".log",
                                         LOGS "a_b_x\n-" ID ".log",
                                         LOGS "web_default_x-0123456789ab.log"};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        put(others[i], "");
    assert_name("0123456789ab", NULL);
}

static void a_directory_of_logs_names_a_pod(void **state)
{
    (void)state;
    put(PODS "default_web-5d8f_" UID "/nginx/0.log", "");
    put(PODS "kube-system_etcd-node_5a0cd3e0a1b7f2c95a0cd3e0a1b7f2c9/x", "");
    put(PODS "web_" UID, "");
    assert_name(UID, "default/web-5d8f");
    assert_name("5a0cd3e0a1b7f2c95a0cd3e0a1b7f2c9", "kube-system/etcd-node");
}

/* --- Docker and Podman ------------------------------------------------------------------------ */

static void docker_names_a_container_in_its_directory(void **state)
{
    (void)state;
    put(DOCKER ID "/config.v2.json",
        "{\"StreamConfig\":{},\"State\":{\"Name\":\"no\",\"ID\":\"no\"},\"Path\":\"\\\"}\","
        "\"ID\":\"" ID "\",\"Args\":"
        "[\"\\\"}\",\"\\\\\",\"{[\"],\"Config\":{\"Env\":[\"Name=\\\"x\"]},\"Name\":\"/web.1\","
        "\"MountPoints\":{\"/a\":{\"Name\":\"volume\"}}}\n");
    assert_name("0123456789ab", "web.1");
}

static void podman_names_containers_in_its_lists(void **state)
{
    (void)state;
    put(PODMAN "containers.json",
        "[{\"id\":\"" ID "\",\"names\":[\"db\",\"other\"],\"image\":\"x\",\"metadata\":"
        "\"{\\\"name\\\":\\\"no\\\"}\",\"flags\":{\"names\":[\"no\"]}},{\"id\":\"" REST "\"}]");
    put(PODMAN "volatile-containers.json", "[{\"names\":[\"job\"],\"id\":\"" ID2 "\"}]");
    assert_name("0123456789ab", "db");
    assert_name("fedcba987654", "job");
}

static void names_of_the_users_containers_come_last(void **state)
{
    (void)state;
    put(OF_USER "containers/storage/vfs-containers/containers.json",
        "[{\"id\":\"" ID "\",\"names\":[\"mine\"]},{\"id\":\"" ID2 "\",\"names\":[\"forged\"]}]");
    put(DOCKER ID2 "/config.v2.json", "{\"ID\":\"" ID2 "\",\"Name\":\"/web\"}");
    assert_name("0123456789ab", "mine");
    assert_name("fedcba987654", "web");
    put_link(LOGS "web_default_nginx-" ID2 ".log", "/nowhere");
    assert_name("fedcba987654", "nginx");
}

/* In place of a list of Podman. */
static void a_broken_file_names_nothing_or_a_container_that_is_in_it(void **state)
{
    static const struct {
        const char *json, *name;
    } rows[] = {
        {"", NULL},
        {"[", NULL},
        {"\"", NULL},
        {"\"\\", NULL},
        {"{\"id\":\"" ID "\",\"Name\":\"a\"", NULL}, /* cut off */
        {"{\"id\":\"" ID "\",\"Name\":\"a", NULL},
        {"{\"id\":\"" ID "\",\"Name\":\"a\\\"}", NULL},
        {"]]]}}}{\"id\":\"" ID "\",\"Name\":\"a\"}", "a"},
        {"{\"id\":\"" ID "\",\"Name\":\"a\\u0062\"}", NULL}, /* no name has an escape */
        {"{\"id\":\"" ID "\",\"Name\":\"a\033[2J\"}", NULL},
        {"{\"id\":\"" ID "\",\"Name\":\"a b\"}", NULL},
        {"{\"id\":\"" ID "\",\"Name\":\"\"}", NULL},
        {"{\"id\":\"" ID "\",\"Name\":\"/\"}", NULL},
        {"{\"id\":\"" ID "\",\"Name\":7}", NULL},
        {"{\"id\":\"" ID "\",\"Name\":{\"Name\":\"a\"}}", NULL},
        {"{\"id\":\"" ID "0\",\"Name\":\"a\"}", NULL},
        {"{\"id\":\"" ID "\"},{\"Name\":\"a\"}", NULL}, /* of two objects */
        {"{\"Name\":\"b\"}{\"id\":\"" ID "\",\"Name\":\"a\"}", "a"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        put(PODMAN "containers.json", rows[i].json);
        assert_name("0123456789ab", rows[i].name);
    }
}

static void a_long_name_and_deep_nesting_are_harmless(void **state)
{
    static char json[1 << 20];

    (void)state;
    memset(json, '[', sizeof json);
    put_bytes(PODMAN "containers.json", json, sizeof json);
    assert_name("0123456789ab", NULL);
    memset(json, 'a', sizeof json);
    memcpy(json, "{\"id\":\"" ID "\",\"Name\":\"", strlen("{\"id\":\"" ID "\",\"Name\":\""));
    memcpy(json + sizeof json - 2, "\"}", 2);
    put_bytes(PODMAN "containers.json", json, sizeof json);
    assert_name("0123456789ab", NULL);
    put_bytes(PODMAN "containers.json", "{\"id\":\"" ID "\",\"Name\":\"a\0b\"}",
              sizeof "{\"id\":\"" ID "\",\"Name\":\"a\0b\"}" - 1);
    assert_name("0123456789ab", NULL);
}

/* --- What cannot be read ---------------------------------------------------------------------- */

static int error_of_root(void)
{
    struct containers *containers = containers_create(root);
    const int error = containers_error(containers);

    containers_destroy(containers);
    return error;
}

static void files_outside_of_the_tree_are_not_read(void **state)
{
    char whole[PATH_MAX];

    (void)state;
    if (!links_stay_inside())
        skip();
    put(DOCKER ID2 "/config.v2.json", "{\"ID\":\"" ID2 "\",\"Name\":\"/web\"}");
    put(PODMAN "containers.json", "[]");
    assert_int_equal(error_of_root(), 0);
    put("elsewhere", "{\"ID\":\"" ID "\",\"Name\":\"a\"}");
    put_link(DOCKER ID "/config.v2.json", "../../../../../elsewhere");
    assert_name("0123456789ab", NULL);
    assert_int_equal(error_of_root(), EXDEV);
    make_above(PODMAN "containers.json", whole);
    assert_int_equal(remove(whole), 0);
    assert_int_equal(mkfifo(whole, 0600), 0); /* it would be waited for */
    put(PODMAN "volatile-containers.json", "[{\"id\":\"" ID "\",\"names\":[\"job\"]}]");
    assert_name("0123456789ab", "job");
}

static void the_rest_of_a_file_that_is_too_large_is_an_error(void **state)
{
    char whole[PATH_MAX];

    (void)state;
    put(DOCKER ID "/config.v2.json", "{\"ID\":\"" ID "\",\"Name\":\"/web\"}");
    make_above(DOCKER ID "/config.v2.json", whole);
    assert_int_equal(truncate(whole, 64 << 20), 0);
    assert_int_equal(error_of_root(), 0);
    assert_int_equal(truncate(whole, (64 << 20) + 1), 0);
    assert_int_equal(error_of_root(), EFBIG);
    assert_name("0123456789ab", "web"); /* it stands at the beginning */
}

static void one_name_of_each_kind_is_found_at_once(void **state)
{
    struct containers_found found = containers_read(root);

    (void)state;
    assert_false(found.containers || found.pods);
    put(PODS "default_w b_" UID "/x", ""); /* no pod has such a name */
    found = containers_read(root);
    assert_false(found.containers || found.pods);
    put(DOCKER ID "/hostname", "");
    found = containers_read(root);
    assert_false(found.containers || found.pods);
    put(DOCKER ID "/config.v2.json", "{\"ID\":\"" ID "\",\"Name\":\"/web\"}");
    found = containers_read(root);
    assert_true(found.containers && !found.pods);
    put(PODS "default_web_" UID "/x", "");
    found = containers_read(root);
    assert_true(found.containers && found.pods);
}

static void a_group_has_the_names_of_its_container_and_pod(void **state)
{
    struct cgroups *cgroups = NULL;
    const struct cgroup *group;

    (void)state;
    put_link(LOGS "web_default_nginx-" ID ".log", "/nowhere");
    put(PODS "default_web_" UID "/x", "");
    assert_int_equal(cgroups_create(&cgroups, ""), 0);
    group = cgroups_by_path(cgroups, "/kubepods/pod" UID "/" ID);
    assert_non_null(group);
    assert_null(cgroups_name(cgroups, group->container)); /* of a captured tree */
    assert_int_equal(cgroups_summary(cgroups)->nameless, ENOTSUP);
    cgroups_take_names(cgroups, containers_create(root));
    assert_string_equal(cgroups_name(cgroups, group->container), "nginx");
    assert_string_equal(cgroups_name(cgroups, group->pod), "default/web");
    assert_string_equal(cgroups_name(cgroups, "lxc-web"), "lxc-web"); /* it has no id */
    cgroups_destroy(cgroups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_log_names_a_container_of_kubernetes, start, end),
        cmocka_unit_test_setup_teardown(other_names_of_logs_name_nothing, start, end),
        cmocka_unit_test_setup_teardown(a_directory_of_logs_names_a_pod, start, end),
        cmocka_unit_test_setup_teardown(docker_names_a_container_in_its_directory, start, end),
        cmocka_unit_test_setup_teardown(podman_names_containers_in_its_lists, start, end),
        cmocka_unit_test_setup_teardown(names_of_the_users_containers_come_last, start, end),
        cmocka_unit_test_setup_teardown(a_broken_file_names_nothing_or_a_container_that_is_in_it,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_long_name_and_deep_nesting_are_harmless, start, end),
        cmocka_unit_test_setup_teardown(files_outside_of_the_tree_are_not_read, start, end),
        cmocka_unit_test_setup_teardown(the_rest_of_a_file_that_is_too_large_is_an_error, start,
                                        end),
        cmocka_unit_test_setup_teardown(one_name_of_each_kind_is_found_at_once, start, end),
        cmocka_unit_test_setup_teardown(a_group_has_the_names_of_its_container_and_pod, start, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
