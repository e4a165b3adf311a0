/* SPDX-License-Identifier: MIT */
/* Rules: what they may look at, and how they say what they found. */
#ifndef DOCTOR_RULES_H
#define DOCTOR_RULES_H

#include "doctor/reading.h"
#include "fastnet/doctor.h"
#include "fastnet/drop_probe.h"

struct examination;

/* The words behind the number of a counter. */
struct loss {
    const char *one, *many; /* "datagram was", "datagrams were" */
    const char *what;       /* "dropped because ..." */
};

/* A table that is at least so full is close to its limit: there is still time to act. */
enum { NEARLY_PERCENT = 90 };

/* A counter that should stand still, of a rule that compares nothing else: rule_growth(). */
struct rule_growth {
    const char *subject;        /* of the finding: "IPv4" */
    enum kernel_number counter; /* NO_NUMBER ends a list of these */
    enum kernel_number whole;   /* what the counter is a part of; NO_NUMBER: percent is 0 */
    unsigned percent;           /* of the whole ... */
    unsigned least;             /* ... and so much: less growth is no finding */
    enum kernel_number less;    /* a part of it that does not count, or NO_NUMBER */
    struct loss loss;           /* what the counter counts */
};

/* Something with a limit, of a rule that compares nothing else: rule_filling(). */
struct filling {
    const char *subject, *what;   /* what fills it: "connections in TIME_WAIT" */
    unsigned percent;             /* from here on it is nearly full; 0: never */
    struct loss loss;             /* what the counter counts that grows when it is full */
    enum kernel_number gauge;     /* how full it is, of its limit */
    enum kernel_number losses[2]; /* the counters that grow when it is full; NO_NUMBER: none */
    enum kernel_number less;      /* a part of the first that does not count, or NO_NUMBER */
    const char *counter;          /* the words for them; NULL: the name of the first one */
    bool harmless;                /* nothing is lost when it is full: a warning */
};

struct rule {
    struct doctor_rule text;
    unsigned needs; /* READS_* */
    unsigned alone; /* one of these needs is enough to find something; 0: all are needed */
    void (*evaluate)(struct examination *examination);
    const struct rule_growth *growths; /* of rule_growth() */
    const struct filling *filling;     /* of rule_filling() */
};

extern const struct rule rules[];
extern const size_t rule_count;

/* The texts of one finding, in which its record lives. */
struct finding {
    struct record record;
    char subject[192], process[64], summary[512], evidence[768], command[1024];
    size_t evidence_length;
};

/* An examination: two readings, and where findings go. */
struct examination {
    const struct doctor_options *options;
    const struct reading *before; /* .at is 0 if there is only one reading */
    const struct reading *now;
    const struct rule *rule;           /* that is tried */
    const struct drop_probe *drops;    /* NULL: packets are not seen */
    struct connect_failures *failures; /* NULL: calls of connect(2) are not seen */
    struct owners *owners;             /* found when they are first needed */
    struct owners_program *program;
    bool elsewhere; /* with all_netns: this is not the namespace that it was started in */
    bool searched_owners;
    bool lacking; /* a sysctl that the rule needs is not known, but ought to be */
    struct doctor_summary *summary;
    struct report *report;
    record_fn fn;
    void *arg;
    int error;
};

/* --- Numbers ---------------------------------------------------------------------------------- */

/* By how much it grew between the readings; 0 if there was only one, or it is not known. */
uint64_t counter_moved(const struct examination *examination, enum kernel_number counter);
/* The current value; 0 if it is unknown. */
uint64_t counter_total(const struct examination *examination, enum kernel_number counter);
/* A sysctl; UINT64_MAX if it is not known, because nothing reaches such a limit. */
uint64_t sysctl_of(struct examination *examination, enum kernel_number sysctl);
/* Seconds between the readings, of few digits. */
double seconds_between(const struct examination *examination);

/* True if value is at least so many percent of the whole. */
static inline bool reaches(uint64_t value, unsigned percent, uint64_t whole)
{
    return whole && whole <= UINT64_MAX / 100 && value <= UINT64_MAX / 100 &&
           value * 100 >= whole * percent;
}

/* --- Findings --------------------------------------------------------------------------------- */

enum { ENDPOINT_TEXT = TEXT_ADDRESS_PORT_MAX + 1, PROCESS_TEXT = 96 };

/* Begins a finding of the rule that is tried; the format is of its subject: "" is the process. */
void finding_begin(struct finding *finding, const struct examination *examination,
                   enum severity severity, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void finding_summary(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a piece of evidence. */
void finding_evidence(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * The process that it is about, and its text: "nginx" (pid 812). A program chooses its name, but
 * cannot end the quotes.
 */
void finding_process(struct finding *finding, char text[PROCESS_TEXT], const char *name,
                     uint32_t pid);
/* Hands it on. UNTOLD is a number that it has not; if there is one reading, nothing has moved. */
#define UNTOLD UINT64_MAX
void finding_emit(struct finding *finding, struct examination *examination, uint64_t value,
                  uint64_t limit, uint64_t moved);

static inline const char *loss_noun(const struct loss *loss, uint64_t count)
{
    return count == 1 ? loss->one : loss->many;
}

/* Reports losses since the start of the machine, if the counter stands still now. */
void say_past(struct examination *examination, uint64_t total, const char *counter,
              const struct loss *loss);

/* --- Names ------------------------------------------------------------------------------------ */

/* 0.0.0.0:443, [::1]:22, or an address without a port (0). They return text. */
const char *endpoint_text(char text[ENDPOINT_TEXT], const struct endpoint *endpoint);
const char *address_text(char text[ENDPOINT_TEXT], const struct address *address);

/* The process that holds the socket, quoted, or "a process that is not visible". If it
 * is visible, the finding keeps its name and number. */
void process_text(char text[PROCESS_TEXT], struct examination *examination, struct finding *finding,
                  uint64_t inode);

/* The owners of sockets, or NULL if they cannot be known. */
struct owners *owners_of(struct examination *examination);

/* The first owner of a socket; NULL: it has none, or it is not visible. */
const struct owner *owner_of(struct examination *examination, uint64_t inode);

/* --- Rules, by subject ------------------------------------------------------------------------ */

/* Rules that are a row: they only compare counters, or a gauge with its limit. */
void rule_growth(struct examination *examination);  /* rules_counters.c */
void rule_filling(struct examination *examination); /* rules_limits.c */

void rule_accept_queue(struct examination *examination); /* rules_queues.c */
void rule_unix_backlog(struct examination *examination);
void rule_syn_flood(struct examination *examination);
void rule_udp_buffer(struct examination *examination);
void rule_slow_reader(struct examination *examination);

void rule_retransmissions(struct examination *examination); /* rules_peers.c */
void rule_peer_not_reading(struct examination *examination);
void rule_peer_gone(struct examination *examination);
void rule_gateway(struct examination *examination);
void rule_no_answer(struct examination *examination);
void rule_mtu(struct examination *examination);

void rule_ephemeral_ports(struct examination *examination); /* rules_limits.c */
void rule_tcp_memory(struct examination *examination);
void rule_flows(struct examination *examination);
void rule_flow_races(struct examination *examination);
void rule_neighbours(struct examination *examination);

void rule_softnet(struct examination *examination); /* rules_interfaces.c */
void rule_interfaces(struct examination *examination);
void rule_queue_drops(struct examination *examination);
void rule_duplicate_address(struct examination *examination);

void rule_refused(struct examination *examination); /* rules_refused.c */

void rule_drops(struct examination *examination); /* rules_drops.c */
/*
 * Packets of this namespace that were dropped for the reason. peer: only those of TCP to it, an
 * address with its port, or alone; or NULL.
 */
uint64_t drops_of(const struct examination *examination, const char *reason, const char *peer);
/* What is seen of packets that a finding is about. */
void drops_add_evidence(struct finding *finding, const struct examination *examination);

void rule_close_wait(struct examination *examination); /* rules_processes.c */
void rule_dns(struct examination *examination);
void rule_descriptors(struct examination *examination);

#endif
