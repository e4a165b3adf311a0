/*
 * The counters that net-tools 2.10 knows, and its words for them, with their spelling errors,
 * because scripts match them. net-tools does a binary search in a table that is not sorted
 * everywhere, so that it never finds some names (Forwarding, TCPTimeouts, TCPSackRecovery ...); and
 * one name has a blank too many (Icmp6OutRouterAdvertisements). It shows these as names that it
 * does not know, so they are not in these tables.
 */
#include "format/counter/statistics_texts.h"
#include "fastnet/array.h"

#include <string.h>

static const struct statistics_text ip_texts[] = {
    {"DefaultTTL", "", "", STATISTICS_HIDDEN},
    {"ForwDatagrams", "", " forwarded", STATISTICS_ALWAYS},
    {"FragCreates", "", " fragments created", STATISTICS_NONZERO},
    {"FragFails", "", " outgoing packets failed fragmentation", STATISTICS_NONZERO},
    {"FragOKs", "", " outgoing packets fragmented ok", STATISTICS_NONZERO},
    {"InAddrErrors", "", " with invalid addresses", STATISTICS_NONZERO},
    {"InDelivers", "", " incoming packets delivered", STATISTICS_ALWAYS},
    {"InDiscards", "", " incoming packets discarded", STATISTICS_ALWAYS},
    {"InHdrErrors", "", " with invalid headers", STATISTICS_NONZERO},
    {"InReceives", "", " total packets received", STATISTICS_ALWAYS},
    {"InUnknownProtos", "", " with unknown protocol", STATISTICS_NONZERO},
    {"OutDiscards", "", " outgoing packets dropped", STATISTICS_NONZERO},
    {"OutNoRoutes", "", " dropped because of missing route", STATISTICS_NONZERO},
    {"OutRequests", "", " requests sent out", STATISTICS_ALWAYS},
    {"ReasmFails", "", " packet reassemblies failed", STATISTICS_NONZERO},
    {"ReasmOKs", "", " packets reassembled ok", STATISTICS_NONZERO},
    {"ReasmReqds", "", " reassemblies required", STATISTICS_NONZERO},
    {"ReasmTimeout", "", " fragments dropped after timeout", STATISTICS_NONZERO},
};

static const struct statistics_text icmp_texts[] = {
    {"InAddrMaskReps", "address mask replies: ", "", STATISTICS_INPUT},
    {"InAddrMasks", "address mask request: ", "", STATISTICS_INPUT},
    {"InDestUnreachs", "destination unreachable: ", "", STATISTICS_INPUT},
    {"InEchoReps", "echo replies: ", "", STATISTICS_INPUT},
    {"InEchos", "echo requests: ", "", STATISTICS_INPUT},
    {"InErrors", "", " input ICMP message failed", STATISTICS_ALWAYS},
    {"InMsgs", "", " ICMP messages received", STATISTICS_ALWAYS},
    {"InParmProbs", "wrong parameters: ", "", STATISTICS_INPUT},
    {"InRedirects", "redirects: ", "", STATISTICS_INPUT},
    {"InSrcQuenchs", "source quenches: ", "", STATISTICS_INPUT},
    {"InTimeExcds", "timeout in transit: ", "", STATISTICS_INPUT},
    {"InTimestampReps", "timestamp reply: ", "", STATISTICS_INPUT},
    {"InTimestamps", "timestamp request: ", "", STATISTICS_INPUT},
    {"OutAddrMaskReps", "address mask replies: ", "", STATISTICS_OUTPUT},
    {"OutAddrMasks", "address mask requests: ", "", STATISTICS_OUTPUT},
    {"OutDestUnreachs", "destination unreachable: ", "", STATISTICS_OUTPUT},
    {"OutEchoReps", "echo replies: ", "", STATISTICS_OUTPUT},
    {"OutEchos", "echo requests: ", "", STATISTICS_OUTPUT},
    {"OutErrors", "", " ICMP messages failed", STATISTICS_ALWAYS},
    {"OutMsgs", "", " ICMP messages sent", STATISTICS_ALWAYS},
    {"OutParmProbs", "wrong parameters: ", "", STATISTICS_OUTPUT},
    {"OutRedirects", "redirect: ", "", STATISTICS_OUTPUT},
    {"OutSrcQuenchs", "source quench: ", "", STATISTICS_OUTPUT},
    {"OutTimeExcds", "time exceeded: ", "", STATISTICS_OUTPUT},
    {"OutTimestampReps", "timestamp replies: ", "", STATISTICS_OUTPUT},
    {"OutTimestamps", "timestamp requests: ", "", STATISTICS_OUTPUT},
};

static const struct statistics_text tcp_texts[] = {
    {"ActiveOpens", "", " active connection openings", STATISTICS_ALWAYS},
    {"AttemptFails", "", " failed connection attempts", STATISTICS_ALWAYS},
    {"CurrEstab", "", " connections established", STATISTICS_ALWAYS},
    {"EstabResets", "", " connection resets received", STATISTICS_ALWAYS},
    {"InErrs", "", " bad segments received", STATISTICS_ALWAYS},
    {"InSegs", "", " segments received", STATISTICS_ALWAYS},
    {"MaxConn", "", "", STATISTICS_HIDDEN},
    {"OutRsts", "", " resets sent", STATISTICS_ALWAYS},
    {"OutSegs", "", " segments sent out", STATISTICS_ALWAYS},
    {"PassiveOpens", "", " passive connection openings", STATISTICS_ALWAYS},
    {"RetransSegs", "", " segments retransmitted", STATISTICS_ALWAYS},
    {"RtoAlgorithm", "", "", STATISTICS_HIDDEN},
    {"RtoMax", "", "", STATISTICS_HIDDEN},
    {"RtoMin", "", "", STATISTICS_HIDDEN},
};

static const struct statistics_text udp_texts[] = {
    {"InDatagrams", "", " packets received", STATISTICS_ALWAYS},
    {"InErrors", "", " packet receive errors", STATISTICS_ALWAYS},
    {"NoPorts", "", " packets to unknown port received", STATISTICS_ALWAYS},
    {"OutDatagrams", "", " packets sent", STATISTICS_ALWAYS},
    {"RcvbufErrors", "", " receive buffer errors", STATISTICS_ALWAYS},
    {"SndbufErrors", "", " send buffer errors", STATISTICS_ALWAYS},
};

static const struct statistics_text sctp_texts[] = {
    {"SctpAborteds", "", " Number of Aborteds ", STATISTICS_ALWAYS},
    {"SctpActiveEstabs", "", " Active Associations", STATISTICS_ALWAYS},
    {"SctpChecksumErrors", "", " Number of Packets with invalid Checksum", STATISTICS_ALWAYS},
    {"SctpCurrEstab", "", " Current Associations", STATISTICS_ALWAYS},
    {"SctpFragUsrMsgs", "", " Number of messages fragmented", STATISTICS_ALWAYS},
    {"SctpInCtrlChunks", "", " Number of control chunks received", STATISTICS_ALWAYS},
    {"SctpInOrderChunks", "", " Number of ordered chunks received", STATISTICS_ALWAYS},
    {"SctpInSCTPPacks", "", " Number of SCTP packets received", STATISTICS_ALWAYS},
    {"SctpInUnorderChunks", "", " Number of Unordered chunks received", STATISTICS_ALWAYS},
    {"SctpOutCtrlChunks", "", " Number of control chunks sent", STATISTICS_ALWAYS},
    {"SctpOutOfBlues", "", " Number of Out of Blue packets", STATISTICS_ALWAYS},
    {"SctpOutOrderChunks", "", " Number of ordered chunks sent", STATISTICS_ALWAYS},
    {"SctpOutSCTPPacks", "", " Number of SCTP packets sent", STATISTICS_ALWAYS},
    {"SctpOutUnorderChunks", "", " Number of Unordered chunks sent", STATISTICS_ALWAYS},
    {"SctpPassiveEstabs", "", " Passive Associations", STATISTICS_ALWAYS},
    {"SctpReasmUsrMsgs", "", " Number of messages reassembled ", STATISTICS_ALWAYS},
    {"SctpShutdowns", "", " Number of Graceful Terminations", STATISTICS_ALWAYS},
};

static const struct statistics_text tcpext_texts[] = {
    {"DelayedACKLocked", "", " delayed acks further delayed because of locked socket",
     STATISTICS_NONZERO},
    {"DelayedACKLost", "Quick ack mode was activated ", " times", STATISTICS_NONZERO},
    {"DelayedACKs", "", " delayed acks sent", STATISTICS_NONZERO},
    {"EmbryonicRsts", "", " resets received for embryonic SYN_RECV sockets", STATISTICS_NONZERO},
    {"ListenDrops", "", " SYNs to LISTEN sockets dropped", STATISTICS_NONZERO},
    {"ListenOverflows", "", " times the listen queue of a socket overflowed", STATISTICS_NONZERO},
    {"LockDroppedIcmps", "", " ICMP packets dropped because socket was locked", STATISTICS_NONZERO},
    {"OfoPruned", "", " packets dropped from out-of-order queue because of socket buffer overrun",
     STATISTICS_NONZERO},
    {"OutOfWindowIcmps", "", " ICMP packets dropped because they were out-of-window",
     STATISTICS_NONZERO},
    {"PAWSActive", "", " active connections rejected because of time stamp", STATISTICS_NONZERO},
    {"PAWSEstab", "", " packets rejected in established connections because of timestamp",
     STATISTICS_NONZERO},
    {"PAWSPassive", "", " passive connections rejected because of time stamp", STATISTICS_NONZERO},
    {"PruneCalled", "", " packets pruned from receive queue because of socket buffer overrun",
     STATISTICS_NONZERO},
    {"RcvPruned", "", " packets pruned from receive queue", STATISTICS_NONZERO},
    {"SockMallocOOM", "Ran ", " times out of system memory during packet sending",
     STATISTICS_NONZERO},
    {"SyncookiesFailed", "", " invalid SYN cookies received", STATISTICS_NONZERO},
    {"SyncookiesRecv", "", " SYN cookies received", STATISTICS_NONZERO},
    {"SyncookiesSent", "", " SYN cookies sent", STATISTICS_NONZERO},
    {"TCPAbortFailed", "", " times unable to send RST due to no memory", STATISTICS_NONZERO},
    {"TCPAbortOnClose", "", " connections reset due to early user close", STATISTICS_NONZERO},
    {"TCPAbortOnData", "", " connections reset due to unexpected data", STATISTICS_NONZERO},
    {"TCPAbortOnLinger", "", " connections aborted after user close in linger timeout",
     STATISTICS_NONZERO},
    {"TCPAbortOnMemory", "", " connections aborted due to memory pressure", STATISTICS_NONZERO},
    {"TCPAbortOnSyn", "", " connections reset due to unexpected SYN", STATISTICS_NONZERO},
    {"TCPAbortOnTimeout", "", " connections aborted due to timeout", STATISTICS_NONZERO},
    {"TCPDirectCopyFromBacklog", "", " bytes directly in process context from backlog",
     STATISTICS_NONZERO},
    {"TCPFACKReorder", "Detected reordering ", " times using FACK", STATISTICS_NONZERO},
    {"TCPFastRetrans", "", " fast retransmits", STATISTICS_NONZERO},
    {"TCPForwardRetrans", "", " forward retransmits", STATISTICS_NONZERO},
    {"TCPFullUndo", "", " congestion windows fully recovered without slow start",
     STATISTICS_NONZERO},
    {"TCPHPAcks", "", " predicted acknowledgments", STATISTICS_NONZERO},
    {"TCPHPHits", "", " packet headers predicted", STATISTICS_ALWAYS},
    {"TCPHPHitsToUser", "", " packet headers predicted and directly queued to user",
     STATISTICS_NONZERO},
    {"TCPLossFailures", "", " timeouts in loss state", STATISTICS_NONZERO},
    {"TCPLossUndo", "", " congestion windows recovered without slow start after partial ack",
     STATISTICS_NONZERO},
    {"TCPLostRetransmits", "", " retransmits lost", STATISTICS_NONZERO},
    {"TCPMemoryPressures", "TCP ran low on memory ", " times", STATISTICS_NONZERO},
    {"TCPPartialUndo", "", " congestion windows partially recovered using Hoe heuristic",
     STATISTICS_NONZERO},
    {"TCPPrequeued", "", " packets directly queued to recvmsg prequeue", STATISTICS_NONZERO},
    {"TCPPureAcks", "", " acknowledgments not containing data payload received",
     STATISTICS_NONZERO},
    {"TCPRcvCollapsed", "", " packets collapsed in receive queue due to low socket buffer",
     STATISTICS_NONZERO},
    {"TCPRenoFailures", "", " timeouts after reno fast retransmit", STATISTICS_NONZERO},
    {"TCPRenoRecovery", "", " times recovered from packet loss due to fast retransmit",
     STATISTICS_NONZERO},
    {"TCPRenoReorder", "Detected reordering ", " times using reno fast retransmit",
     STATISTICS_NONZERO},
    {"TCPSACKReorder", "Detected reordering ", " times using SACK", STATISTICS_NONZERO},
    {"TCPSchedulerFailed", "", " times receiver scheduled too late for direct processing",
     STATISTICS_NONZERO},
    {"TCPSlowStartRetrans", "", " retransmits in slow start", STATISTICS_NONZERO},
    {"TCPTSReorder", "Detected reordering ", " times using time stamp", STATISTICS_NONZERO},
    {"TW", "", " TCP sockets finished time wait in fast timer", STATISTICS_NONZERO},
    {"TWRecycled", "", " time wait sockets recycled by time stamp", STATISTICS_NONZERO},
};

static const struct statistics_text ip6_texts[] = {
    {"Ip6FragCreates", "", " fragments created", STATISTICS_NONZERO},
    {"Ip6FragFails", "", " outgoing packets failed fragmentation", STATISTICS_NONZERO},
    {"Ip6FragOKs", "", " outgoing packets fragmented ok", STATISTICS_NONZERO},
    {"Ip6InAddrErrors", "", " with invalid addresses", STATISTICS_NONZERO},
    {"Ip6InDelivers", "", " incoming packets delivered", STATISTICS_ALWAYS},
    {"Ip6InDiscards", "", " incoming packets discarded", STATISTICS_ALWAYS},
    {"Ip6InHdrErrors", "", " with invalid headers", STATISTICS_NONZERO},
    {"Ip6InMcastPkts", "", " incoming multicast packets", STATISTICS_NONZERO},
    {"Ip6InNoRoutes", "", " incoming packets with no route", STATISTICS_NONZERO},
    {"Ip6InReceives", "", " total packets received", STATISTICS_ALWAYS},
    {"Ip6InTooBigErrors", "", " with packets too big", STATISTICS_NONZERO},
    {"Ip6InTruncatedPkts", "", " with truncated packets", STATISTICS_NONZERO},
    {"Ip6InUnknownProtos", "", " with unknown protocol", STATISTICS_NONZERO},
    {"Ip6OutDiscards", "", " outgoing packets dropped", STATISTICS_NONZERO},
    {"Ip6OutForwDatagrams", "", " forwarded", STATISTICS_ALWAYS},
    {"Ip6OutMcastPkts", "", " outgoing multicast packets", STATISTICS_NONZERO},
    {"Ip6OutNoRoutes", "", " dropped because of missing route", STATISTICS_NONZERO},
    {"Ip6OutRequests", "", " requests sent out", STATISTICS_ALWAYS},
    {"Ip6ReasmFails", "", " packet reassemblies failed", STATISTICS_NONZERO},
    {"Ip6ReasmOKs", "", " packets reassembled ok", STATISTICS_NONZERO},
    {"Ip6ReasmReqds", "", " reassemblies required", STATISTICS_NONZERO},
    {"Ip6ReasmTimeout", "", " fragments dropped after timeout", STATISTICS_NONZERO},
};

static const struct statistics_text icmp6_texts[] = {
    {"Icmp6InDestUnreachs", "destination unreachable: ", "", STATISTICS_INPUT},
    {"Icmp6InEchoReplies", "echo replies: ", "", STATISTICS_INPUT},
    {"Icmp6InEchos", "echo requests: ", "", STATISTICS_INPUT},
    {"Icmp6InErrors", "", " input ICMP message failed", STATISTICS_ALWAYS},
    {"Icmp6InGroupMembQueries", "group member queries: ", "", STATISTICS_INPUT},
    {"Icmp6InGroupMembReductions", "group member reductions: ", "", STATISTICS_INPUT},
    {"Icmp6InGroupMembResponses", "group member responses: ", "", STATISTICS_INPUT},
    {"Icmp6InMsgs", "", " ICMP messages received", STATISTICS_ALWAYS},
    {"Icmp6InNeighborAdvertisements", "neighbour advertisement: ", "", STATISTICS_INPUT},
    {"Icmp6InNeighborSolicits", "neighbour solicits: ", "", STATISTICS_INPUT},
    {"Icmp6InParmProblems", "parameter problem: ", "", STATISTICS_INPUT},
    {"Icmp6InPktTooBigs", "packets too big: ", "", STATISTICS_INPUT},
    {"Icmp6InRedirects", "redirects: ", "", STATISTICS_INPUT},
    {"Icmp6InRouterAdvertisements", "router advertisement: ", "", STATISTICS_INPUT},
    {"Icmp6InRouterSolicits", "router solicits: ", "", STATISTICS_INPUT},
    {"Icmp6InTimeExcds", "received ICMPv6 time exceeded: ", "", STATISTICS_INPUT},
    {"Icmp6OutDestUnreachs", "destination unreachable: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutEchoReplies", "echo replies: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutEchos", "echo requests: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutGroupMembQueries", "group member queries: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutGroupMembReductions", "group member reductions: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutGroupMembResponses", "group member responses: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutMsgs", "", " ICMP messages sent", STATISTICS_ALWAYS},
    {"Icmp6OutNeighborAdvertisements", "neighbor advertisements: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutNeighborSolicits", "neighbor solicits: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutParmProblems", "parameter problem: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutPktTooBigs", "packets too big: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutRedirects", "redirects: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutRouterSolicits", "router solicits: ", "", STATISTICS_OUTPUT},
    {"Icmp6OutTimeExcds", "sent ICMPv6 time exceeded: ", "", STATISTICS_OUTPUT},
};

static const struct statistics_text udp6_texts[] = {
    {"Udp6InDatagrams", "", " packets received", STATISTICS_ALWAYS},
    {"Udp6InErrors", "", " packet receive errors", STATISTICS_ALWAYS},
    {"Udp6NoPorts", "", " packets to unknown port received", STATISTICS_ALWAYS},
    {"Udp6OutDatagrams", "", " packets sent", STATISTICS_ALWAYS},
};

#define TABLE(name, texts)                                                                         \
    {                                                                                              \
        (name), (texts), COUNT(texts)                                                              \
    }

static const struct statistics_table tables[] = {
    TABLE("Ip", ip_texts),   TABLE("Icmp", icmp_texts),   TABLE("Tcp", tcp_texts),
    TABLE("Udp", udp_texts), TABLE("Sctp", sctp_texts),   TABLE("TcpExt", tcpext_texts),
    TABLE("Ip6", ip6_texts), TABLE("Icmp6", icmp6_texts), TABLE("Udp6", udp6_texts),
    {"Tcp6", NULL, 0},
};

static bool is_called(const char *name, struct text text)
{
    return strlen(name) == text.length && memcmp(name, text.data, text.length) == 0;
}

const struct statistics_table *statistics_table_of(struct text protocol)
{
    for (size_t i = 0; i < COUNT(tables); i++)
        if (is_called(tables[i].protocol, protocol))
            return &tables[i];
    return NULL;
}

const struct statistics_text *statistics_text_of(const struct statistics_table *table,
                                                 struct text name)
{
    for (size_t i = 0; i < table->count; i++)
        if (is_called(table->texts[i].name, name))
            return &table->texts[i];
    return NULL;
}
