/* SPDX-License-Identifier: MIT */
/* Names of containers and pods. */
#ifndef FASTNET_CONTAINERS_H
#define FASTNET_CONTAINERS_H

#include <stdbool.h>

/*
 * Names of containers and pods, from files that the kubelet, Docker and Podman keep: those of the
 * machine with RIGHT_CONTAINERS, and those in the user's home. root NULL: /; tests have another
 * one. Returns NULL when memory is short.
 */
struct containers;
struct containers *containers_create(const char *root);
void containers_destroy(struct containers *containers);
/* By what struct cgroup_names has of a container or a pod (NAMESPACE/POD); NULL: not known. */
const char *containers_name(const struct containers *containers, const char *id);
/*
 * The first errno that hid names, or 0: where there are no files, there are no such names. Of NULL,
 * which knows no name, ENOTSUP.
 */
int containers_error(const struct containers *containers);
/* Whether there are such names; reads only until it knows. */
struct containers_found {
    bool containers, pods;
};
struct containers_found containers_read(const char *root);

#endif
