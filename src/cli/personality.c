#include "cli/personality.h"

#include "cli/arp_options.h"
#include "cli/conntrack_options.h"
#include "cli/neigh_options.h"
#include "cli/netstat_options.h"

const struct personality personalities[PERSONALITIES_MAX] = {
    {"netstat", netstat_run, &netstat_grammar},
    {"arp", arp_run, &arp_grammar},
    {"neigh", neigh_run, &neigh_grammar},
    {"conntrack", conntrack_run, &conntrack_grammar},
    {"ss", NULL, NULL},
};

const size_t personality_count = PERSONALITIES_MAX;
