/* SPDX-License-Identifier: MIT */
/* Finds the unit of systemd(1), the container and the pod that the path of a control group names.
 * The paths are made by systemd (src/basic/cgroup-util.c: units, their escapes), by container
 * runtimes with either of two drivers ("systemd": PREFIX-ID.scope; "cgroupfs": directories), by the
 * kubelet (pkg/kubelet/cm), by lxc.container.conf(5) and by systemd-nspawn(1). */
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "lookup/cgroup_names.h"

/* The meaning of a directory's name. */
enum cgroup_name_parts {
    CONTAINER_ID,
    CONTAINER_NAME,
    POD_ID,
    POD_UID,
    NOTHING, /* looks like a container, but is no container */
    OUTSIDE, /* a process in the container's directory that runs outside of the container */
};

static const struct pattern {
    const char *above; /* pattern of the parent directory; NULL: any parent */
    const char *name;
    enum cgroup_name_parts part;
} patterns[] = {
    /* conmon(8) watches a container from outside */
    {NULL, "*-conmon-%i.scope", NOTHING},
    {NULL, "*-conmon-%i", NOTHING},
    /* docker, podman (libpod), containerd (cri-containerd, nerdctl), cri-o (crio) */
    {NULL, "*-%i.scope", CONTAINER_ID},
    {"libpod_parent", "%i", POD_ID},
    {NULL, "%i", CONTAINER_ID},
    {NULL, "*-%i", CONTAINER_ID},
    {NULL, "*libpod_pod_%i.slice", POD_ID},
    {NULL, "*kubepods*-pod%u.slice", POD_UID},
    {NULL, "pod%u", POD_UID},
    {NULL, "lxc.payload.%n", CONTAINER_NAME},
    {NULL, "lxc.monitor.%n", NOTHING},
    {"lxc", "%n", CONTAINER_NAME},
    {"lxc.payload", "%n", CONTAINER_NAME},
    {"lxc.monitor", "%n", NOTHING},
    /* garden (Cloud Foundry), Mesos */
    {"garden", "%u", CONTAINER_NAME},
    {"good", "%u", CONTAINER_NAME},
    {"bad", "%u", CONTAINER_NAME},
    {"mesos", "%u", CONTAINER_NAME},
    /* systemd-machined(8) also registers virtual machines */
    {NULL, "machine-qemu\\x2d%n.scope", NOTHING},
    {NULL, "machine-%n.scope", CONTAINER_NAME},
    {NULL, "systemd-nspawn@%n.service", CONTAINER_NAME},
    {"machine-%n.scope", "supervisor", OUTSIDE},
    {"systemd-nspawn@%n.service", "supervisor", OUTSIDE},
};

/* Types of units that can contain processes (systemd.unit(5)), except slices. */
static const char *const unit_types[] = {".service", ".scope", ".socket", ".mount", ".swap"};

static bool ends_with(struct text text, const char *end)
{
    const size_t length = strlen(end);

    return text.length > length && memcmp(text.data + text.length - length, end, length) == 0;
}

static bool is_unit(struct text name)
{
    bool is = false;

    for (size_t i = 0; i < COUNT(unit_types); i++)
        is |= ends_with(name, unit_types[i]);
    return is;
}

/* --- Patterns --------------------------------------------------------------------------------- */

enum { ID_DIGITS = 64, UID_DIGITS = 32, UUID_LENGTH = 36 };

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Returns the number of hexadecimal digits; 0 if the text has other characters. With `dashes`, the
 * text may also contain - and _, which are not counted. */
static size_t digits_of(struct text text, bool dashes)
{
    size_t digits = 0;

    for (size_t i = 0; i < text.length; i++) {
        const bool dash = text.data[i] == '-' || text.data[i] == '_';
        digits += is_digit(text.data[i]);
        if (!is_digit(text.data[i]) && !(dash && dashes))
            return 0;
    }
    return digits;
}

bool name_matches(const char *pattern, struct text text, struct text *found)
{
    for (; *pattern && *pattern != '*' && *pattern != '%'; pattern++) {
        if (!text.length || *text.data != *pattern)
            return false;
        text = (struct text){text.data + 1, text.length - 1};
    }
    /* the text must end as the pattern ends; *found is the text before */
    if (*pattern == '%') {
        if (!ends_with(text, pattern + 2))
            return false;
        *found = (struct text){text.data, text.length - strlen(pattern + 2)};
        if (pattern[1] == 'i')
            return digits_of(*found, false) == ID_DIGITS;
        return pattern[1] != 'u' || (digits_of(*found, true) == UID_DIGITS &&
                                     (found->length == UID_DIGITS || found->length == UUID_LENGTH));
    }
    for (; *pattern == '*' && text.length; text.data++, text.length--)
        if (name_matches(pattern + 1, text, found))
            return true;
    return !*pattern && !text.length;
}

/* --- Names ------------------------------------------------------------------------------------ */

static void cgroup_names_copy(char to[CGROUP_NAME_MAX + 1], struct text from)
{
    memcpy(to, from.data, from.length);
    to[from.length] = '\0';
}

static int digit_of(char c)
{
    return !is_digit(c) ? -1 : c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Copies a name without the escapes of systemd: \xNN is a byte that a unit's name may not have. */
static void copy_unescaped(char *to, struct text from)
{
    for (size_t i = 0; i < from.length; i++) {
        const bool escape = from.length - i >= 4 && memcmp(&from.data[i], "\\x", 2) == 0;
        const int high = escape ? digit_of(from.data[i + 2]) : -1;
        const int low = escape ? digit_of(from.data[i + 3]) : -1;
        if (high >= 0 && low >= 0 && high + low > 0) {
            *to++ = (char)(high << 4 | low);
            i += 3;
        } else {
            *to++ = from.data[i];
        }
    }
    *to = '\0';
}

struct naming {
    struct cgroup_names *names;
    char outer[CGROUP_NAME_MAX + 1]; /* name of the container around `names->container` */
    struct text above, user; /* the parent directory; the outermost user@UID.service, or "" */
};

static void take_part(struct naming *naming, enum cgroup_name_parts part, struct text found)
{
    struct cgroup_names *names = naming->names;

    switch (part) {
    case CONTAINER_ID:
        memcpy(naming->outer, names->container, sizeof naming->outer);
        cgroup_names_copy(names->container, (struct text){found.data, CONTAINER_ID_SHOWN});
        break;
    case CONTAINER_NAME:
        memcpy(naming->outer, names->container, sizeof naming->outer);
        copy_unescaped(names->container, found);
        break;
    case POD_ID:
        names->container[0] = '\0';
        cgroup_names_copy(names->pod, (struct text){found.data, CONTAINER_ID_SHOWN});
        break;
    case POD_UID:
        names->container[0] = '\0';
        cgroup_names_copy(names->pod, found);
        for (char *at = names->pod; *at; at++)
            if (*at == '_')
                *at = '-';
        break;
    case OUTSIDE:
        memcpy(names->container, naming->outer, sizeof naming->outer);
        break;
    case NOTHING:
        break;
    }
}

/* Takes the next directory of the path. Deeper directories override those above them. */
static void take_directory(struct naming *naming, struct text name)
{
    struct text found = name, unused;
    const struct pattern *pattern = patterns, *const end = patterns + COUNT(patterns);

    while (pattern < end &&
           ((pattern->above && !name_matches(pattern->above, naming->above, &unused)) ||
            !name_matches(pattern->name, name, &found)))
        pattern++;
    if (pattern < end)
        take_part(naming, pattern->part, found);
    /* the name of a container may look like the name of a unit */
    if (is_unit(name) &&
        (pattern == end || is_unit((struct text){pattern->name, strlen(pattern->name)}))) {
        /* systemd writes _ before a name that the kernel could use */
        const bool escaped = name.data[0] == '_';
        snprintf(naming->names->unit, sizeof naming->names->unit, "%.*s%s%.*s",
                 (int)naming->user.length, naming->user.data, naming->user.length ? "/" : "",
                 (int)name.length - escaped, name.data + escaped);
        if (!naming->user.length && name.length > 5 && memcmp(name.data, "user@", 5) == 0)
            naming->user = name;
    }
    naming->above = name;
}

/* Takes the directory SLICE:PREFIX:ID, which runc(8) makes without its systemd driver. */
static void take_slice(struct naming *naming, struct text name)
{
    struct text id;

    while (name_matches("*:%i", name, &id)) {
        const char *colon = memchr(name.data, ':', name.length);
        const struct text first = {name.data, (size_t)(colon - name.data)};
        take_directory(naming, first);
        name = (struct text){colon + 1, name.length - first.length - 1};
    }
    take_directory(naming, name);
}

void cgroup_names(const char *path, struct cgroup_names *names)
{
    struct naming naming = {.names = names, .above = {"", 0}, .user = {"", 0}};

    *names = (struct cgroup_names){.unit = ""};
    for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
        const size_t length = strcspn(path, "/");
        if (length <= CGROUP_NAME_MAX)
            take_slice(&naming, (struct text){path, length});
        path += length;
    }
}

bool cgroup_is_outside(const char *path)
{
    return strncmp(path, "/..", 3) == 0 && (path[3] == '/' || !path[3]);
}
