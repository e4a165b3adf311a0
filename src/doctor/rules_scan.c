/* SPDX-License-Identifier: MIT */
/* Machines that try many ports which are closed, or which a firewall protects. */
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/namespace.h"

/* A program that searches for a service tries fewer ports. A scan of a few ports a second is found,
 * if the readings are far enough apart. SCAN_MANY: few bits are left then. SCAN_REPEATS: a scan
 * sends fewer UDP packets to a port. */
enum { SCAN_LEAST = 20, SCAN_MANY = 500, SCAN_REPEATS = 5, SCANNERS_MAX = 8 };

/* A source, its scan with the largest number of ports, and the number of its other scans. */
struct scanner {
    const struct port_scan *scan;
    unsigned ports, more;
};

struct scan_own_ports {
    const struct reading *reading;
    uint64_t bits[SCAN_PORT_BITS / 64];
};

/* Takes a port from which this machine sends, if the program chose it: replies to it are no scan,
 * also after the socket was closed. */
static void scan_take_send(const struct connect *sent, void *arg)
{
    struct scan_own_ports *own = arg;

    if (!is_ephemeral_port(own->reading, sent->local_port))
        bits_add(own->bits, sent->local_port % SCAN_PORT_BITS);
}

/* Returns the number of ports, which is at least this number; 0: they may have been the ports of
 * clients that do not wait any more, or streams (RTP) for a program that does not run. */
static unsigned scan_ports(const struct port_scan *scan, const struct scan_own_ports *own)
{
    unsigned count = 0;

    if (scan->protocol == IPPROTO_UDP && own->reading->counts.numbers[PORT_FIRST] < SCAN_UDP_PORTS)
        return 0;
    for (size_t i = 0; i < COUNT(scan->ports); i++)
        count += (unsigned)__builtin_popcountll(
            scan->ports[i] & ~(scan->protocol == IPPROTO_UDP ? own->bits[i] : 0));
    const bool streams = scan->protocol == IPPROTO_UDP && count <= SCAN_MANY &&
                         scan->packets > (uint64_t)SCAN_REPEATS * count;
    return streams ? 0 : count;
}

/* Keeps the scan if it is among the largest. */
static void scanners_add(struct scanner scanners[SCANNERS_MAX], const struct port_scan *scan,
                         unsigned ports)
{
    struct scanner *at = scanners, *smallest = scanners;

    while (at < scanners + SCANNERS_MAX && at->scan &&
           !address_equal(&at->scan->source, &scan->source)) {
        smallest = at->ports < smallest->ports ? at : smallest;
        at++;
    }
    if (at == scanners + SCANNERS_MAX) {
        if (ports > smallest->ports)
            *smallest = (struct scanner){scan, ports, 0};
        return;
    }
    at->more += at->scan != NULL;
    if (ports > at->ports) {
        at->scan = scan;
        at->ports = ports;
    }
}

static void emit_scan(struct examination *examination, const struct scanner *scanner)
{
    const struct port_scan *scan = scanner->scan;
    char source[ENDPOINT_TEXT], destination[ENDPOINT_TEXT], command[128];
    const bool filtered = scan->filtered > scan->packets / 2;
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  address_text(source, &scan->source));
    finding_summary(&finding,
                    "%s tries many ports of %s%s: at least %u %s ports in %.7g s, %" PRIu64
                    " packets were dropped",
                    source, address_text(destination, &scan->destination),
                    filtered ? " that a firewall protects" : " that no socket is bound to",
                    scanner->ports, scan->protocol == IPPROTO_TCP ? "TCP" : "UDP",
                    seconds_between(examination), scan->packets);
    finding_evidence(&finding, "the last packet was for port %u", scan->port);
    finding_evidence(&finding, "reason NO_SOCKET: %" PRIu64 ", NETFILTER_DROP: %" PRIu64,
                     scan->packets - scan->filtered, scan->filtered);
    if (scanner->more)
        finding_evidence(&finding, "%u more scan%s of other addresses or protocols", scanner->more,
                         scanner->more == 1 ? "" : "s");
    snprintf(command, sizeof command, "fastnet traffic any --host %s --count-by src,dst", source);
    finding.record.finding.command = as_text(command);
    finding_emit(&finding, examination, scanner->ports, ABSENT, scan->packets);
}

/* Most sources try a port again and again, or a few ports. */
void rule_scan(struct examination *examination)
{
    const double seconds = seconds_between(examination);
    const unsigned least = seconds < SCAN_LEAST  ? SCAN_LEAST
                           : seconds > SCAN_MANY ? SCAN_MANY
                                                 : (unsigned)seconds;
    const uint64_t netns = namespace_own_id();
    struct scan_own_ports own = {.reading = examination->now};
    struct scanner scanners[SCANNERS_MAX] = {{.scan = NULL}};
    bool knows_own = false; /* all slots of sends are read only if there is a scan */

    for (size_t i = 0; i < examination->scan_count; i++) {
        const struct port_scan *scan = &examination->scans[i];
        if (!netns || scan->netns != netns)
            continue;
        if (!knows_own && examination->sends)
            connects_each_send(examination->sends, scan_take_send, &own);
        knows_own = true;
        const unsigned ports = scan_ports(scan, &own);
        if (ports >= least)
            scanners_add(scanners, scan, ports);
    }
    for (size_t i = 0; i < SCANNERS_MAX && scanners[i].scan; i++)
        emit_scan(examination, &scanners[i]);
}
