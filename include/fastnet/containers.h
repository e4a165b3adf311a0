/* SPDX-License-Identifier: MIT */
/* Names of containers and pods, from files of the kubelet, Docker and Podman. */
#ifndef FASTNET_CONTAINERS_H
#define FASTNET_CONTAINERS_H

#include <stdbool.h>

/* Reads names: files of the machine with RIGHT_CONTAINERS, files in the user's home directory
 * without any right. root: directory that replaces "/" in tests, or NULL. Returns NULL if memory is
 * short. */
struct containers;
struct containers *containers_create(const char *root);
void containers_destroy(struct containers *containers);
/* Returns the name of a container, or NAMESPACE/POD of a pod; NULL: unknown. id: as in struct
 * cgroup_names. containers may be NULL. */
const char *containers_name(const struct containers *containers, const char *id);
/* Returns the first errno that hid names, or 0; a missing file hides no names. Returns ENOTSUP if
 * `containers` is NULL. */
int containers_error(const struct containers *containers);
/* Finds out whether names of containers and of pods exist; reads only until it finds one. root: as
 * in containers_create(). */
struct containers_found {
    bool containers, pods;
};
struct containers_found containers_read(const char *root);

#endif
