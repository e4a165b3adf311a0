/* SPDX-License-Identifier: MIT */
#include "fastnet/reset_reasons.h"

#include "fastnet/array.h"
#include "fastnet/drop_reasons.h"

/* In the order of the kernel's list. A reason without a meaning is also a reason for drops, and has
 * the meaning of that reason. The reasons of MPTCP are those of RFC 8684, section 3.6. */
static const struct reset_reason {
    const char *name, *meaning;
} reasons[] = {
    {"NOT_SPECIFIED", "the kernel gives no reason"},
    {"NO_SOCKET", NULL},
    {"TCP_INVALID_ACK_SEQUENCE", NULL},
    {"TCP_RFC7323_PAWS", NULL},
    {"TCP_TOO_OLD_ACK", NULL},
    {"TCP_ACK_UNSENT_DATA", NULL},
    {"TCP_FLAGS", NULL},
    {"TCP_OLD_ACK", NULL},
    {"TCP_ABORT_ON_DATA", NULL},
    {"TCP_TIMEWAIT_SOCKET", "a packet came for a connection that is in TIME_WAIT"},
    /* tcp_check_req() of net/ipv4/tcp_minisocks.c uses one reason for both */
    {"INVALID_SYN", "a SYN came for a half-open connection, or the listener's queue is full "
                    "(sysctl tcp_abort_on_overflow)"},
    {"TCP_ABORT_ON_CLOSE", "the process closed the socket before it had read all data, or ended an "
                           "MPTCP connection at once"},
    {"TCP_ABORT_ON_LINGER", "the process closed the socket and waits for no FIN (TCP_LINGER2)"},
    {"TCP_ABORT_ON_MEMORY",
     "too many sockets have no process, or TCP has no memory (sysctl tcp_max_orphans, tcp_mem)"},
    {"TCP_STATE", "the connection was ended at once: by SO_LINGER 0, the end of its listener, "
                  "connect(2) without an address, or ss -K"},
    {"TCP_KEEPALIVE_TIMEOUT", "the peer did not answer keepalive packets"},
    {"TCP_DISCONNECT_WITH_DATA", "the process disconnected the socket before all data was sent"},
    {"MPTCP_RST_EUNSPEC", "MPTCP: this path is no longer available"},
    {"MPTCP_RST_EMPTCP", "MPTCP: the options of MPTCP are wrong"},
    {"MPTCP_RST_ERESOURCE", "MPTCP: resources are missing for this path"},
    {"MPTCP_RST_EPROHIBIT", "MPTCP: a policy forbids this path"},
    {"MPTCP_RST_EWQ2BIG", "MPTCP: too much data waits that another path has delivered"},
    {"MPTCP_RST_EBADPERF", "MPTCP: this path is too slow"},
    {"MPTCP_RST_EMIDDLEBOX", "MPTCP: a machine on this path changes packets"},
    {"ERROR", "an unexpected error of the kernel"},
};

const char *reset_reason_meaning(struct text reason)
{
    for (size_t i = 0; i < COUNT(reasons); i++) {
        if (!text_is(reason, reasons[i].name))
            continue;
        return reasons[i].meaning ? reasons[i].meaning
                                  : drop_reason_find(reason, as_text(""))->meaning;
    }
    return NULL;
}

const char *reset_reason_word(uint64_t i)
{
    return i < COUNT(reasons) ? reasons[i].name : NULL;
}
