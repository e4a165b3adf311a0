/* SPDX-License-Identifier: MIT */
/* The counters that net-tools 2.10 knows, and its words for them, with spelling errors, because
 * scripts match them. net-tools does a binary search in a table that is not sorted everywhere, so
 * it never finds some names (Forwarding, TCPTimeouts, TCPSackRecovery ...);
 * Icmp6OutRouterAdvertisements has a space too many. net-tools does not know such names, so these
 * tables lack them. */
#include "format/counter/statistics_texts.h"
#include "fastnet/array.h"

/* clang-format off */
/* The words are after the value, around it or before it. */
#define ALWAYS(name, after)         {name, "", after, STATISTICS_ALWAYS}
#define NONZERO(name, after)        {name, "", after, STATISTICS_NONZERO}
#define AROUND(name, before, after) {name, before, after, STATISTICS_NONZERO}
#define INPUT(name, before)         {name, before, "", STATISTICS_INPUT}
#define OUTPUT(name, before)        {name, before, "", STATISTICS_OUTPUT}
#define HIDDEN(name)                {name, "", "", STATISTICS_HIDDEN}
#define TABLE(name, texts)          {name, texts, COUNT(texts)}
/* clang-format on */

static const struct statistics_text ip_texts[] = {
    HIDDEN("DefaultTTL"),
    ALWAYS("ForwDatagrams", " forwarded"),
    NONZERO("FragCreates", " fragments created"),
    NONZERO("FragFails", " outgoing packets failed fragmentation"),
    NONZERO("FragOKs", " outgoing packets fragmented ok"),
    NONZERO("InAddrErrors", " with invalid addresses"),
    ALWAYS("InDelivers", " incoming packets delivered"),
    ALWAYS("InDiscards", " incoming packets discarded"),
    NONZERO("InHdrErrors", " with invalid headers"),
    ALWAYS("InReceives", " total packets received"),
    NONZERO("InUnknownProtos", " with unknown protocol"),
    NONZERO("OutDiscards", " outgoing packets dropped"),
    NONZERO("OutNoRoutes", " dropped because of missing route"),
    ALWAYS("OutRequests", " requests sent out"),
    NONZERO("ReasmFails", " packet reassemblies failed"),
    NONZERO("ReasmOKs", " packets reassembled ok"),
    NONZERO("ReasmReqds", " reassemblies required"),
    NONZERO("ReasmTimeout", " fragments dropped after timeout"),
};

static const struct statistics_text icmp_texts[] = {
    INPUT("InAddrMaskReps", "address mask replies: "),
    INPUT("InAddrMasks", "address mask request: "),
    INPUT("InDestUnreachs", "destination unreachable: "),
    INPUT("InEchoReps", "echo replies: "),
    INPUT("InEchos", "echo requests: "),
    ALWAYS("InErrors", " input ICMP message failed"),
    ALWAYS("InMsgs", " ICMP messages received"),
    INPUT("InParmProbs", "wrong parameters: "),
    INPUT("InRedirects", "redirects: "),
    INPUT("InSrcQuenchs", "source quenches: "),
    INPUT("InTimeExcds", "timeout in transit: "),
    INPUT("InTimestampReps", "timestamp reply: "),
    INPUT("InTimestamps", "timestamp request: "),
    OUTPUT("OutAddrMaskReps", "address mask replies: "),
    OUTPUT("OutAddrMasks", "address mask requests: "),
    OUTPUT("OutDestUnreachs", "destination unreachable: "),
    OUTPUT("OutEchoReps", "echo replies: "),
    OUTPUT("OutEchos", "echo requests: "),
    ALWAYS("OutErrors", " ICMP messages failed"),
    ALWAYS("OutMsgs", " ICMP messages sent"),
    OUTPUT("OutParmProbs", "wrong parameters: "),
    OUTPUT("OutRedirects", "redirect: "),
    OUTPUT("OutSrcQuenchs", "source quench: "),
    OUTPUT("OutTimeExcds", "time exceeded: "),
    OUTPUT("OutTimestampReps", "timestamp replies: "),
    OUTPUT("OutTimestamps", "timestamp requests: "),
};

static const struct statistics_text tcp_texts[] = {
    ALWAYS("ActiveOpens", " active connection openings"),
    ALWAYS("AttemptFails", " failed connection attempts"),
    ALWAYS("CurrEstab", " connections established"),
    ALWAYS("EstabResets", " connection resets received"),
    ALWAYS("InErrs", " bad segments received"),
    ALWAYS("InSegs", " segments received"),
    HIDDEN("MaxConn"),
    ALWAYS("OutRsts", " resets sent"),
    ALWAYS("OutSegs", " segments sent out"),
    ALWAYS("PassiveOpens", " passive connection openings"),
    ALWAYS("RetransSegs", " segments retransmitted"),
    HIDDEN("RtoAlgorithm"),
    HIDDEN("RtoMax"),
    HIDDEN("RtoMin"),
};

static const struct statistics_text udp_texts[] = {
    ALWAYS("InDatagrams", " packets received"),
    ALWAYS("InErrors", " packet receive errors"),
    ALWAYS("NoPorts", " packets to unknown port received"),
    ALWAYS("OutDatagrams", " packets sent"),
    ALWAYS("RcvbufErrors", " receive buffer errors"),
    ALWAYS("SndbufErrors", " send buffer errors"),
};

static const struct statistics_text sctp_texts[] = {
    ALWAYS("SctpAborteds", " Number of Aborteds "),
    ALWAYS("SctpActiveEstabs", " Active Associations"),
    ALWAYS("SctpChecksumErrors", " Number of Packets with invalid Checksum"),
    ALWAYS("SctpCurrEstab", " Current Associations"),
    ALWAYS("SctpFragUsrMsgs", " Number of messages fragmented"),
    ALWAYS("SctpInCtrlChunks", " Number of control chunks received"),
    ALWAYS("SctpInOrderChunks", " Number of ordered chunks received"),
    ALWAYS("SctpInSCTPPacks", " Number of SCTP packets received"),
    ALWAYS("SctpInUnorderChunks", " Number of Unordered chunks received"),
    ALWAYS("SctpOutCtrlChunks", " Number of control chunks sent"),
    ALWAYS("SctpOutOfBlues", " Number of Out of Blue packets"),
    ALWAYS("SctpOutOrderChunks", " Number of ordered chunks sent"),
    ALWAYS("SctpOutSCTPPacks", " Number of SCTP packets sent"),
    ALWAYS("SctpOutUnorderChunks", " Number of Unordered chunks sent"),
    ALWAYS("SctpPassiveEstabs", " Passive Associations"),
    ALWAYS("SctpReasmUsrMsgs", " Number of messages reassembled "),
    ALWAYS("SctpShutdowns", " Number of Graceful Terminations"),
};

static const struct statistics_text tcpext_texts[] = {
    NONZERO("DelayedACKLocked", " delayed acks further delayed because of locked socket"),
    AROUND("DelayedACKLost", "Quick ack mode was activated ", " times"),
    NONZERO("DelayedACKs", " delayed acks sent"),
    NONZERO("EmbryonicRsts", " resets received for embryonic SYN_RECV sockets"),
    NONZERO("ListenDrops", " SYNs to LISTEN sockets dropped"),
    NONZERO("ListenOverflows", " times the listen queue of a socket overflowed"),
    NONZERO("LockDroppedIcmps", " ICMP packets dropped because socket was locked"),
    NONZERO("OfoPruned",
            " packets dropped from out-of-order queue because of socket buffer overrun"),
    NONZERO("OutOfWindowIcmps", " ICMP packets dropped because they were out-of-window"),
    NONZERO("PAWSActive", " active connections rejected because of time stamp"),
    NONZERO("PAWSEstab", " packets rejected in established connections because of timestamp"),
    NONZERO("PAWSPassive", " passive connections rejected because of time stamp"),
    NONZERO("PruneCalled", " packets pruned from receive queue because of socket buffer overrun"),
    NONZERO("RcvPruned", " packets pruned from receive queue"),
    AROUND("SockMallocOOM", "Ran ", " times out of system memory during packet sending"),
    NONZERO("SyncookiesFailed", " invalid SYN cookies received"),
    NONZERO("SyncookiesRecv", " SYN cookies received"),
    NONZERO("SyncookiesSent", " SYN cookies sent"),
    NONZERO("TCPAbortFailed", " times unable to send RST due to no memory"),
    NONZERO("TCPAbortOnClose", " connections reset due to early user close"),
    NONZERO("TCPAbortOnData", " connections reset due to unexpected data"),
    NONZERO("TCPAbortOnLinger", " connections aborted after user close in linger timeout"),
    NONZERO("TCPAbortOnMemory", " connections aborted due to memory pressure"),
    NONZERO("TCPAbortOnSyn", " connections reset due to unexpected SYN"),
    NONZERO("TCPAbortOnTimeout", " connections aborted due to timeout"),
    NONZERO("TCPDirectCopyFromBacklog", " bytes directly in process context from backlog"),
    AROUND("TCPFACKReorder", "Detected reordering ", " times using FACK"),
    NONZERO("TCPFastRetrans", " fast retransmits"),
    NONZERO("TCPForwardRetrans", " forward retransmits"),
    NONZERO("TCPFullUndo", " congestion windows fully recovered without slow start"),
    NONZERO("TCPHPAcks", " predicted acknowledgments"),
    ALWAYS("TCPHPHits", " packet headers predicted"),
    NONZERO("TCPHPHitsToUser", " packet headers predicted and directly queued to user"),
    NONZERO("TCPLossFailures", " timeouts in loss state"),
    NONZERO("TCPLossUndo", " congestion windows recovered without slow start after partial ack"),
    NONZERO("TCPLostRetransmits", " retransmits lost"),
    AROUND("TCPMemoryPressures", "TCP ran low on memory ", " times"),
    NONZERO("TCPPartialUndo", " congestion windows partially recovered using Hoe heuristic"),
    NONZERO("TCPPrequeued", " packets directly queued to recvmsg prequeue"),
    NONZERO("TCPPureAcks", " acknowledgments not containing data payload received"),
    NONZERO("TCPRcvCollapsed", " packets collapsed in receive queue due to low socket buffer"),
    NONZERO("TCPRenoFailures", " timeouts after reno fast retransmit"),
    NONZERO("TCPRenoRecovery", " times recovered from packet loss due to fast retransmit"),
    AROUND("TCPRenoReorder", "Detected reordering ", " times using reno fast retransmit"),
    AROUND("TCPSACKReorder", "Detected reordering ", " times using SACK"),
    NONZERO("TCPSchedulerFailed", " times receiver scheduled too late for direct processing"),
    NONZERO("TCPSlowStartRetrans", " retransmits in slow start"),
    AROUND("TCPTSReorder", "Detected reordering ", " times using time stamp"),
    NONZERO("TW", " TCP sockets finished time wait in fast timer"),
    NONZERO("TWRecycled", " time wait sockets recycled by time stamp"),
};

static const struct statistics_text ip6_texts[] = {
    NONZERO("Ip6FragCreates", " fragments created"),
    NONZERO("Ip6FragFails", " outgoing packets failed fragmentation"),
    NONZERO("Ip6FragOKs", " outgoing packets fragmented ok"),
    NONZERO("Ip6InAddrErrors", " with invalid addresses"),
    ALWAYS("Ip6InDelivers", " incoming packets delivered"),
    ALWAYS("Ip6InDiscards", " incoming packets discarded"),
    NONZERO("Ip6InHdrErrors", " with invalid headers"),
    NONZERO("Ip6InMcastPkts", " incoming multicast packets"),
    NONZERO("Ip6InNoRoutes", " incoming packets with no route"),
    ALWAYS("Ip6InReceives", " total packets received"),
    NONZERO("Ip6InTooBigErrors", " with packets too big"),
    NONZERO("Ip6InTruncatedPkts", " with truncated packets"),
    NONZERO("Ip6InUnknownProtos", " with unknown protocol"),
    NONZERO("Ip6OutDiscards", " outgoing packets dropped"),
    ALWAYS("Ip6OutForwDatagrams", " forwarded"),
    NONZERO("Ip6OutMcastPkts", " outgoing multicast packets"),
    NONZERO("Ip6OutNoRoutes", " dropped because of missing route"),
    ALWAYS("Ip6OutRequests", " requests sent out"),
    NONZERO("Ip6ReasmFails", " packet reassemblies failed"),
    NONZERO("Ip6ReasmOKs", " packets reassembled ok"),
    NONZERO("Ip6ReasmReqds", " reassemblies required"),
    NONZERO("Ip6ReasmTimeout", " fragments dropped after timeout"),
};

static const struct statistics_text icmp6_texts[] = {
    INPUT("Icmp6InDestUnreachs", "destination unreachable: "),
    INPUT("Icmp6InEchoReplies", "echo replies: "),
    INPUT("Icmp6InEchos", "echo requests: "),
    ALWAYS("Icmp6InErrors", " input ICMP message failed"),
    INPUT("Icmp6InGroupMembQueries", "group member queries: "),
    INPUT("Icmp6InGroupMembReductions", "group member reductions: "),
    INPUT("Icmp6InGroupMembResponses", "group member responses: "),
    ALWAYS("Icmp6InMsgs", " ICMP messages received"),
    INPUT("Icmp6InNeighborAdvertisements", "neighbour advertisement: "),
    INPUT("Icmp6InNeighborSolicits", "neighbour solicits: "),
    INPUT("Icmp6InParmProblems", "parameter problem: "),
    INPUT("Icmp6InPktTooBigs", "packets too big: "),
    INPUT("Icmp6InRedirects", "redirects: "),
    INPUT("Icmp6InRouterAdvertisements", "router advertisement: "),
    INPUT("Icmp6InRouterSolicits", "router solicits: "),
    INPUT("Icmp6InTimeExcds", "received ICMPv6 time exceeded: "),
    OUTPUT("Icmp6OutDestUnreachs", "destination unreachable: "),
    OUTPUT("Icmp6OutEchoReplies", "echo replies: "),
    OUTPUT("Icmp6OutEchos", "echo requests: "),
    OUTPUT("Icmp6OutGroupMembQueries", "group member queries: "),
    OUTPUT("Icmp6OutGroupMembReductions", "group member reductions: "),
    OUTPUT("Icmp6OutGroupMembResponses", "group member responses: "),
    ALWAYS("Icmp6OutMsgs", " ICMP messages sent"),
    OUTPUT("Icmp6OutNeighborAdvertisements", "neighbor advertisements: "),
    OUTPUT("Icmp6OutNeighborSolicits", "neighbor solicits: "),
    OUTPUT("Icmp6OutParmProblems", "parameter problem: "),
    OUTPUT("Icmp6OutPktTooBigs", "packets too big: "),
    OUTPUT("Icmp6OutRedirects", "redirects: "),
    OUTPUT("Icmp6OutRouterSolicits", "router solicits: "),
    OUTPUT("Icmp6OutTimeExcds", "sent ICMPv6 time exceeded: "),
};

static const struct statistics_text udp6_texts[] = {
    ALWAYS("Udp6InDatagrams", " packets received"),
    ALWAYS("Udp6InErrors", " packet receive errors"),
    ALWAYS("Udp6NoPorts", " packets to unknown port received"),
    ALWAYS("Udp6OutDatagrams", " packets sent"),
};

static const struct statistics_table tables[] = {
    TABLE("Ip", ip_texts),   TABLE("Icmp", icmp_texts),   TABLE("Tcp", tcp_texts),
    TABLE("Udp", udp_texts), TABLE("Sctp", sctp_texts),   TABLE("TcpExt", tcpext_texts),
    TABLE("Ip6", ip6_texts), TABLE("Icmp6", icmp6_texts), TABLE("Udp6", udp6_texts),
    {"Tcp6", NULL, 0},
};

const struct statistics_table *statistics_table_of(struct text protocol)
{
    for (size_t i = 0; i < COUNT(tables); i++)
        if (text_is(protocol, tables[i].protocol))
            return &tables[i];
    return NULL;
}

const struct statistics_text *statistics_text_of(const struct statistics_table *table,
                                                 struct text name)
{
    for (size_t i = 0; i < table->count; i++)
        if (text_is(name, table->texts[i].name))
            return &table->texts[i];
    return NULL;
}
