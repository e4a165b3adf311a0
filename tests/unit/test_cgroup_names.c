/* SPDX-License-Identifier: MIT */
/* What the paths of control groups tell: as systemd, runtimes of containers and Kubernetes make
 * them. */
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "fastnet/hosts.h"
#include "kit.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "8c6fd7e2-4b1a-4f0e-9c55-0a1b2c3d4e5f"
/* the same in the name of a slice */
#define UID_ "8c6fd7e2_4b1a_4f0e_9c55_0a1b2c3d4e5f"
/* of a pod from a file on the node: a hash */
#define UID_STATIC "5a0cd3e0a1b7f2c95a0cd3e0a1b7f2c9"
#define BURSTABLE  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice"
#define USER       "/user.slice/user-1000.slice/user@1000.service"
#define USERS      "user@1000.service/"

struct row {
    const char *path, *unit, *container, *pod;
};

static void assert_rows(const struct row *rows, size_t count)
{
    struct cgroup_names names;

    for (size_t i = 0; i < count; i++) {
        cgroup_names(rows[i].path, &names);
        if (strcmp(names.unit, rows[i].unit) != 0 ||
            strcmp(names.container, rows[i].container) != 0 || strcmp(names.pod, rows[i].pod) != 0)
            fail_msg("%s: unit '%s', container '%s', pod '%s'", rows[i].path, names.unit,
                     names.container, names.pod);
    }
}

static void the_unit_is_the_innermost_one_that_is_no_slice(void **state)
{
    static const struct row rows[] = {
        {"/", "", "", ""},
        {"", "", "", ""},
        {"/init.scope", "init.scope", "", ""},
        {"/system.slice", "", "", ""},
        {"/system.slice/nginx.service", "nginx.service", "", ""},
        {"/system.slice/nginx.service/workers", "nginx.service", "", ""},
        {"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "", ""},
        {"/system.slice/dbus.socket", "dbus.socket", "", ""},
        {"/system.slice/-.mount", "-.mount", "", ""},
        {"/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "", ""},
        {USER "/init.scope", USERS "init.scope", "", ""},
        {USER "/app.slice/app-gnome-org.gnome.Terminal-2217.scope",
         USERS "app-gnome-org.gnome.Terminal-2217.scope", "", ""},
        {USER "/app.slice/syncthing.service", USERS "syncthing.service", "", ""},
        /* a user may give them any name */
        {USER "/nginx.service", USERS "nginx.service", "", ""},
        {USER "/system.slice/user@0.service/nginx.service", USERS "nginx.service", "", ""},
        {USER "/system.slice/_nginx.service", USERS "nginx.service", "", ""},
        {"/user@.service/nginx.service", "user@.service/nginx.service", "", ""},
        {"/system.slice/users.service/nginx.service", "nginx.service", "", ""},
        {USER "/app.slice", "user@1000.service", "", ""},
        /* systemctl(1) shows and takes names of units as they are escaped */
        {"/system.slice/system-systemd\\x2dfsck.slice/systemd-fsck@dev-disk-by\\x2duuid-1.service",
         "systemd-fsck@dev-disk-by\\x2duuid-1.service", "", ""},
        /* a name that could be one of the kernel's files has _ before it */
        {"/system.slice/_cpu.monitor.service", "cpu.monitor.service", "", ""},
        {"/system.slice/dbus-:1.2-org.freedesktop.problems@0.service",
         "dbus-:1.2-org.freedesktop.problems@0.service", "", ""},
        {"/system.slice/.service", "", "", ""},
        {"/service/scope", "", "", ""},
    };

    (void)state;
    assert_rows(rows, COUNT(rows));
}

static void containers_are_known_by_their_ids(void **state)
{
    static const struct row rows[] = {
        {"/system.slice/docker-" ID ".scope", "docker-" ID ".scope", "0123456789ab", ""},
        {"/docker/" ID, "", "0123456789ab", ""},
        {"/docker/" ID "/init.scope", "init.scope", "0123456789ab", ""},
        {USER "/user.slice/docker-" ID ".scope", USERS "docker-" ID ".scope", "0123456789ab", ""},
        {"/system.slice/docker-" ID ".scope/system.slice/nginx.service", "nginx.service",
         "0123456789ab", ""},
        {"/system.slice/nerdctl-" ID ".scope", "nerdctl-" ID ".scope", "0123456789ab", ""},
        {"/machine.slice/libpod-" ID ".scope", "libpod-" ID ".scope", "0123456789ab", ""},
        {"/machine.slice/libpod-" ID ".scope/container", "libpod-" ID ".scope", "0123456789ab", ""},
        {"/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope", "", ""},
        {"/libpod_parent/libpod-" ID, "", "0123456789ab", ""},
        {"/libpod_parent/conmon", "", "", ""},
        {USER "/user.slice/libpod-" ID ".scope/container", USERS "libpod-" ID ".scope",
         "0123456789ab", ""},
        {USER "/user.slice/podman-2217.scope", USERS "podman-2217.scope", "", ""},
        /* podman run --cgroups=split, in a service of systemd */
        {"/system.slice/web.service/libpod-payload-" ID, "web.service", "0123456789ab", ""},
        {"/system.slice/web.service/runtime", "web.service", "", ""},
        {"/system.slice/crio-conmon-" ID ".scope", "crio-conmon-" ID ".scope", "", ""},
        /* a container in a container */
        {"/system.slice/docker-" ID ".scope/docker/" ID2, "docker-" ID ".scope", "fedcba987654",
         ""},
        /* without a driver's end of the name */
        {"/system.slice/containerd.service/cri-containerd-" ID, "containerd.service",
         "0123456789ab", ""},
        {"/kubepods.slice/cri-containerd-" ID "/init.scope", "init.scope", "0123456789ab", ""},
        {"/default/nerdctl-" ID, "", "0123456789ab", ""},
        {"/k8s.io/" ID, "", "0123456789ab", ""},
        {"/ecs/0123456789abcdef0123456789abcdef/" ID, "", "0123456789ab", ""},
        {"/actions_job/" ID, "", "0123456789ab", ""},
        {"/docker/" ID2 "/buildkit/u5y1p2fmbzq6c4fhzpz8b2kfa", "", "fedcba987654", ""},
        /* what is no id */
        {"/docker/buildkit", "", "", ""},
        {"/docker/0123456789ab", "", "", ""},
        {"/docker/" ID "0", "", "", ""},
        {"/system.slice/docker-0123.scope", "docker-0123.scope", "", ""},
        {"/system.slice/docker.service", "docker.service", "", ""},
    };

    (void)state;
    assert_rows(rows, COUNT(rows));
}

static void pods_are_known_by_their_uids(void **state)
{
    static const struct row rows[] = {
        {BURSTABLE "/cri-containerd-" ID ".scope", "cri-containerd-" ID ".scope", "0123456789ab",
         UID},
        {BURSTABLE "/crio-" ID ".scope", "crio-" ID ".scope", "0123456789ab", UID},
        {BURSTABLE "/crio-" ID ".scope/container", "crio-" ID ".scope", "0123456789ab", UID},
        {BURSTABLE "/crio-conmon-" ID ".scope", "crio-conmon-" ID ".scope", "", UID},
        {BURSTABLE "/docker-" ID ".scope", "docker-" ID ".scope", "0123456789ab", UID},
        {BURSTABLE, "", "", UID},
        {"/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope",
         "cri-containerd-" ID ".scope", "0123456789ab", UID},
        {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_STATIC
         ".slice/cri-containerd-" ID ".scope",
         "cri-containerd-" ID ".scope", "0123456789ab", UID_STATIC},
        {"/kubepods/burstable/pod" UID "/" ID, "", "0123456789ab", UID},
        {"/kubepods/besteffort/pod" UID "/" ID, "", "0123456789ab", UID},
        {"/kubepods/pod" UID "/crio-" ID, "", "0123456789ab", UID},
        {"/kubepods/pod" UID "/crio-conmon-" ID, "", "", UID},
        {"/kubepods/burstable", "", "", ""},
        {"/kubepods.slice/kubepods-besteffort.slice", "", "", ""},
        /* nodes that are containers themselves */
        {"/system.slice/docker-" ID2 ".scope/kubelet.slice/kubelet-kubepods.slice/"
         "kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" UID_
         ".slice/cri-containerd-" ID ".scope",
         "cri-containerd-" ID ".scope", "0123456789ab", UID},
        {"/docker/" ID2 "/kubelet/kubepods/burstable/pod" UID, "", "", UID},
        /* runc without its driver for systemd, below a service */
        {"/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID,
         "containerd.service", "0123456789ab", UID},
        {"/system.slice:docker:" ID, "", "0123456789ab", ""},
        /* pods of podman have ids */
        {"/machine.slice/machine-libpod_pod_" ID2 ".slice/libpod-" ID ".scope/container",
         "libpod-" ID ".scope", "0123456789ab", "fedcba987654"},
        {USER "/user.slice/user-libpod_pod_" ID2 ".slice/libpod-" ID ".scope",
         USERS "libpod-" ID ".scope", "0123456789ab", "fedcba987654"},
        {"/libpod_parent/" ID2 "/libpod-" ID, "", "0123456789ab", "fedcba987654"},
        /* what is no pod */
        {"/pods/pod1", "", "", ""},
        {"/pod" UID "0", "", "", ""},
        {"/kubepods.slice/kubepods-podman.slice", "", "", ""},
    };

    (void)state;
    assert_rows(rows, COUNT(rows));
}

static void other_containers_have_names(void **state)
{
    static const struct row rows[] = {
        {"/lxc.payload.web", "", "web", ""},
        {"/lxc.payload.web/system.slice/nginx.service", "nginx.service", "web", ""},
        {"/lxc.payload.my.service", "", "my.service", ""},
        {"/lxc.payload/web/init.scope", "init.scope", "web", ""},
        {"/lxc.monitor.web", "", "", ""},
        {"/lxc.monitor/web", "", "", ""},
        {"/lxc/101/ns/system.slice/ssh.service", "ssh.service", "101", ""},
        {"/user.slice/user-1000.slice/session-1.scope/lxc.payload.web", "session-1.scope", "web",
         ""},
        {"/garden/" UID, "", UID, ""},
        {"/system.slice/garden.service/garden/good/" UID, "garden.service", UID, ""},
        {"/mesos/" UID "/mesos/" UID, "", UID, ""},
        {"/garden/good", "", "", ""},
        {"/machine.slice/machine-web.scope", "machine-web.scope", "web", ""},
        {"/machine.slice/machine-lxc\\x2d12\\x2dweb.scope", "machine-lxc\\x2d12\\x2dweb.scope",
         "lxc-12-web", ""},
        {"/machine.slice/machine-my\\x2dweb.scope/payload", "machine-my\\x2dweb.scope", "my-web",
         ""},
        {"/machine.slice/machine-web.scope/supervisor", "machine-web.scope", "", ""},
        {"/machine.slice/systemd-nspawn@web.service/payload/init.scope", "init.scope", "web", ""},
        {"/machine.slice/systemd-nspawn@my\\x2dweb.service/payload",
         "systemd-nspawn@my\\x2dweb.service", "my-web", ""},
        {"/machine.slice/systemd-nspawn@web.service/supervisor", "systemd-nspawn@web.service", "",
         ""},
        {"/lxc.payload.outer/machine.slice/systemd-nspawn@web.service/supervisor",
         "systemd-nspawn@web.service", "outer", ""},
        {"/system.slice/supervisor", "", "", ""},
        /* a virtual machine is no container */
        {"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator",
         "machine-qemu\\x2d1\\x2dvm.scope", "", ""},
        /* escapes that are none stay */
        {"/machine.slice/machine-a\\x2.scope", "machine-a\\x2.scope", "a\\x2", ""},
        {"/machine.slice/machine-a\\x00.scope", "machine-a\\x00.scope", "a\\x00", ""},
        {"/machine.slice/machine-.scope", "machine-.scope", "", ""},
        {"/lxc.payload.", "", "", ""},
        {"/lxc", "", "", ""},
    };

    (void)state;
    assert_rows(rows, COUNT(rows));
}

static void a_path_outside_the_namespace_is_named_by_its_rest(void **state)
{
    static const struct row rows[] = {
        {"/..", "", "", ""},
        {"/../..", "", "", ""},
        {"/../nginx.service", "nginx.service", "", ""},
        {"/../../docker/" ID, "", "0123456789ab", ""},
        {"/../../../../system.slice/docker-" ID ".scope", "docker-" ID ".scope", "0123456789ab",
         ""},
        {"/../pod" UID "/" ID, "", "0123456789ab", UID},
        {"/..nginx.service", "..nginx.service", "", ""},
    };

    (void)state;
    assert_rows(rows, COUNT(rows));
    assert_true(cgroup_is_outside("/.."));
    assert_true(cgroup_is_outside("/../a"));
    assert_false(cgroup_is_outside("/"));
    assert_false(cgroup_is_outside("/..a"));
}

static void a_name_too_long_for_a_directory_names_nothing(void **state)
{
    char longest[CGROUP_NAME_MAX + 1], path[2 * CGROUP_NAME_MAX + 8];
    struct cgroup_names names;

    (void)state;
    memset(longest, '1', sizeof longest);
    memcpy(longest + CGROUP_NAME_MAX - strlen(".service"), ".service", sizeof ".service");
    snprintf(path, sizeof path, "/%s/2%s", longest, longest);
    cgroup_names(path, &names);
    assert_string_equal(names.unit, longest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_unit_is_the_innermost_one_that_is_no_slice),
        cmocka_unit_test(containers_are_known_by_their_ids),
        cmocka_unit_test(pods_are_known_by_their_uids),
        cmocka_unit_test(other_containers_have_names),
        cmocka_unit_test(a_path_outside_the_namespace_is_named_by_its_rest),
        cmocka_unit_test(a_name_too_long_for_a_directory_names_nothing),
    };

    return cmocka_run_group_tests_name("cgroup_names", tests, NULL, NULL);
}
