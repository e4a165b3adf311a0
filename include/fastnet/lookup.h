/* Numbers to names. Everything here is built before the first row and then only read. */
#ifndef FASTNET_LOOKUP_H
#define FASTNET_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/address.h"

struct report;

/* A process that holds a socket open. Strings are owned by the struct owners it came from. */
struct owner {
    pid_t pid;
    int fd;
    const char *name; /* comm (proc(5)), at most 15 bytes, may hold any byte but NUL */
    /* argv[0] with the directories of an absolute path cut off, empty when there is none; the name
     * where it cannot be read; NULL unless asked for. */
    const char *command;
};

struct owners;

struct owners_options {
    const char *proc_root; /* "/proc", or a captured tree; borrowed */
    bool commands;         /* fill owner.command */
    unsigned threads;      /* 0: as many as pay */
};

/*
 * Walks PROC_ROOT/PID/fd once. Returns 0, or -errno when not even the list of processes could be
 * read. Processes and descriptors that vanish meanwhile are normal and silent.
 */
int owners_create(struct owners **owners, const struct owners_options *options);
void owners_destroy(struct owners *owners);

/*
 * Walks again and adds what is new; for sockets that changed hands during the first walk. What was
 * found before stays, but not at its place: owners got from owners_find() are no longer valid.
 * Returns 0, or -errno when there is nothing new or owners are missing for want of memory.
 */
int owners_refresh(struct owners *owners);

/* All owners of a socket, lowest pid first, then lowest descriptor; returns how many. */
size_t owners_find(const struct owners *owners, uint64_t inode, const struct owner **first);

/* Processes whose descriptors this user may not see; whether any owner but this process was found.
 */
size_t owners_denied(const struct owners *owners);
/* Whether for one of them not even the directory could be opened, which is what netstat goes by. */
bool owners_shut_out(const struct owners *owners);
bool owners_any(const struct owners *owners);

/*
 * The first errno (EMFILE, ENOMEM, EIO ...) for which descriptors were left out of a walk, 0 when
 * all was read: permissions and vanishing processes are not errors.
 */
int owners_error(const struct owners *owners);

/* Whether PROC_ROOT shows no process at all, as a captured tree may. */
bool owners_none(const struct owners *owners);

/* Whether PROC_ROOT is a proc mount that does not even list all processes (hidepid=, proc(5)). */
bool owners_hidden(const struct owners *owners);

/* Users: getpwuid(3), each uid once. NULL when it has no name. */
struct users;
struct users *users_create(void);
void users_destroy(struct users *users);
const char *users_name(struct users *users, uint32_t uid);
/* The errno of the first lookup that failed, or 0. A uid without a name is not an error. Like the
 * other functions of this name it returns 0 for NULL. */
int users_error(const struct users *users);

/*
 * Services by port and protocol (IPPROTO_TCP, _UDP, _UDPLITE as UDP; _RAW: protocol names). Of
 * several entries the last is taken, as netstat does. NULL when a port has no name.
 */
struct services;
struct services *services_create(void);
void services_destroy(struct services *services);
const char *services_name(const struct services *services, uint8_t protocol, uint16_t port);
/* The first errno for which names are missing (ENOENT: there is no list of services), or 0. */
int services_error(const struct services *services);

/* Interfaces, each index asked for once. NULL when it has no name (any more). */
struct interfaces;
struct interfaces *interfaces_create(void);
void interfaces_destroy(struct interfaces *interfaces);
const char *interfaces_name(struct interfaces *interfaces, uint32_t index);
/* The hardware type, ARPHRD_* of linux/if_arp.h; -1 when it is not known. */
int interfaces_hardware(struct interfaces *interfaces, uint32_t index);
/* The first errno for which one was not found, 0 when all were: that one is gone is no error. */
int interfaces_error(const struct interfaces *interfaces);

/* An interface, from a source that tells more than its name. */
struct interface {
    uint32_t index;
    int hardware;     /* ARPHRD_* */
    uint32_t master;  /* index of the device it belongs to, 0: none */
    int32_t netns;    /* number of the network namespace of its other end, -1: none */
    const char *name; /* terminated, borrowed */
};

/* Adds one, which is then not asked for. Returns 0 or -ENOMEM. */
int interfaces_add(struct interfaces *interfaces, const struct interface *interface);
/* Of one that was added; 0 and -1 of all others. */
uint32_t interfaces_master(const struct interfaces *interfaces, uint32_t index);
int32_t interfaces_netns(const struct interfaces *interfaces, uint32_t index);

/*
 * Hosts: getnameinfo(3), each distinct address once, many at a time. Addresses are added first,
 * then resolved together within a total time, after which those without an answer have no name.
 */
enum { HOSTS_MILLISECONDS = 5000 }; /* what a listing takes for it */
struct hosts;
struct hosts *hosts_create(void);
void hosts_destroy(struct hosts *hosts); /* what is still being asked then is left behind */
/* The unspecified address, and one of no family, have no name and are left out. Returns 0 or
 * -errno. */
int hosts_add(struct hosts *hosts, const struct address *address);
/*
 * Asks for what was added since the last time; what got no answer is not asked for again. Returns
 * how many addresses were still unanswered when the time was up, or -errno.
 */
int hosts_resolve(struct hosts *hosts, unsigned milliseconds);
const char *hosts_name(const struct hosts *hosts, const struct address *address);
/* The first errno for which a name was not found (EMFILE, ENOMEM ...), or 0. */
int hosts_error(const struct hosts *hosts);
/*
 * The IPv4 address of a network, or else of a host, in network byte order. Returns 0, -ENOENT when
 * there is none (*error is then h_errno), -ETIMEDOUT, or another -errno.
 */
int hosts_find(const char *name, unsigned milliseconds, uint8_t address[4], int *error);

/*
 * Networks: networks(5). Of several lines for one network the first counts. Lines that are
 * malformed are left out.
 */
struct networks;
/* path NULL: /etc/networks. A file that is not there names nothing. NULL when memory is short. */
struct networks *networks_create(const char *path);
void networks_destroy(struct networks *networks);
/* Of IPv4. NULL when it has no name; accepts NULL networks. */
const char *networks_name(const struct networks *networks, const struct address *address);

/*
 * Connection labels: connlabel.conf(5), /etc/xtables/connlabel.conf. Lines that are malformed, and
 * names of other characters than letters, digits, blank and '-', are left out.
 */
struct labels;
struct flag_names;
/* Returns 0 or -errno: the file cannot be read. path NULL: the usual one. */
int labels_create(struct labels **labels, const char *path);
void labels_destroy(struct labels *labels);
/* The bit of a name (length bytes), -1 when there is none. */
int labels_bit(const struct labels *labels, const char *name, size_t length);
/* The names by bit; of no labels (NULL): none. */
const struct flag_names *labels_names(const struct labels *labels);

/*
 * Processes by the netlink port of their socket, for NETLINK_NETFILTER: /proc/net/netlink names
 * the socket, the descriptors of processes its owner. Asked while events come: the answer for a
 * port is kept until another is asked for. NULL when there is none (any more).
 */
struct senders;
struct senders *senders_create(void);
void senders_destroy(struct senders *senders);
const char *senders_name(struct senders *senders, uint32_t port);

#endif
