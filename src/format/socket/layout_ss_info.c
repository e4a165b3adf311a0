/* SPDX-License-Identifier: MIT */
/* The layout of ss: the numbers of -i. A number that is 0 has no token, unless the token has a
 * function of its own, which then decides. */
#include <linux/inet_diag.h>
#include <netinet/tcp.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/kernel_info.h"
#include "format/socket/layout_ss.h"
#include "text/real.h"

enum { CONGESTION_MAX = 15 }; /* bytes that ss shows: TCP_CA_NAME_MAX of net/tcp.h, minus 1 */

/* Writes a name and a number. put: writes the number; put_signed() if ss prints it with %d. */
#define TOKEN_IF(dst, shown, put, name, number)                                                    \
    ((shown) ? put(PUT(dst, " " name ":"), number) : (dst))
#define TOKEN(dst, put, name, number) TOKEN_IF(dst, number, put, name, number)

/* --- Rates ------------------------------------------------------------------------------------ */

/* Writes bits per second, with three digits and a unit. */
static char *put_rate(char *dst, const struct ss_row *row, double rate)
{
    static const struct {
        double size;
        char name[2];
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};

    if (row->layout->numeric)
        return PUT(put_fixed(dst, rate, 0), "bps");
    for (size_t i = 0; i < COUNT(units); i++)
        if (rate >= units[i].size) {
            dst = put_general(dst, rate / units[i].size, 3);
            *dst++ = units[i].name[0];
            return PUT(dst, "bps");
        }
    return PUT(put_general(dst, rate, REAL_DIGITS_MAX), "bps");
}

/* --- Congestion control ----------------------------------------------------------------------- */

/* Copies a struct of the kernel, which may be shorter than ours: missing bytes become 0. */
static void copy_struct(void *dst, size_t size, struct text bytes)
{
    const size_t length = bytes.length < size ? bytes.length : size;

    if (length > 0)
        memcpy(dst, bytes.data, length);
    if (length < size)
        memset((char *)dst + length, 0, size - length);
}

static bool has_cc_info(const struct ss_row *row, uint16_t type)
{
    return ss_has(row, SOCKET_CC_INFO) && row->record->socket.cc_type == type;
}

static char *put_dctcp(char *dst, const struct ss_row *row)
{
    struct kernel_dctcp_info dctcp;

    copy_struct(&dctcp, sizeof dctcp, row->record->socket.cc_info);
    if (!dctcp.enabled)
        return PUT(dst, " dctcp:fallback_mode");
    dst = text_u64(PUT(dst, " dctcp:(ce_state:"), dctcp.ce_state);
    dst = text_u64(PUT(dst, ",alpha:"), dctcp.alpha);
    dst = text_u64(PUT(dst, ",ab_ecn:"), dctcp.ab_ecn);
    return PUT(text_u64(PUT(dst, ",ab_tot:"), dctcp.ab_tot), ")");
}

static char *put_bbr(char *dst, const struct ss_row *row)
{
    struct kernel_bbr_info bbr;
    double bandwidth;

    copy_struct(&bbr, sizeof bbr, row->record->socket.cc_info);
    bandwidth = (double)((uint64_t)bbr.bw_hi << 32 | bbr.bw_lo);
    dst = put_rate(PUT(dst, " bbr:(bw:"), row, bandwidth * 8);
    dst = put_thousandths(PUT(dst, ",mrtt:"), bbr.min_rtt);
    if (bbr.pacing_gain)
        dst = put_general(PUT(dst, ",pacing_gain:"), bbr.pacing_gain / 256.0, REAL_DIGITS_MAX);
    if (bbr.cwnd_gain)
        dst = put_general(PUT(dst, ",cwnd_gain:"), bbr.cwnd_gain / 256.0, REAL_DIGITS_MAX);
    return PUT(dst, ")");
}

/* --- Tokens of TCP with their own form -------------------------------------------------------- */

static char *put_congestion(char *dst, const struct ss_row *row)
{
    const struct text *name = &row->record->socket.congestion;

    if (!ss_has(row, SOCKET_CONGESTION) || !name->length)
        return dst;
    return escape_text(PUT(dst, " "), name->data,
                       name->length < CONGESTION_MAX ? name->length : CONGESTION_MAX, " ");
}

/* Writes the sending rate: one congestion window in each round trip. */
static char *put_send_rate(char *dst, const struct ss_row *row, const struct kernel_tcp_info *tcp)
{
    static const uint32_t not_measured = 0x7fffffff;
    struct kernel_vegas_info vegas = {0};
    uint32_t rtt = tcp->rtt;

    /* Vegas measures round trips itself */
    if (has_cc_info(row, INET_DIAG_VEGASINFO))
        copy_struct(&vegas, sizeof vegas, row->record->socket.cc_info);
    if (vegas.enabled && vegas.rtt && vegas.rtt != not_measured)
        rtt = vegas.rtt;
    if (!rtt || !tcp->snd_mss || !tcp->snd_cwnd)
        return dst;
    return put_rate(PUT(dst, " send "), row,
                    (double)tcp->snd_cwnd * tcp->snd_mss * 8000000.0 / rtt);
}

static char *put_pacing(char *dst, const struct ss_row *row, const struct kernel_tcp_info *tcp)
{
    if (!tcp->pacing_rate || tcp->pacing_rate == UINT64_MAX)
        return dst;
    dst = put_rate(PUT(dst, " pacing_rate "), row, (double)tcp->pacing_rate * 8);
    if (!tcp->max_pacing_rate || tcp->max_pacing_rate == UINT64_MAX)
        return dst;
    return put_rate(PUT(dst, "/"), row, (double)tcp->max_pacing_rate * 8);
}

/* Writes a part of the busy time: milliseconds and percent. */
static char *put_limited(char *dst, uint64_t microseconds, uint64_t busy)
{
    dst = PUT(text_u64(dst, microseconds / 1000), "ms(");
    return PUT(put_fixed(dst, 100.0 * (double)microseconds / (double)busy, 1), "%)");
}

static char *put_busy(char *dst, const struct kernel_tcp_info *tcp)
{
    if (!tcp->busy_time)
        return dst;
    dst = PUT(text_u64(PUT(dst, " busy:"), tcp->busy_time / 1000), "ms");
    if (tcp->rwnd_limited)
        dst = put_limited(PUT(dst, " rwnd_limited:"), tcp->rwnd_limited, tcp->busy_time);
    if (tcp->sndbuf_limited)
        dst = put_limited(PUT(dst, " sndbuf_limited:"), tcp->sndbuf_limited, tcp->busy_time);
    return dst;
}

/* --- All tokens, in the order of ss ----------------------------------------------------------- */

/* Writes options that both ends agreed on, and the current state of sending. */
static char *put_tcp_sending(char *dst, const struct ss_row *row, const struct kernel_tcp_info *tcp)
{
    enum { RTO_OF_NO_CONNECTION = 3000000 };
    static const struct flag_text options[] = {
        {TCP_OPTION_TIMESTAMPS, " ts"},    {TCP_OPTION_USEC_TS, " usec_ts"},
        {TCP_OPTION_SACK, " sack"},        {TCP_OPTION_ECN, " ecn"},
        {TCP_OPTION_ECN_SEEN, " ecnseen"}, {TCP_OPTION_SYN_DATA, " fastopen"},
    };

    if (row->layout->timers)
        dst = put_flags(dst, tcp->options, options, COUNT(options));
    dst = put_congestion(dst, row);
    if (tcp->options & TCP_OPTION_WSCALE) {
        dst = text_u64(PUT(dst, " wscale:"), tcp->snd_wscale);
        dst = text_u64(PUT(dst, ","), tcp->rcv_wscale);
    }
    dst = TOKEN_IF(dst, tcp->rto && tcp->rto != RTO_OF_NO_CONNECTION, put_thousandths, "rto",
                   tcp->rto);
    dst = TOKEN(dst, text_u64, "backoff", tcp->backoff);
    if (tcp->rtt) {
        dst = put_thousandths(PUT(dst, " rtt:"), tcp->rtt);
        dst = put_thousandths(PUT(dst, "/"), tcp->rttvar);
    }
    dst = TOKEN(dst, put_thousandths, "ato", tcp->ato);
    dst = TOKEN(dst, put_signed, "mss", tcp->snd_mss);
    dst = TOKEN(dst, text_u64, "pmtu", tcp->pmtu);
    dst = TOKEN(dst, put_signed, "rcvmss", tcp->rcv_mss);
    dst = TOKEN(dst, put_signed, "advmss", tcp->advmss);
    dst = TOKEN(dst, text_u64, "cwnd", tcp->snd_cwnd);
    dst = TOKEN_IF(dst, tcp->snd_ssthresh < UINT16_MAX && tcp->snd_ssthresh, text_u64, "ssthresh",
                   tcp->snd_ssthresh);
    return dst;
}

static char *ss_info_put_tcp(char *dst, const struct ss_row *row, const struct kernel_tcp_info *tcp)
{
    enum { USUAL_REORDERING = 3 };
    /* for a listener, the kernel puts the limit of its queue into `sacked` */
    const uint32_t sacked = row->record->socket.state == TCP_LISTEN ? 0 : tcp->sacked;

    dst = put_tcp_sending(dst, row, tcp);
    dst = TOKEN(dst, text_u64, "bytes_sent", tcp->bytes_sent);
    dst = TOKEN(dst, text_u64, "bytes_retrans", tcp->bytes_retrans);
    dst = TOKEN(dst, text_u64, "bytes_acked", tcp->bytes_acked);
    dst = TOKEN(dst, text_u64, "bytes_received", tcp->bytes_received);
    dst = TOKEN(dst, text_u64, "segs_out", tcp->segs_out);
    dst = TOKEN(dst, text_u64, "segs_in", tcp->segs_in);
    dst = TOKEN(dst, text_u64, "data_segs_out", tcp->data_segs_out);
    dst = TOKEN(dst, text_u64, "data_segs_in", tcp->data_segs_in);
    if (has_cc_info(row, INET_DIAG_DCTCPINFO))
        dst = put_dctcp(dst, row);
    else if (has_cc_info(row, INET_DIAG_BBRINFO))
        dst = put_bbr(dst, row);
    dst = put_send_rate(dst, row, tcp);
    dst = TOKEN(dst, text_u64, "lastsnd", tcp->last_data_sent);
    dst = TOKEN(dst, text_u64, "lastrcv", tcp->last_data_recv);
    dst = TOKEN(dst, text_u64, "lastack", tcp->last_ack_recv);
    dst = put_pacing(dst, row, tcp);
    if (tcp->delivery_rate)
        dst = put_rate(PUT(dst, " delivery_rate "), row, (double)tcp->delivery_rate * 8);
    dst = TOKEN(dst, text_u64, "delivered", tcp->delivered);
    dst = TOKEN(dst, text_u64, "delivered_ce", tcp->delivered_ce);
    if (tcp->delivery_rate_app_limited)
        dst = PUT(dst, " app_limited");
    dst = put_busy(dst, tcp);
    dst = TOKEN(dst, text_u64, "unacked", tcp->unacked);
    if (tcp->retrans || tcp->total_retrans) {
        dst = text_u64(PUT(dst, " retrans:"), tcp->retrans);
        dst = text_u64(PUT(dst, "/"), tcp->total_retrans);
    }
    dst = TOKEN(dst, text_u64, "lost", tcp->lost);
    dst = TOKEN(dst, text_u64, "sacked", sacked);
    dst = TOKEN(dst, text_u64, "dsack_dups", tcp->dsack_dups);
    dst = TOKEN(dst, text_u64, "fackets", tcp->fackets);
    dst = TOKEN_IF(dst, tcp->reordering != USUAL_REORDERING, put_signed, "reordering",
                   tcp->reordering);
    dst = TOKEN(dst, put_signed, "reord_seen", tcp->reord_seen);
    dst = TOKEN(dst, put_thousandths, "rcv_rtt", tcp->rcv_rtt);
    dst = TOKEN(dst, put_signed, "rcv_space", tcp->rcv_space);
    dst = TOKEN(dst, text_u64, "rcv_ssthresh", tcp->rcv_ssthresh);
    dst = TOKEN(dst, text_u64, "notsent", tcp->notsent_bytes);
    dst = TOKEN_IF(dst, tcp->min_rtt != UINT32_MAX && tcp->min_rtt, put_thousandths, "minrtt",
                   tcp->min_rtt);
    dst = TOKEN(dst, text_u64, "rcv_ooopack", tcp->rcv_ooopack);
    dst = TOKEN(dst, text_u64, "snd_wnd", tcp->snd_wnd);
    dst = TOKEN(dst, text_u64, "rcv_wnd", tcp->rcv_wnd);
    dst = TOKEN(dst, text_u64, "rehash", tcp->rehash);
    return dst;
}

static char *put_mptcp(char *dst, const struct kernel_mptcp_info *mptcp)
{
    /* MPTCP_INFO_FLAG_FALLBACK and _REMOTE_KEY_RECEIVED of linux/mptcp.h */
    static const struct flag_text flags[] = {{1, " fallback"}, {2, " remote_key"}};
    dst = TOKEN(dst, text_u64, "subflows", mptcp->subflows);
    dst = TOKEN(dst, text_u64, "add_addr_signal", mptcp->add_addr_signal);
    dst = TOKEN(dst, text_u64, "add_addr_accepted", mptcp->add_addr_accepted);
    dst = TOKEN(dst, text_u64, "subflows_max", mptcp->subflows_max);
    dst = TOKEN(dst, text_u64, "add_addr_signal_max", mptcp->add_addr_signal_max);
    dst = TOKEN(dst, text_u64, "add_addr_accepted_max", mptcp->add_addr_accepted_max);
    dst = put_flags(dst, mptcp->flags, flags, COUNT(flags));
    dst = TOKEN(dst, put_hex, "token", mptcp->token);
    dst = TOKEN(dst, text_u64, "write_seq", mptcp->write_seq);
    dst = TOKEN(dst, text_u64, "snd_una", mptcp->snd_una);
    dst = TOKEN(dst, text_u64, "rcv_nxt", mptcp->rcv_nxt);
    dst = TOKEN(dst, text_u64, "local_addr_used", mptcp->local_addr_used);
    dst = TOKEN(dst, text_u64, "local_addr_max", mptcp->local_addr_max);
    dst = TOKEN(dst, text_u64, "csum_enabled", mptcp->csum_enabled);
    dst = TOKEN(dst, text_u64, "retransmits", mptcp->retransmits);
    dst = TOKEN(dst, text_u64, "bytes_retrans", mptcp->bytes_retrans);
    dst = TOKEN(dst, text_u64, "bytes_sent", mptcp->bytes_sent);
    dst = TOKEN(dst, text_u64, "bytes_received", mptcp->bytes_received);
    dst = TOKEN(dst, text_u64, "bytes_acked", mptcp->bytes_acked);
    dst = TOKEN(dst, text_u64, "subflows_total", mptcp->subflows_total);
    dst = TOKEN(dst, text_u64, "endp_laminar_max", mptcp->endp_laminar_max);
    dst = TOKEN(dst, text_u64, "last_data_sent", mptcp->last_data_sent);
    dst = TOKEN(dst, text_u64, "last_data_recv", mptcp->last_data_recv);
    dst = TOKEN(dst, text_u64, "last_ack_recv", mptcp->last_ack_recv);
    return dst;
}

static char *put_sctp(char *dst, const struct kernel_sctp_info *sctp)
{
    dst = TOKEN(dst, put_hex, "tag", sctp->tag);
    if (sctp->state) /* enum sctp_state inside of the kernel (linux/sctp.h): 0 is CLOSED */
        dst = put_string(PUT(dst, " state:"), ss_sctp_state(sctp->state));
    dst = TOKEN(dst, put_signed, "rwnd", sctp->rwnd);
    dst = TOKEN(dst, text_u64, "unackdata", sctp->unackdata);
    dst = TOKEN(dst, text_u64, "penddata", sctp->penddata);
    dst = TOKEN(dst, text_u64, "instrms", sctp->instrms);
    dst = TOKEN(dst, text_u64, "outstrms", sctp->outstrms);
    dst = TOKEN(dst, put_signed, "inqueue", sctp->inqueue);
    dst = TOKEN(dst, put_signed, "outqueue", sctp->outqueue);
    dst = TOKEN(dst, put_signed, "overerr", sctp->overall_error);
    dst = TOKEN(dst, put_signed, "maxburst", sctp->max_burst);
    dst = TOKEN(dst, put_signed, "maxseg", sctp->maxseg);
    dst = TOKEN(dst, put_signed, "prwnd", sctp->peer_rwnd);
    dst = TOKEN(dst, put_hex, "ptag", sctp->peer_tag);
    dst = TOKEN(dst, text_u64, "pcapable", sctp->peer_capable);
    dst = TOKEN(dst, text_u64, "psack", sctp->peer_sack);
    dst = TOKEN(dst, put_signed, "autoclose", sctp->s_autoclose);
    dst = TOKEN(dst, put_signed, "adapind", sctp->s_adaptation_ind);
    dst = TOKEN(dst, put_signed, "pdpoint", sctp->s_pd_point);
    dst = TOKEN(dst, text_u64, "nodelay", sctp->s_nodelay);
    dst = TOKEN(dst, text_u64, "nofrag", sctp->s_disable_fragments);
    dst = TOKEN(dst, text_u64, "v4mapped", sctp->s_v4mapped);
    dst = TOKEN(dst, text_u64, "fraginl", sctp->s_frag_interleave);
    return dst;
}

/* Writes the numbers of a line of /proc/net/tcp as ss does, also if the line lacks them: times in
 * seconds, and reordering always 0 (tcp_show_line() and tcp_stats_print() of misc/ss.c). */
char *ss_put_file_info(char *dst, const struct ss_row *row)
{
    enum { RTO_OF_NO_CONNECTION = 3000000, CWND_UNKNOWN = 2 };
    const double second = 1000000;
    struct file_tcp_info info = {.tcp.snd_cwnd = CWND_UNKNOWN};
    const struct kernel_tcp_info *tcp = &info.tcp;
    const uint32_t count = ss_file_count(&row->record->socket);

    if (ss_has(row, SOCKET_TCP_BASICS))
        copy_struct(&info, sizeof info, row->record->socket.info);
    if (tcp->rto && tcp->rto != RTO_OF_NO_CONNECTION)
        dst = put_general(PUT(dst, " rto:"), tcp->rto / second, REAL_DIGITS_MAX);
    if (tcp->ato)
        dst = put_general(PUT(dst, " ato:"), tcp->ato / second, REAL_DIGITS_MAX);
    dst = TOKEN(dst, text_u64, "qack", info.quick / 2);
    if (info.quick / 2 & 1)
        dst = PUT(dst, " bidir");
    dst = TOKEN(dst, text_u64, "cwnd", tcp->snd_cwnd);
    dst = TOKEN_IF(dst, tcp->snd_ssthresh != TCP_SSTHRESH_NONE && tcp->snd_ssthresh, text_u64,
                   "ssthresh", tcp->snd_ssthresh);
    if (count)
        dst = PUT(text_u64(PUT(dst, " retrans:"), count), "/0");
    return PUT(dst, " reordering:0");
}

char *ss_put_info(char *dst, const struct ss_row *row)
{
    const struct text bytes = row->record->socket.info;

    if (ss_has(row, SOCKET_TCP_INFO)) {
        const struct kernel_tcp_info tcp = tcp_info_of(row->record);
        return ss_info_put_tcp(dst, row, &tcp);
    }
    if (ss_has(row, SOCKET_MPTCP_INFO)) {
        struct kernel_mptcp_info mptcp;
        copy_struct(&mptcp, sizeof mptcp, bytes);
        return put_mptcp(dst, &mptcp);
    }
    if (ss_has(row, SOCKET_SCTP_INFO)) {
        struct kernel_sctp_info sctp;
        copy_struct(&sctp, sizeof sctp, bytes);
        return put_sctp(dst, &sctp);
    }
    return dst;
}
