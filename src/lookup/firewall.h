/* SPDX-License-Identifier: MIT */
/* The rules of a firewall in a form that firewall_judge() can run. A chain has rules, and a rule
 * has steps. A step is an expression of nftables (nft(8)), or the part of it that is known. */
#ifndef LOOKUP_FIREWALL_H
#define LOOKUP_FIREWALL_H

#include <stddef.h>

#include "fastnet/firewall.h"
#include "fastnet/text.h"

/* REGISTER_BYTES: the kernel's registers, NFT_REG_1 to NFT_REG_4. KEY_BYTES: longer keys of sets
 * are not read. STEPS_MAX, ELEMENTS_MAX: more of them are not kept. */
enum { REGISTER_BYTES = 64, KEY_BYTES = 24, STEPS_MAX = 500000, ELEMENTS_MAX = 200000 };
enum { NO_INDEX = -1, PORTS_MAX = 15 };
enum { JUMPS_MAX = 16 }; /* NFT_JUMP_STACK_SIZE of the kernel's nf_tables.h */

enum firewall_operation {
    STEP_NOTHING,  /* only while a rule is decoded */
    STEP_LOAD,     /* a part of the packet goes to the register `to` */
    STEP_CONSTANT, /* `first` goes to the register `to` */
    STEP_BITWISE,  /* `to` = `from` & first ^ second */
    /* The kernel ends the rule unless the condition of the step is true. */
    STEP_COMPARE, /* the register `from` compares with `first` as `source` says */
    STEP_RANGE,   /* `from` is between `first` and `second` */
    STEP_LOOKUP,  /* a set has `from`; a map also yields a value or a verdict */
    STEP_PORTS,   /* the destination port is one of `ports` */
    STEP_STATES,  /* the state of connection tracking is one of `states` */
    STEP_MAYBE,   /* the condition is not known here, and registers get any content */
    STEP_VERDICT, /* ends the rule */
};

/* Sources of STEP_LOAD. */
enum firewall_load {
    LOAD_ETHERTYPE,
    LOAD_FAMILY,   /* NFPROTO_* */
    LOAD_PROTOCOL, /* IPPROTO_* */
    LOAD_INTERFACE,
    LOAD_INTERFACE_NAME,
    LOAD_STATE,     /* the state of connection tracking */
    LOAD_STATUS,    /* IPS_* of connection tracking */
    LOAD_NETWORK,   /* bytes of the IP header */
    LOAD_TRANSPORT, /* bytes of the header after it */
};

enum firewall_verdict {
    VERDICT_CONTINUE,
    VERDICT_ACCEPT,
    VERDICT_DROP,
    VERDICT_RETURN,
    VERDICT_JUMP,
    VERDICT_GOTO,
};

struct firewall_step {
    uint8_t operation;      /* enum firewall_operation */
    uint8_t source;         /* enum firewall_load, enum nft_cmp_ops, or enum firewall_verdict */
    uint8_t from, to;       /* registers: number of their first byte */
    uint8_t offset, length; /* the loaded or compared bytes */
    bool inverted;          /* the condition is the opposite: of ranges, lookups, ports, states */
    bool maps;              /* STEP_LOOKUP: `to` gets the value of a map */
    bool partly;            /* STEP_PORTS: there are further conditions */
    int32_t index;          /* STEP_LOOKUP: the set; STEP_VERDICT: the chain; or NO_INDEX */
    union {
        struct {
            uint8_t first[16], second[16];
        };
        struct {
            uint16_t ports[PORTS_MAX]; /* `length` of them, host byte order */
            uint16_t ranges;           /* bit n: ports[n] to ports[n + 1] are a range */
        };
        uint32_t states;
    };
};

/* Effects of a rule besides its verdict. */
enum firewall_effect {
    EFFECT_REWRITES = 1,    /* may give the packet another port or address */
    EFFECT_DIVERTS = 2,     /* may hand the packet to any socket, or is not known here */
    EFFECT_COPIES = 4,      /* sends a copy of the packet, which may come back by lo */
    EFFECT_UNTRACKS = 8,    /* takes the packet away from connection tracking */
    EFFECT_EXPECTS = 32,    /* a helper, which makes connections to any port RELATED */
    EFFECT_TRACKS = 64,     /* needs connection tracking of the table's family */
    EFFECT_TRANSLATES = 16, /* the same as EFFECT_REWRITES, only at hooks prerouting and output */
};

enum { FIREWALL_CLASSES = 12 };

struct firewall_rule {
    uint32_t first, count;              /* its steps */
    uint16_t port, port_last;           /* the rule does nothing with packets to other ports */
    uint8_t outcomes[FIREWALL_CLASSES]; /* firewall_judge.c keeps them; 0: unknown */
};

/* Hooks as far as they matter here. HOOK_NONE: any hook may lead to the chain. */
enum firewall_hook { HOOK_NONE, HOOK_OTHER, HOOK_DEVICE, HOOK_PREROUTING, HOOK_INPUT };

/* The table and the name of a chain or set. */
struct firewall_name {
    uint8_t family; /* NFPROTO_* */
    char *text;     /* table, NUL, name, NUL */
    size_t length;
};

struct firewall_chain {
    struct firewall_name name;
    bool is_base, is_nat, drops; /* drops: the policy */
    bool is_early;               /* comes before connection tracking */
    bool is_first;               /* comes before connection tracking puts fragments together */
    enum firewall_hook hook;
    uint32_t first, count; /* its rules */
    uint32_t run;          /* number of the run in which `outcome` and `compares` were found */
    unsigned outcome;
    bool compares;
};

struct firewall_element {
    uint8_t first[KEY_BYTES], last[KEY_BYTES];
    bool ends;       /* before the set is finished: `first` is the end of an interval */
    bool any;        /* matches if no other element does */
    bool maybe;      /* has an expression of its own, such as a limit */
    uint8_t verdict; /* enum firewall_verdict */
    int32_t chain;   /* VERDICT_JUMP and VERDICT_GOTO: index of the chain */
};

struct firewall_set {
    struct firewall_name name;
    uint32_t flags; /* NFT_SET_* */
    uint32_t key_length;
    bool has_verdicts;
    bool is_read;          /* it has all of its elements */
    uint32_t first, count; /* its elements */
};

struct firewall {
    bool is_known;       /* else each packet is REACH_UNKNOWN */
    char unknown[80];    /* why it is not */
    bool rewrites;       /* hook prerouting: a packet may get another port or address */
    bool expects;        /* rules may see a first packet in state RELATED */
    bool drops_early;    /* chains at devices or bridges may drop packets */
    bool untracks;       /* rules may see a first packet in another state than NEW */
    bool tracks_ipv6;    /* connection tracking puts fragments of IPv6 together */
    bool sees_fragments; /* fragments of IPv6 may have no protocol and no port */
    struct firewall_chain *chains;
    struct firewall_set *sets;
    struct firewall_rule *rules;
    struct firewall_step *steps;
    struct firewall_element *elements;
    size_t chain_count, chain_capacity, set_count, set_capacity, rule_count, rule_capacity,
        step_count, step_capacity, element_count, element_capacity;
    uint32_t runs;
};

/* Add a chain or set with this name; the caller fills in the rest. Return NULL if memory is short.
 */
struct firewall_chain *firewall_add_chain(struct firewall *firewall, uint8_t family,
                                          struct text table, struct text name);
struct firewall_set *firewall_add_set(struct firewall *firewall, uint8_t family, struct text table,
                                      struct text name);
/* Call this after the last chain and set, before firewall_find_*(). */
void firewall_sort_names(struct firewall *firewall);
/* Return the index; NO_INDEX: there is no such chain or set. */
int32_t firewall_find_chain(const struct firewall *firewall, uint8_t family, struct text table,
                            struct text name);
int32_t firewall_find_set(const struct firewall *firewall, uint8_t family, struct text table,
                          struct text name);
/* Call this when a set has all of its elements, which are the last of the array. */
void firewall_finish_set(struct firewall *firewall, struct firewall_set *set);
/* Call this when a rule of the chain has these effects (bits enum firewall_effect). `culprit` is
 * the name of an expression, for a message. */
void firewall_note_effects(struct firewall *firewall, const struct firewall_chain *chain,
                           unsigned effects, struct text culprit);
/* Call this when everything was added: is_known is true if the rules can be judged. */
void firewall_finish(struct firewall *firewall);

#endif
