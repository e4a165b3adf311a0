/* SPDX-License-Identifier: MIT */
/* Numbers to names. Created before the first row; some look a number up when it is first needed. */
#ifndef FASTNET_LOOKUP_H
#define FASTNET_LOOKUP_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/address.h"
#include "fastnet/text.h"

struct record;
struct report;

/* A process that holds sockets open. struct owners owns it, and the strings. */
struct owner_process {
    pid_t pid;
    bool unnamed;     /* its name cannot be read; then it is empty here */
    const char *name; /* comm (proc(5)): at most 15 bytes, any but NUL */
    /* argv[0] without the directories of an absolute path; empty if there is none; the name if
     * argv[0] cannot be read; NULL unless asked for. */
    const char *command;
    /* The path of its control group (/proc/PID/cgroup): the one that names a container or a pod, or
     * else a unit; of version 2, or else of version 1, systemd's own hierarchy first. NULL if it
     * has none, or unless asked for. */
    const char *cgroup;
    /* Its number in the innermost pid namespace that it is in (pid_namespaces(7)); 0 if that is the
     * one of PROC_ROOT, or unless asked for. */
    pid_t pid_inside;
};

/* One descriptor of a socket. Small, because there is one for each socket that is open. */
struct owner {
    const struct owner_process *process;
    pid_t tid; /* of the thread; 0 unless asked for */
    int fd;    /* -1: not known */
};

/*
 * A BPF program that finds all owners many times faster than a walk over /proc. It is loaded once,
 * when it is first worth it, and used for any number of listings. What it finds is shown only if
 * /proc shows it, too.
 */
struct owners_program;
enum { OWNERS_REASON = 128 };
struct owners_program *owners_program_create(void); /* NULL when memory is short */
void owners_program_destroy(struct owners_program *program);
/*
 * Loads it, if that pays: where many files are open, or always. Returns whether it can be used. A
 * refusal is for good. Uses RIGHT_OWNERS and RIGHT_BPF.
 */
bool owners_program_load(struct owners_program *program, bool always);
/* Why it was refused; empty if it was not. */
const char *owners_program_reason(const struct owners_program *program);

struct owners;

/* How to find them. */
enum owners_choice { OWNERS_AUTO, OWNERS_BPF, OWNERS_PROC };

struct owners_options {
    const char *proc_root; /* "/proc", another proc file system or a captured tree; borrowed */
    bool commands;         /* fill owner.command */
    bool cgroups;          /* fill owner.cgroup */
    bool pids_inside;      /* fill owner.pid_inside */
    unsigned threads;      /* that walk; 0: chosen by the amount of work */
    bool tasks;            /* an owner for each thread of a process, with its own name */
    /* That was loaded, and outlives the owners; NULL: /proc is walked. Neither for tasks nor for a
     * captured tree. */
    struct owners_program *program;
    /* For listings that go on: names are read at once, also those that nobody asks for, because
     * later the processes may be gone; and owners_refresh() forgets who holds a socket no more. */
    bool names_at_once;
};

/*
 * Asks the program, or walks PROC_ROOT/PID/fd once, and for tasks PROC_ROOT/TID/fd. Returns 0, or
 * -errno when the list of processes cannot be read. Processes and descriptors that vanish during
 * the walk are no error. This, owners_refresh() and owners_find() use the right of struct proc_tree
 * (proc_tree.h); no right that was raised before is in effect afterwards.
 */
int owners_create(struct owners **owners, const struct owners_options *options);
void owners_destroy(struct owners *owners);

/*
 * Looks again and adds new owners, because sockets may have changed hands during the first look.
 * Earlier findings stay but move: results of owners_find() become invalid. With names_at_once those
 * that are not found again are past owners (owners_find_last()). Returns 0, or -errno: nothing was
 * added, or owners are missing because memory was short.
 */
int owners_refresh(struct owners *owners);

/*
 * All owners of a socket, lowest pid first, then the main thread and lowest tid, then lowest
 * descriptor; returns how many. What the program found is looked at in /proc, and its names are
 * read, when it is first asked for.
 */
size_t owners_find(struct owners *owners, uint64_t inode, const struct owner **first);
/* The same for a socket that may be gone: if no process holds it now, those that held it last. */
size_t owners_find_last(struct owners *owners, uint64_t inode, const struct owner **first);

/*
 * Looks whether the processes that were found still hold the socket, by one link of /proc for each,
 * and reads their names anew: execve(2) changes them. Those that do not are dropped. It invalidates
 * results of owners_find(). For live processes only, not for a captured tree. Uses RIGHT_OWNERS.
 */
enum owners_state {
    OWNERS_HOLD,    /* all of them do */
    OWNERS_CHANGED, /* some do not: another process may hold it, which owners_refresh() finds */
    OWNERS_NONE,    /* no owner is known */
};
enum owners_state owners_confirm(struct owners *owners, uint64_t inode);

/*
 * The process that made a socket which is gone: as owners_find() if it was seen with that name, or
 * is still there; else it has only its number and the name. name: terminated, copied. The result is
 * valid until the next call.
 */
const struct owner *owners_maker(struct owners *owners, pid_t pid, const char *name);

/*
 * The owners of a listener as those of a socket that came to it: with no descriptor, and not all of
 * many. The result is valid until the next call.
 */
size_t owners_of_listener(struct owners *owners, uint64_t inode, const struct owner **first);

/*
 * The arguments of a process, separated by blanks and escaped, at most `size` bytes with the
 * terminator; "-" if they cannot be read. proc_root: "/proc", for example. Returns text.
 */
const char *process_command_line(const char *proc_root, pid_t pid, char *text, size_t size);

/* What the walks missed. Missing permission and vanishing processes are no errors. */
struct owners_summary {
    size_t denied;    /* processes that hide descriptors from this user */
    pid_t denied_pid; /* the first of them */
    size_t unlisted;  /* processes whose descriptors a captured tree lacks */
    size_t unnamed;   /* owners whose names may not be read: empty */
    /* One hides even its directory of descriptors: netstat's message depends on it. */
    bool shut_out;
    /* PROC_ROOT is a proc mount that does not list all processes (hidepid=, proc(5)). */
    bool hidden;
    /* The tree does not show the processes of other pid namespaces (pid_namespaces(7)). */
    bool partial;
    bool none; /* PROC_ROOT shows no process at all, as a captured tree may */
    bool any;  /* a process other than this one was found to hold a socket */
    int error; /* the first errno (EMFILE, ENOMEM, EIO ...) that cost descriptors, or 0 */
};
const struct owners_summary *owners_summary(const struct owners *owners);

/* Whether a socket that has no owner is certainly held by no process. */
static inline bool owners_know_all(const struct owners_summary *summary)
{
    return !summary->denied && !summary->unlisted && !summary->hidden && !summary->partial &&
           !summary->error;
}

/*
 * Users: getpwuid(3), each uid once. NULL when it has no name. Modules of nsswitch.conf(5) may run
 * there: all rights must be gone, or a child that gave them up asks from now on. Threads that are
 * there when it is made may not allocate (those that read packets cannot); users_ask_apart()
 * returns 0 or -errno.
 */
struct users;
struct users *users_create(void);
int users_ask_apart(struct users *users);
void users_forget(struct users *users); /* what was asked: names change */
void users_destroy(struct users *users);
const char *users_name(struct users *users, uint32_t uid);
/* Whether no user has this name; false if that cannot be known. */
bool users_lack(const char *name);
/*
 * The errno of the first lookup that failed, or 0. A uid without a name is no error. Like every
 * *_error() below it returns 0 for NULL.
 */
int users_error(const struct users *users);

/*
 * Services by port and protocol: IPPROTO_TCP, _UDP; _UDPLITE has the names of UDP, _RAW those of
 * protocols. Of several entries the last one counts, as in netstat. NULL when a port has no name.
 */
struct services;
struct services *services_create(void);
void services_destroy(struct services *services);
const char *services_name(const struct services *services, uint16_t protocol, uint16_t port);
/* The first errno that left ports without names (ENOENT: no list of services), or 0. */
int services_error(const struct services *services);
/*
 * The ports of a service by its name or an alias, in any case: from services(5) itself, because no
 * module of nsswitch.conf(5) may run as long as there are rights. Stores distinct ones, at most
 * `most`; returns how many. path NULL: /etc/services. protocols: "tcp udp", for example; NULL: any.
 */
size_t services_ports(const char *path, const char *name, const char *protocols, uint16_t ports[],
                      size_t most);

/*
 * RPC programs by protocol and port, as rpcbind(8) knows them, such as "rpc.mountd". names: the
 * file rpc(5); NULL: /etc/rpc. Without memory it returns NULL.
 */
struct rpc_programs;
struct rpc_programs *rpc_programs_create(const char *names);
void rpc_programs_destroy(struct rpc_programs *programs);
/*
 * Asks rpcbind by its socket (path; NULL: /run/rpcbind.sock), and waits for at most this number of
 * milliseconds. If none runs, there are no programs.
 */
void rpc_programs_ask(struct rpc_programs *programs, const char *path, unsigned milliseconds);
/* Takes an answer of rpcbind, without its marks of fragments. Returns 0, -EBADMSG or -EPROTO. */
int rpc_programs_take(struct rpc_programs *programs, const void *bytes, size_t length);
/* NULL: no program with a name has this port. */
const char *rpc_programs_name(const struct rpc_programs *programs, uint16_t protocol,
                              uint16_t port);
/* The errno that left programs without names, or 0. */
int rpc_programs_error(const struct rpc_programs *programs);

/* Interfaces: the kernel is asked once for each index that was not added. */
struct interfaces;
struct interface {
    uint32_t index;
    int hardware;     /* ARPHRD_* of linux/if_arp.h; -1: not known */
    uint32_t master;  /* index of the device it belongs to; 0: none, or not added */
    int32_t netns;    /* number of the network namespace of its other end; -1: none, or not added */
    const char *name; /* terminated, borrowed; NULL when it has none (any more) */
};

struct interfaces *interfaces_create(void);
void interfaces_destroy(struct interfaces *interfaces);
/* From now on it asks the network namespace of this thread; else that of the first question. */
void interfaces_settle(struct interfaces *interfaces);
/* The names are those in the files of a captured tree, and this machine is never asked. */
void interfaces_of_tree(struct interfaces *interfaces, const char *proc_root);
/* Adds an interface, which then needs no lookup. Returns 0 or -ENOMEM. */
int interfaces_add(struct interfaces *interfaces, const struct interface *interface);
/* What is known of an interface; never NULL, valid until the next call. */
const struct interface *interfaces_get(struct interfaces *interfaces, uint32_t index);
const char *interfaces_name(struct interfaces *interfaces, uint32_t index);
/* Finds an interface by any of its names (ip-link(8): altname). Returns 0 or -errno. */
int interfaces_find(const char *name, uint32_t *index);
/* The first errno that made a lookup fail, or 0. A missing interface is no error. */
int interfaces_error(const struct interfaces *interfaces);

/*
 * Hosts: getnameinfo(3), each address once, many in parallel. Addresses are added first, then
 * resolved together within a time limit. Addresses without an answer by then have no name.
 */
enum { HOSTS_MILLISECONDS = 5000 }; /* the time limit of a listing */
/*
 * Called once a lookup takes longer than HOSTS_SLOW (nanoseconds): how many addresses are looked
 * up, or, with 1, the name whose address is. Called with 0 when that lookup ends.
 */
#define HOSTS_SLOW UINT64_C(500000000)
typedef void (*hosts_wait_fn)(size_t count, const char *name);
struct hosts;
struct hosts *hosts_create(void);
void hosts_destroy(struct hosts *hosts); /* threads that still wait for answers are left behind */
/* Ignores the unspecified address and AF_UNSPEC: they have no name. Returns 0 or -errno. */
int hosts_add(struct hosts *hosts, const struct address *address);
/*
 * Looks up the addresses added since the last call. Unanswered ones are not tried again. Returns
 * how many had no answer when the time was up, or -errno. wait: or NULL.
 */
int hosts_resolve(struct hosts *hosts, unsigned milliseconds, hosts_wait_fn wait);
const char *hosts_name(const struct hosts *hosts, const struct address *address);
/* The first errno that made a lookup fail (EMFILE, ENOMEM ...), or 0. */
int hosts_error(const struct hosts *hosts);
/*
 * Finds the IPv4 address of a host; network byte order. Returns 0, -ENOENT when there is none
 * (*error is then h_errno), -ETIMEDOUT, or another -errno.
 */
int hosts_find(const char *name, unsigned milliseconds, uint8_t address[4], int *error,
               hosts_wait_fn wait);
/*
 * All addresses of a host name: of this family, or with AF_UNSPEC of IPv4 and IPv6. A process
 * without rights asks for them, in the network namespace `home` (namespace.h; 0: this one). Stores
 * at most `most` and returns how many; -ENOENT if there are none, -ETIMEDOUT, or another -errno.
 */
int hosts_addresses(const char *name, uint8_t family, int home, unsigned milliseconds,
                    struct address addresses[], size_t most, hosts_wait_fn wait);

/*
 * Networks: networks(5). Of several lines for one network the first counts. Malformed lines are
 * ignored.
 */
struct networks;
/* path NULL: /etc/networks. A missing file counts as empty. Returns NULL when memory is short. */
struct networks *networks_create(const char *path);
void networks_destroy(struct networks *networks);
/* The name of an IPv4 network, or NULL. networks may be NULL. */
const char *networks_name(const struct networks *networks, const struct address *address);
/* Finds the address of the first network with this name, or an alias; network byte order. */
bool networks_find(const char *path, const char *name, uint8_t address[4]);

/*
 * Connection labels: connlabel.conf(5), /etc/xtables/connlabel.conf. Ignores malformed lines, and
 * names with characters other than letters, digits, blank and '-'.
 */
struct labels;
struct flag_names;
/* path NULL: that file. Returns 0, or -errno when it cannot be read. */
int labels_create(struct labels **labels, const char *path);
void labels_destroy(struct labels *labels);
/* The bit of a name (length bytes), or -1. */
int labels_bit(const struct labels *labels, const char *name, size_t length);
/* The names by bit. labels may be NULL: no bit has a name then. */
const struct flag_names *labels_names(const struct labels *labels);

/*
 * Processes by the port of their NETLINK_NETFILTER socket: /proc/net/netlink has the inode of the
 * socket, /proc/PID/fd its owner. Asked while events come. Only the last port's answer is kept.
 * NULL when no process has the port (any more).
 */
struct senders;
/* proc_root: "/proc", or in tests another directory; borrowed. NULL when memory is short. */
struct senders *senders_create(const char *proc_root);
void senders_destroy(struct senders *senders);
const char *senders_name(struct senders *senders, uint32_t port);
/* Between events much time can pass, and another process get the port. Accepts NULL. */
void senders_forget(struct senders *senders);
/*
 * The process whose number the port is: the kernel gives a process its own number as its first
 * port, of any netlink protocol. Valid until the next call. NULL when there is no such process.
 */
const char *senders_process(struct senders *senders, uint32_t port);

/*
 * Control groups (cgroups(7), version 2). Finds the id of a group by its directory, or by the path
 * below the place where cgroup2 is mounted. Returns 0 or -errno.
 */
int cgroups_find(const char *path, uint64_t *id);

/* What a path tells by the names of its directories; empty: nothing. */
enum { CGROUP_NAME_MAX = 255 }; /* NAME_MAX of a directory */
struct cgroup_names {
    /*
     * The innermost unit of systemd(1) that is no slice, as systemctl(1) shows it. A user may give
     * any name to units below his user@UID.service: that stands before them, and a slash.
     */
    char unit[2 * CGROUP_NAME_MAX + 2];
    /* The innermost container: the first 12 digits of its id, or its name. */
    char container[CGROUP_NAME_MAX + 1];
    /* The pod: its uid in Kubernetes, or the first 12 digits of its id in podman(1). */
    char pod[CGROUP_NAME_MAX + 1];
};
/*
 * In a path that leads out of the cgroup namespace, only the directories after the last "/.."
 * count.
 */
void cgroup_names(const char *path, struct cgroup_names *names);
/* Whether it leads there: /proc/PID/cgroup begins it with "/.." (cgroup_namespaces(7)). */
bool cgroup_is_outside(const char *path);

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
struct containers_found containers_look(const char *root);

/* A group: its path below the mount ("/" is the root), and what that tells; NULL: nothing. */
struct cgroup {
    const char *path, *unit, *container, *pod;
};

/*
 * All groups by their ids, read when they are created; a group that was made later is found within
 * a second. mounts: a file in the form of fstab(5), borrowed; NULL: /proc/self/mounts; "": no ids
 * are known, as of a captured tree. Returns 0 or -ENOMEM.
 */
struct cgroups;
int cgroups_create(struct cgroups **cgroups, const char *mounts);
void cgroups_destroy(struct cgroups *cgroups);
/*
 * By its id, or by its path in /proc/PID/cgroup. NULL if there is no such group (any more), or by
 * its id if it is outside of the cgroup namespace. The result is valid until the next call, its
 * texts as long as `cgroups`.
 */
const struct cgroup *cgroups_by_id(struct cgroups *cgroups, uint64_t id);
const struct cgroup *cgroups_by_path(struct cgroups *cgroups, const char *path);
/* The path by the id, or NULL. */
const char *cgroups_path(struct cgroups *cgroups, uint64_t id);
/* The ids that are known, in any order: of group i, which is below the count. */
size_t cgroups_count(const struct cgroups *cgroups);
uint64_t cgroups_id(const struct cgroups *cgroups, size_t i);

/* Looks for containers in hierarchies of version 1, and sets summary.mixed. Returns that. */
bool cgroups_look_mixed(struct cgroups *cgroups);
/* Sets it: the processes are of another machine's view, whose hierarchies cannot be seen here. */
void cgroups_set_mixed(struct cgroups *cgroups);

/*
 * Takes over what names containers, or NULL. cgroups_name() is the name of a group's container or
 * pod, as struct cgroup has it: that itself if it is none of the ids that have names elsewhere.
 */
void cgroups_take_names(struct cgroups *cgroups, struct containers *containers);
const char *cgroups_name(struct cgroups *cgroups, const char *id);

struct cgroups_summary {
    int error; /* errno that left all ids without groups (ENOENT: no cgroup2 is mounted), or 0 */
    bool version1; /* hierarchies of version 1 are mounted */
    bool mixed;  /* version 1 may have containers that version 2 lacks: the owner's group decides */
    bool flat;   /* there is only the root */
    bool inside; /* of a cgroup namespace: its root is not the root of the machine */
    bool asked;  /* a group was asked for */
    bool unknown; /* ... that is gone, or outside of the namespace */
    bool closed;  /* some directories may not be read */
    int nameless; /* errno that cgroups_name() may not know a name for, or 0 */
};
const struct cgroups_summary *cgroups_summary(const struct cgroups *cgroups);

/* Whether the ids of sockets tell their groups: not without cgroup2, nor where version 1 is used.
 */
static inline bool cgroups_tell(const struct cgroups_summary *summary)
{
    return !summary->error && !(summary->flat && summary->version1);
}

/* Whether a failure, and not the machine, is the reason why groups are unknown. */
static inline bool cgroups_failed(const struct cgroups_summary *summary)
{
    return summary->error && summary->error != ENOENT && summary->error != EACCES &&
           summary->error != EPERM;
}

/*
 * The name of this machine, or of the one that a tree was captured on, which sys/kernel/hostname
 * has; empty if it is unknown.
 */
void machine_name(const char *proc_root, char host[65]);

/*
 * The other ends of sockets, if they are on this machine: from one dump of all sockets of the same
 * protocol. Sockets without an inode, and those of IP that are not connected, are not kept.
 */
struct peers;
struct peers *peers_create(void); /* NULL when memory is short */
void peers_destroy(struct peers *peers);
/* Returns 0 or -ENOMEM. */
int peers_add(struct peers *peers, const struct record *record);
/*
 * The inode of the other end, 0 if it is unknown: also if several sockets have the addresses and
 * ports of the other end. A unix socket's own record has it.
 */
uint64_t peers_inode(const struct peers *peers, const struct record *record);
/* Whether there are such sockets. */
bool peers_are_ambiguous(const struct peers *peers);
/* The name of a unix socket; empty if it has none. Borrowed. peers may be NULL. */
struct text peers_path(const struct peers *peers, uint64_t inode);

/*
 * Names of the kernel's functions, by places in their code (/proc/kallsyms, which takes 30 ms: it
 * is read only for places that are new). Uses RIGHT_SYMBOLS; without it the kernel tells no
 * addresses.
 */
struct symbols;
struct symbols *symbols_create(void); /* NULL when memory is short */
void symbols_destroy(struct symbols *symbols);
/* A place behind a call in the function. Returns 0 or -ENOMEM. */
int symbols_add(struct symbols *symbols, uint64_t place);
/* Looks up all that were added. path: "/proc/kallsyms". Returns 0 or -errno. */
int symbols_read(struct symbols *symbols, const char *path);
/* The function that calls there, terminated; NULL: it is not known. */
const char *symbols_name(const struct symbols *symbols, uint64_t place);

#endif
