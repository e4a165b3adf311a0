/* SPDX-License-Identifier: MIT */
/* Rules: the readings that they use, and how they make findings. */
#ifndef DOCTOR_RULES_H
#define DOCTOR_RULES_H

#include "doctor/reading.h"
#include "fastnet/doctor.h"
#include "fastnet/drop_probe.h"
#include "fastnet/scan_probe.h"
#include "why/verdicts.h"

struct examination;

/* The words that follow the number of a counter. */
struct loss {
    const char *one, *many; /* nouns for 1 and more: "datagram was", "datagrams were" */
    const char *what;       /* "dropped because ..." */
};

/* From this percentage on a table is close to its limit, but there is still time to act. */
enum { NEARLY_PERCENT = 90 };

/* A counter that should not grow, for rule_growth(). */
struct rule_growth {
    const char *subject;          /* subject of the finding: "IPv4" */
    enum kernel_number counter;   /* NO_NUMBER: end of the list */
    enum kernel_number whole;     /* the counter counts a part of this; NO_NUMBER: percent is 0 */
    unsigned percent;             /* smaller growth, in percent of `whole`, is no finding */
    unsigned least;               /* smaller growth is no finding */
    enum kernel_number less;      /* a part of the counter that is subtracted, or NO_NUMBER */
    const char *reason;           /* reason of these drops, if those of packets to multicast groups
                                     and broadcast addresses do not count; or NULL */
    struct loss loss;             /* words for the counter */
    const char *advice, *command; /* NULL: those of the rule */
};

/* Something with a limit, for rule_filling(). */
struct filling {
    const char *subject, *what;   /* what: the things that fill it: "connections in TIME_WAIT" */
    unsigned percent;             /* from this percentage on it is nearly full; 0: never */
    struct loss loss;             /* words for the counters in `losses` */
    enum kernel_number gauge;     /* how full it is; kernel_numbers has its limit */
    enum kernel_number losses[2]; /* counters that grow when it is full, or NO_NUMBER */
    enum kernel_number less;      /* a part of losses[0] that is subtracted, or NO_NUMBER */
    const char *counter;          /* name of the counters in texts; NULL: name of losses[0] */
    bool harmless;                /* nothing is lost when it is full: only a warning */
};

/* A part of a rule that is tried even if the data of the other parts is missing. */
struct rule_part {
    const char *name; /* its data: "backlogs of listeners"; NULL: after the last part */
    unsigned needs;   /* READS_* */
    enum kernel_number numbers[2]; /* numbers of files that it needs, or NO_NUMBER */
};

struct rule {
    struct doctor_rule text;
    unsigned needs; /* READS_*: the readings that the rule uses */
    bool at_once;   /* one reading is enough: nothing is compared with the reading before */
    bool compares;  /* finds nothing with one reading */
    void (*evaluate)(struct examination *examination);
    const struct rule_growth *growths; /* for rule_growth() */
    const struct filling *filling;     /* for rule_filling(), which has its own parts */
    /* The parts that are tried by themselves; NULL: the rule requires all of `needs`. */
    const struct rule_part *parts;
};

extern const struct rule rules[];
extern const size_t rule_count;

/* A finding: its record, and the texts that the record points to. */
struct finding {
    struct record record;
    char subject[192], process[64], summary[1024], evidence[768];
    char cause[VERDICT_TEXT];                 /* a sentence; empty: not certain */
    char advice[VERDICT_TEXT], command[1024]; /* empty: those of the rule */
    size_t evidence_length;
};

/* An examination of a network namespace: two readings, and where findings go. */
struct examination {
    const struct doctor_options *options;
    const struct reading *before; /* at is 0 if there is only one reading */
    const struct reading *now;
    const struct rule *rule;           /* the rule that is tried */
    struct engine *engine;             /* for rules that read a table themselves; or NULL */
    const struct drop_probe *drops;    /* NULL: drops are not seen */
    struct connect_failures *failures; /* NULL: calls of connect(2) are not seen */
    const struct port_scan *scans;     /* scans in all network namespaces */
    size_t scan_count;
    struct connects *sends; /* who sends on UDP sockets, in all network namespaces; or NULL */
    struct hash_table *dns; /* servers of DNS (dns.h) in all network namespaces; or NULL */
    bool sees_dns;          /* queries by UDP were seen (dns_probe.h) */
    struct owners *owners;  /* searched when a rule first needs them */
    struct owners_program *program;
    uint64_t *done;      /* bit n: the first examination passed on findings of rules[n] */
    bool is_first;       /* only rules for which one reading is enough are tried */
    bool follows_first;  /* the first examination has tried these rules with `before` */
    bool is_other_netns; /* with all_netns: this is not the own netns */
    uint64_t explained;  /* packets without a route (IP_INNOROUTES) that a rule has reported */
    bool searched_owners;
    bool lacks_owner;  /* a finding names no process, because its process is not visible */
    bool is_captured;  /* the tree is not this machine's own /proc, so files may be missing */
    bool lacking;      /* a reading or a sysctl is missing, without which no part can be tried */
    char missing[160]; /* names of the data without which parts of the rule cannot be tried */
    struct doctor_summary *summary;
    struct report *report;
    record_fn fn;
    void *arg;
    int error;
};

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Returns the growth between the readings; 0: there is one reading, or no known number. */
uint64_t counter_moved(const struct examination *examination, enum kernel_number counter);
/* Returns the current value; 0 if it is unknown. */
uint64_t counter_total(const struct examination *examination, enum kernel_number counter);
/* Returns whether this network namespace should have the sysctl, but it is unknown. */
bool sysctl_is_missing(const struct examination *examination, enum kernel_number sysctl);
/* Returns a sysctl; UINT64_MAX if it is unknown, because nothing reaches such a limit. */
uint64_t sysctl_of(struct examination *examination, enum kernel_number sysctl);
/* Returns the seconds between the readings, rounded to few digits. */
double seconds_between(const struct examination *examination);

/* Returns whether `value` is at least `percent` % of `whole`. */
static inline bool reaches(uint64_t value, unsigned percent, uint64_t whole)
{
    return whole && whole <= UINT64_MAX / 100 && value <= UINT64_MAX / 100 &&
           value * 100 >= whole * percent;
}

/* --- Findings --------------------------------------------------------------------------------- */

enum { ENDPOINT_TEXT = TEXT_ADDRESS_PORT_MAX + 1, PROCESS_TEXT = 96 };

/* Begins a finding of the rule that is tried. The format makes the subject ("": the process). */
void finding_begin(struct finding *finding, const struct examination *examination,
                   enum severity severity, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void finding_summary(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a piece of evidence. */
void finding_evidence(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets the process of the finding, and writes its text: "nginx" (pid 812). A program chooses its
 * name, but cannot end the quotes. */
void finding_process(struct finding *finding, char text[PROCESS_TEXT], const char *name,
                     uint32_t pid);
/* Passes the finding on. ABSENT: it has no such number. With one reading, `moved` is unknown. */
#define ABSENT UINT64_MAX
void finding_emit(struct finding *finding, struct examination *examination, uint64_t value,
                  uint64_t limit, uint64_t moved);

/* Concludes where connections to the peer end, as fastnet-why(8) does, and sets finding->cause. If
 * the cause is certain, takes its advice and command, too. waiting: the connections; NULL: they
 * were refused. attempt: how a connection fails; attempt->retransmits + 1 is the least number of
 * packets that the cause must have dropped. verdict.c */
void finding_explain(struct finding *finding, const struct examination *examination,
                     const struct suspects *waiting, const struct endpoint *peer,
                     const struct attempt_result *attempt);

/* Returns why connect(2) fails with this errno before a packet is sent; NULL: it does not.
 * rules_refused.c */
const char *error_at_once_meaning(int number);

/* Returns whether the end is port 853 of a server that answers DNS on port 53 between the readings:
 * programs try DNS over TLS, and do without it. servers: struct dns_server. rules_dns.c */
bool dns_needs_no_tls(const struct examination *examination, const struct hash_table *servers,
                      const struct endpoint *end);

/* Notes the listener that gets the SYNs without an answer, if it is in another network namespace of
 * this machine: finding_explain() sees then whether it drops them. verdict.c */
void reading_note_listener(struct reading *reading, const struct doctor_options *options);

static inline const char *loss_noun(const struct loss *loss, uint64_t count)
{
    return count == 1 ? loss->one : loss->many;
}

/* Reports losses since the machine started. Call this if the counter does not grow now. */
void emit_past(struct examination *examination, uint64_t total, const char *counter,
               const struct loss *loss);

/* --- Parts of rules --------------------------------------------------------------------------- */

/* Finds which parts of the rule lack data. Sets `lacking` and `missing`. parts.c */
void parts_check(struct examination *examination);

/* Returns whether a file of a captured tree is missing, because it would have the number. On the
 * own machine, a kernel without the number has nothing to count. */
bool parts_lack_number(const struct examination *examination, enum kernel_number number);

/* Notes that the rule is tried without a part: "no `before``name`". */
void parts_add_missing(struct examination *examination, const char *before, const char *name);

/* --- Names ------------------------------------------------------------------------------------ */

/* Write 0.0.0.0:443 or [::1]:22, or the address alone if the port is 0. Both return `text`. */
const char *endpoint_text(char text[ENDPOINT_TEXT], const struct endpoint *endpoint);
const char *address_text(char text[ENDPOINT_TEXT], const struct address *address);

/* Returns the name of an interface, or words that say that it is unknown. rules_peers.c */
const char *interface_name(const struct reading *reading, uint32_t index);

/* Writes the process that holds the socket, in quotes, or "a process that is not visible". A
 * visible process becomes the process of the finding. */
void process_text(char text[PROCESS_TEXT], struct examination *examination, struct finding *finding,
                  uint64_t inode);

/* Returns the owners of sockets, or NULL if they cannot be found. */
struct owners *owners_of(struct examination *examination);

/* Returns the first owner of a socket; NULL: it has no owner, or the owner is not visible. */
const struct owner *owner_of(struct examination *examination, uint64_t inode);

/* A process, the number of its sockets in a list, and one of these sockets. */
struct holder {
    const struct owner_process *process;
    uint64_t count;
    const struct doctor_socket *socket;
    /* In CLOSE_WAIT, see struct doctor_socket: */
    uint64_t old, kept;
    uint64_t closed; /* the largest number of a service */
    uint64_t older;
};

/* Finds the processes that hold the sockets, each once, with its number of sockets. Returns the
 * number of processes. The caller frees *found. If `least` or more of the sockets belong to
 * processes that are not visible, reports this, and calls the sockets `what`; NULL: no message. */
size_t find_holders(struct examination *examination, const struct doctor_sockets *held,
                    const char *what, size_t least, struct holder **found);

/* Compares two struct holder by their processes. */
int holders_compare(const void *one, const void *other);

/* --- Rules, by subject ------------------------------------------------------------------------ */

/* Rules that are only data: counters, or a gauge and its limit. */
void rule_growth(struct examination *examination);  /* rules_counters.c */
void rule_filling(struct examination *examination); /* rules_limits.c */

void rule_accept_queue(struct examination *examination); /* rules_queues.c */
void rule_unix_backlog(struct examination *examination);
void rule_syn_flood(struct examination *examination);
void rule_udp_buffer(struct examination *examination);
void rule_slow_reader(struct examination *examination);

void rule_accept_wait(struct examination *examination); /* rules_accept.c */

void rule_scan(struct examination *examination); /* rules_scan.c */

void rule_storm(struct examination *examination); /* rules_storm.c */
/* If the program is known that opened most of the connections to the peer which ended between the
 * readings, names it as the process of the finding. Writes its name, or "this machine". Returns
 * whether the program has several processes. */
bool storm_add_process(struct finding *finding, const struct examination *examination,
                       const struct endpoint *peer, char process[PROCESS_TEXT]);

void rule_retransmissions(struct examination *examination); /* rules_peers.c */
void rule_peer_not_reading(struct examination *examination);
void rule_peer_gone(struct examination *examination);
void rule_gateway(struct examination *examination);
void rule_no_answer(struct examination *examination);
void rule_mtu(struct examination *examination);

void rule_loss(struct examination *examination); /* rules_paths.c */
void rule_slow_zone(struct examination *examination);
/* Returns how many segments connections lost in a time in which nothing passed, as when a device
 * roams: at most a window each. Also those to peers that acknowledge nothing any more, unless the
 * link may lose them. 0 if the rules about paths are not chosen. */
uint64_t losses_in_outages(const struct examination *examination);

/* Returns whether the rule loss reports where this machine's segments are lost. */
bool loss_is_explained(struct examination *examination);
/* Returns whether the rule loss names the peer, or its network. */
bool loss_names(struct examination *examination, const struct address *peer);

/* Numbers of segments of the whole network namespace, between the readings. */
struct segments {
    uint64_t all;
    uint64_t retransmitted, needless; /* needless: SYNs, and segments that had arrived before */
};
struct segments segments_moved(const struct examination *examination); /* rules_peers.c */

void rule_ephemeral_ports(struct examination *examination); /* rules_limits.c */
/* Returns the number of local ports for connections to one destination; 0: it is unknown. */
uint64_t ephemeral_ports(struct examination *examination);
void rule_tcp_memory(struct examination *examination);
void rule_flow_races(struct examination *examination);
void rule_neighbours(struct examination *examination);

void rule_stale_nat(struct examination *examination); /* rules_nat.c */
void rule_tracking_off(struct examination *examination);

void rule_softnet(struct examination *examination); /* rules_interfaces.c */
void rule_interfaces(struct examination *examination);
void rule_queue_drops(struct examination *examination);
void rule_duplicate_address(struct examination *examination);

void rule_neighbour_flap(struct examination *examination); /* rules_neighbours.c */
void rule_nic_queue(struct examination *examination);      /* rules_nic_queues.c */

void rule_refused(struct examination *examination); /* rules_refused.c */

void rule_dns(struct examination *examination); /* rules_dns.c */

void rule_drops(struct examination *examination); /* rules_drops.c */
/* Returns the number of packets of this network namespace that were dropped for the reason. peer:
 * count only TCP packets to this address (with or without a port); NULL: count all packets. */
uint64_t drops_of(const struct examination *examination, const char *reason, const char *peer);
/* Returns how many of them are UDP packets to a multicast group or a broadcast address. `other`
 * becomes the largest of the remaining rows of the reason; NULL if no row remains. */
uint64_t drops_to_groups(const struct examination *examination, const char *reason,
                         const struct drop **other);
/* Adds evidence to a finding: dropped packets that the finding is about. */
void drops_add_evidence(struct finding *finding, const struct examination *examination);

void rule_multicast(struct examination *examination); /* rules_multicast.c */

void rule_close_wait(struct examination *examination); /* rules_processes.c */
void rule_descriptors(struct examination *examination);
void rule_socket_leak(struct examination *examination);

#endif
