#include "cli/personality.h"

#include "cli/arp_options.h"
#include "cli/conntrack/conntrack_options.h"
#include "cli/neigh_options.h"
#include "cli/netstat/netstat_options.h"
#include "fastnet/rights.h"

const struct personality personalities[PERSONALITIES_MAX] = {
    {"netstat", netstat_run, &netstat_grammar, RIGHTS_ALL},
    {"arp", arp_run, &arp_grammar, 1u << RIGHT_READ},
    {"neigh", neigh_run, &neigh_grammar, 1u << RIGHT_READ},
    {"conntrack", conntrack_run, &conntrack_grammar, RIGHTS_ALL},
    {"ss", NULL, NULL, 0},
};

const size_t personality_count = PERSONALITIES_MAX;
