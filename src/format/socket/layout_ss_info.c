/*
 * The layout of ss: what -i shows. Each token is a line of a table, in the order of ss, with the
 * place of its number in the kernel's struct. A number of 0 has no token, except where the token's
 * own function says otherwise.
 */
#include <linux/inet_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "fastnet/array.h"
#include "format/socket/layout_ss.h"
#include "format/socket/tcp_info.h"
#include "format/text/real.h"

/* How a number is written. Those that ss prints with %d can be negative. */
enum form {
    FORM_NUMBER,
    FORM_SIGNED, /* 4 bytes */
    FORM_HEX,
    FORM_MILLISECONDS, /* 4 bytes of microseconds; with decimals */
    FORM_OWN,          /* as the token's function writes it */
};

enum { CONGESTION_MAX = 15 }; /* bytes that ss shows: TCP_CA_NAME_MAX of net/tcp.h, less one */

typedef char *put_token_fn(char *dst, const struct ss_row *row, const void *info);

/* The text is copied whole, because that is fast, but only `length` bytes of it count. */
struct token {
    char text[24];
    uint8_t length, form, width;
    uint16_t offset;
    put_token_fn *put;
};

#define TOKEN(type, member_, form_, text_)                                                         \
    {                                                                                              \
        .text = (text_), .length = sizeof(text_) - 1, .form = (form_),                             \
        .width = sizeof(((type *)0)->member_), .offset = offsetof(type, member_)                   \
    }
#define OWN(function)                                                                              \
    {                                                                                              \
        .form = FORM_OWN, .put = (function)                                                        \
    }

/* --- Rates ------------------------------------------------------------------------------------ */

/* Bits a second, with three digits and a unit. */
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

/* A struct of the kernel's may be shorter than ours: what it lacks is 0. */
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

static char *put_cc_info(char *dst, const struct ss_row *row, const void *info)
{
    (void)info;
    if (has_cc_info(row, INET_DIAG_DCTCPINFO))
        return put_dctcp(dst, row);
    return has_cc_info(row, INET_DIAG_BBRINFO) ? put_bbr(dst, row) : dst;
}

/* Vegas measures a round trip of its own. */
static uint32_t round_trip(const struct ss_row *row, const struct kernel_tcp_info *tcp)
{
    static const uint32_t not_measured = 0x7fffffff;
    struct kernel_vegas_info vegas;

    if (!has_cc_info(row, INET_DIAG_VEGASINFO))
        return tcp->rtt;
    copy_struct(&vegas, sizeof vegas, row->record->socket.cc_info);
    return vegas.enabled && vegas.rtt && vegas.rtt != not_measured ? vegas.rtt : tcp->rtt;
}

/* --- Tokens of TCP with their own form -------------------------------------------------------- */

static char *put_tcp_options(char *dst, const struct ss_row *row, const void *info)
{
    static const struct flag_text texts[] = {
        {TCP_OPTION_TIMESTAMPS, " ts"},    {TCP_OPTION_USEC_TS, " usec_ts"},
        {TCP_OPTION_SACK, " sack"},        {TCP_OPTION_ECN, " ecn"},
        {TCP_OPTION_ECN_SEEN, " ecnseen"}, {TCP_OPTION_SYN_DATA, " fastopen"},
    };
    const struct kernel_tcp_info *tcp = info;

    return row->layout->timers ? put_flags(dst, tcp->options, texts, COUNT(texts)) : dst;
}

static char *put_congestion(char *dst, const struct ss_row *row, const void *info)
{
    const struct text *name = &row->record->socket.congestion;

    (void)info;
    if (!ss_has(row, SOCKET_CONGESTION) || !name->length)
        return dst;
    return escape_text(PUT(dst, " "), name->data,
                       name->length < CONGESTION_MAX ? name->length : CONGESTION_MAX, " ");
}

static char *put_wscale(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    (void)row;
    if (!(tcp->options & TCP_OPTION_WSCALE))
        return dst;
    dst = text_u64(PUT(dst, " wscale:"), tcp->snd_wscale);
    return text_u64(PUT(dst, ","), tcp->rcv_wscale);
}

static char *put_rto(char *dst, const struct ss_row *row, const void *info)
{
    static const uint32_t of_no_connection = 3000000;
    const struct kernel_tcp_info *tcp = info;

    (void)row;
    if (!tcp->rto || tcp->rto == of_no_connection)
        return dst;
    return put_thousandths(PUT(dst, " rto:"), tcp->rto);
}

static char *put_rtt(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    (void)row;
    if (!tcp->rtt)
        return dst;
    dst = put_thousandths(PUT(dst, " rtt:"), tcp->rtt);
    return put_thousandths(PUT(dst, "/"), tcp->rttvar);
}

static char *put_ssthresh(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    (void)row;
    if (!tcp->snd_ssthresh || tcp->snd_ssthresh >= UINT16_MAX)
        return dst;
    return text_u64(PUT(dst, " ssthresh:"), tcp->snd_ssthresh);
}

/* A window in each round trip. */
static char *put_send_rate(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;
    const uint32_t rtt = round_trip(row, tcp);

    if (!rtt || !tcp->snd_mss || !tcp->snd_cwnd)
        return dst;
    return put_rate(PUT(dst, " send "), row,
                    (double)tcp->snd_cwnd * tcp->snd_mss * 8000000.0 / rtt);
}

static char *put_pacing(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    if (!tcp->pacing_rate || tcp->pacing_rate == UINT64_MAX)
        return dst;
    dst = put_rate(PUT(dst, " pacing_rate "), row, (double)tcp->pacing_rate * 8);
    if (!tcp->max_pacing_rate || tcp->max_pacing_rate == UINT64_MAX)
        return dst;
    return put_rate(PUT(dst, "/"), row, (double)tcp->max_pacing_rate * 8);
}

static char *put_delivery(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    if (!tcp->delivery_rate)
        return dst;
    return put_rate(PUT(dst, " delivery_rate "), row, (double)tcp->delivery_rate * 8);
}

static char *put_app_limited(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    (void)row;
    return tcp->delivery_rate_app_limited ? PUT(dst, " app_limited") : dst;
}

/* A part of the busy time: milliseconds, and how much it is of all. */
static char *put_limited(char *dst, uint64_t microseconds, uint64_t busy)
{
    dst = PUT(text_u64(dst, microseconds / 1000), "ms(");
    return PUT(put_fixed(dst, 100.0 * (double)microseconds / (double)busy, 1), "%)");
}

static char *put_busy(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    (void)row;
    if (!tcp->busy_time)
        return dst;
    dst = PUT(text_u64(PUT(dst, " busy:"), tcp->busy_time / 1000), "ms");
    if (tcp->rwnd_limited)
        dst = put_limited(PUT(dst, " rwnd_limited:"), tcp->rwnd_limited, tcp->busy_time);
    if (tcp->sndbuf_limited)
        dst = put_limited(PUT(dst, " sndbuf_limited:"), tcp->sndbuf_limited, tcp->busy_time);
    return dst;
}

static char *put_retrans(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    (void)row;
    if (!tcp->retrans && !tcp->total_retrans)
        return dst;
    dst = text_u64(PUT(dst, " retrans:"), tcp->retrans);
    return text_u64(PUT(dst, "/"), tcp->total_retrans);
}

/* Of a listener, the number is the limit of its queue. */
static char *put_sacked(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    if (!tcp->sacked || row->record->socket.state == TCP_LISTEN)
        return dst;
    return text_u64(PUT(dst, " sacked:"), tcp->sacked);
}

static char *put_reordering(char *dst, const struct ss_row *row, const void *info)
{
    static const uint32_t usual = 3;
    const struct kernel_tcp_info *tcp = info;

    (void)row;
    return tcp->reordering == usual ? dst : put_signed(PUT(dst, " reordering:"), tcp->reordering);
}

static char *put_min_rtt(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_tcp_info *tcp = info;

    (void)row;
    if (!tcp->min_rtt || tcp->min_rtt == UINT32_MAX)
        return dst;
    return put_thousandths(PUT(dst, " minrtt:"), tcp->min_rtt);
}

/* --- The tables ------------------------------------------------------------------------------- */

#define TCP(member, form, text) TOKEN(struct kernel_tcp_info, member, form, " " text ":")

static const struct token tcp_tokens[] = {
    OWN(put_tcp_options),
    OWN(put_congestion),
    OWN(put_wscale),
    OWN(put_rto),
    TCP(backoff, FORM_NUMBER, "backoff"),
    OWN(put_rtt),
    TCP(ato, FORM_MILLISECONDS, "ato"),
    TCP(snd_mss, FORM_SIGNED, "mss"),
    TCP(pmtu, FORM_NUMBER, "pmtu"),
    TCP(rcv_mss, FORM_SIGNED, "rcvmss"),
    TCP(advmss, FORM_SIGNED, "advmss"),
    TCP(snd_cwnd, FORM_NUMBER, "cwnd"),
    OWN(put_ssthresh),
    TCP(bytes_sent, FORM_NUMBER, "bytes_sent"),
    TCP(bytes_retrans, FORM_NUMBER, "bytes_retrans"),
    TCP(bytes_acked, FORM_NUMBER, "bytes_acked"),
    TCP(bytes_received, FORM_NUMBER, "bytes_received"),
    TCP(segs_out, FORM_NUMBER, "segs_out"),
    TCP(segs_in, FORM_NUMBER, "segs_in"),
    TCP(data_segs_out, FORM_NUMBER, "data_segs_out"),
    TCP(data_segs_in, FORM_NUMBER, "data_segs_in"),
    OWN(put_cc_info),
    OWN(put_send_rate),
    TCP(last_data_sent, FORM_NUMBER, "lastsnd"),
    TCP(last_data_recv, FORM_NUMBER, "lastrcv"),
    TCP(last_ack_recv, FORM_NUMBER, "lastack"),
    OWN(put_pacing),
    OWN(put_delivery),
    TCP(delivered, FORM_NUMBER, "delivered"),
    TCP(delivered_ce, FORM_NUMBER, "delivered_ce"),
    OWN(put_app_limited),
    OWN(put_busy),
    TCP(unacked, FORM_NUMBER, "unacked"),
    OWN(put_retrans),
    TCP(lost, FORM_NUMBER, "lost"),
    OWN(put_sacked),
    TCP(dsack_dups, FORM_NUMBER, "dsack_dups"),
    TCP(fackets, FORM_NUMBER, "fackets"),
    OWN(put_reordering),
    TCP(reord_seen, FORM_SIGNED, "reord_seen"),
    TCP(rcv_rtt, FORM_MILLISECONDS, "rcv_rtt"),
    TCP(rcv_space, FORM_SIGNED, "rcv_space"),
    TCP(rcv_ssthresh, FORM_NUMBER, "rcv_ssthresh"),
    TCP(notsent_bytes, FORM_NUMBER, "notsent"),
    OWN(put_min_rtt),
    TCP(rcv_ooopack, FORM_NUMBER, "rcv_ooopack"),
    TCP(snd_wnd, FORM_NUMBER, "snd_wnd"),
    TCP(rcv_wnd, FORM_NUMBER, "rcv_wnd"),
    TCP(rehash, FORM_NUMBER, "rehash"),
};

#define MPTCP(member, form, text) TOKEN(struct kernel_mptcp_info, member, form, " " text ":")

static char *put_mptcp_flags(char *dst, const struct ss_row *row, const void *info)
{
    /* MPTCP_INFO_FLAG_FALLBACK and _REMOTE_KEY_RECEIVED of linux/mptcp.h */
    static const struct flag_text texts[] = {{1, " fallback"}, {2, " remote_key"}};
    const struct kernel_mptcp_info *mptcp = info;

    (void)row;
    return put_flags(dst, mptcp->flags, texts, COUNT(texts));
}

static const struct token mptcp_tokens[] = {
    MPTCP(subflows, FORM_NUMBER, "subflows"),
    MPTCP(add_addr_signal, FORM_NUMBER, "add_addr_signal"),
    MPTCP(add_addr_accepted, FORM_NUMBER, "add_addr_accepted"),
    MPTCP(subflows_max, FORM_NUMBER, "subflows_max"),
    MPTCP(add_addr_signal_max, FORM_NUMBER, "add_addr_signal_max"),
    MPTCP(add_addr_accepted_max, FORM_NUMBER, "add_addr_accepted_max"),
    OWN(put_mptcp_flags),
    MPTCP(token, FORM_HEX, "token"),
    MPTCP(write_seq, FORM_NUMBER, "write_seq"),
    MPTCP(snd_una, FORM_NUMBER, "snd_una"),
    MPTCP(rcv_nxt, FORM_NUMBER, "rcv_nxt"),
    MPTCP(local_addr_used, FORM_NUMBER, "local_addr_used"),
    MPTCP(local_addr_max, FORM_NUMBER, "local_addr_max"),
    MPTCP(csum_enabled, FORM_NUMBER, "csum_enabled"),
    MPTCP(retransmits, FORM_NUMBER, "retransmits"),
    MPTCP(bytes_retrans, FORM_NUMBER, "bytes_retrans"),
    MPTCP(bytes_sent, FORM_NUMBER, "bytes_sent"),
    MPTCP(bytes_received, FORM_NUMBER, "bytes_received"),
    MPTCP(bytes_acked, FORM_NUMBER, "bytes_acked"),
    MPTCP(subflows_total, FORM_NUMBER, "subflows_total"),
    MPTCP(endp_laminar_max, FORM_NUMBER, "endp_laminar_max"),
    MPTCP(last_data_sent, FORM_NUMBER, "last_data_sent"),
    MPTCP(last_data_recv, FORM_NUMBER, "last_data_recv"),
    MPTCP(last_ack_recv, FORM_NUMBER, "last_ack_recv"),
};

#define SCTP(member, form, text) TOKEN(struct kernel_sctp_info, member, form, " " text ":")

/* The number is the kernel's own (enum sctp_state of linux/sctp.h inside of it): CLOSED is 0. */
static char *put_sctp_state(char *dst, const struct ss_row *row, const void *info)
{
    const struct kernel_sctp_info *sctp = info;

    (void)row;
    return sctp->state ? put_string(PUT(dst, " state:"), ss_sctp_state(sctp->state)) : dst;
}

static const struct token sctp_tokens[] = {
    SCTP(tag, FORM_HEX, "tag"),
    OWN(put_sctp_state),
    SCTP(rwnd, FORM_SIGNED, "rwnd"),
    SCTP(unackdata, FORM_NUMBER, "unackdata"),
    SCTP(penddata, FORM_NUMBER, "penddata"),
    SCTP(instrms, FORM_NUMBER, "instrms"),
    SCTP(outstrms, FORM_NUMBER, "outstrms"),
    SCTP(inqueue, FORM_SIGNED, "inqueue"),
    SCTP(outqueue, FORM_SIGNED, "outqueue"),
    SCTP(overall_error, FORM_SIGNED, "overerr"),
    SCTP(max_burst, FORM_SIGNED, "maxburst"),
    SCTP(maxseg, FORM_SIGNED, "maxseg"),
    SCTP(peer_rwnd, FORM_SIGNED, "prwnd"),
    SCTP(peer_tag, FORM_HEX, "ptag"),
    SCTP(peer_capable, FORM_NUMBER, "pcapable"),
    SCTP(peer_sack, FORM_NUMBER, "psack"),
    SCTP(s_autoclose, FORM_SIGNED, "autoclose"),
    SCTP(s_adaptation_ind, FORM_SIGNED, "adapind"),
    SCTP(s_pd_point, FORM_SIGNED, "pdpoint"),
    SCTP(s_nodelay, FORM_NUMBER, "nodelay"),
    SCTP(s_disable_fragments, FORM_NUMBER, "nofrag"),
    SCTP(s_v4mapped, FORM_NUMBER, "v4mapped"),
    SCTP(s_frag_interleave, FORM_NUMBER, "fraginl"),
};

/* --- Writing ---------------------------------------------------------------------------------- */

static uint64_t number_at(const char *at, size_t width)
{
    uint32_t u32;
    uint64_t u64;
    uint16_t u16;

    if (width == sizeof u32) {
        memcpy(&u32, at, sizeof u32);
        return u32;
    }
    if (width == sizeof u64) {
        memcpy(&u64, at, sizeof u64);
        return u64;
    }
    if (width == 1)
        return (uint8_t)*at;
    memcpy(&u16, at, sizeof u16);
    return u16;
}

static char *put_number(char *dst, uint8_t form, uint64_t number)
{
    switch (form) {
    case FORM_SIGNED:
        return put_signed(dst, (uint32_t)number);
    case FORM_HEX:
        return put_hex(dst, number);
    case FORM_MILLISECONDS:
        return put_thousandths(dst, (uint32_t)number);
    default:
        if (number > 9)
            return text_u64(dst, number);
        *dst++ = (char)('0' + number);
        return dst;
    }
}

static char *put_tokens(char *dst, const struct ss_row *row, const void *info,
                        const struct token *token, size_t count)
{
    for (const struct token *end = token + count; token < end; token++) {
        if (token->form == FORM_OWN) {
            dst = token->put(dst, row, info);
            continue;
        }
        const uint64_t number = number_at((const char *)info + token->offset, token->width);
        if (!number)
            continue;
        memcpy(dst, token->text, sizeof token->text);
        dst = put_number(dst + token->length, token->form, number);
    }
    return dst;
}

char *ss_put_info(char *dst, const struct ss_row *row)
{
    const struct text bytes = row->record->socket.info;
    union {
        struct kernel_tcp_info tcp;
        struct kernel_mptcp_info mptcp;
        struct kernel_sctp_info sctp;
    } info;

    if (ss_has(row, SOCKET_TCP_INFO)) {
        copy_struct(&info.tcp, sizeof info.tcp, bytes);
        return put_tokens(dst, row, &info, tcp_tokens, COUNT(tcp_tokens));
    }
    if (ss_has(row, SOCKET_MPTCP_INFO)) {
        copy_struct(&info.mptcp, sizeof info.mptcp, bytes);
        return put_tokens(dst, row, &info, mptcp_tokens, COUNT(mptcp_tokens));
    }
    if (ss_has(row, SOCKET_SCTP_INFO)) {
        copy_struct(&info.sctp, sizeof info.sctp, bytes);
        return put_tokens(dst, row, &info, sctp_tokens, COUNT(sctp_tokens));
    }
    return dst;
}
