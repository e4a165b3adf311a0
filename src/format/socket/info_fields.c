#include "format/socket/info_fields.h"

#include <linux/inet_diag.h>
#include <netinet/tcp.h>

#include "format/fields/fields.h"
#include "format/socket/nested.h"
#include "format/socket/tcp_info.h"

/* --- Numbers ---------------------------------------------------------------------------------- */

/* A listener has almost no numbers; two of them are of its queue then. */
struct value info_number(const struct cell *cell)
{
    return cell->record->socket.state == TCP_LISTEN ? unknown : info_member(cell);
}

struct value info_known(const struct cell *cell)
{
    const struct value value = info_number(cell);
    const bool is_short = cell->field->part.size == sizeof(uint32_t);

    if (value.type != VALUE_NUMBER || value.number == UINT64_MAX ||
        (is_short && (value.number == UINT32_MAX || value.number == INT32_MAX)))
        return unknown;
    return value;
}

struct value info_tcp_milliseconds(const struct cell *cell)
{
    const struct value value = info_number(cell);

    return value.type == VALUE_NUMBER ? decimal(value.number) : value;
}

struct value info_tcp_microseconds(const struct cell *cell)
{
    const struct value value = info_number(cell);

    return value.type == VALUE_NUMBER ? fine(value.number) : value;
}

struct value info_measured(const struct cell *cell)
{
    const struct value value = info_known(cell);

    return value.type == VALUE_NUMBER && value.number ? fine(value.number) : unknown;
}

/* A copy of what the kernel sent, the rest is 0. Returns false if it sent less than least bytes. */
static bool copy_info(struct kernel_tcp_info *info, const struct record *record, size_t least)
{
    const struct text *sent = &record->socket.info;

    if (sent->length < least || record->socket.state == TCP_LISTEN)
        return false;
    memset(info, 0, sizeof *info);
    memcpy(info, sent->data, sent->length < sizeof *info ? sent->length : sizeof *info);
    return true;
}

/* The bytes up to a member, which begins behind those that are meant. */
#define UP_TO(of_part) offsetof(struct kernel_tcp_info, of_part)

struct value info_snd_wscale(const struct cell *cell)
{
    struct kernel_tcp_info info;

    if (!copy_info(&info, cell->record, UP_TO(rto)) || !(info.options & TCP_OPTION_WSCALE))
        return unknown;
    return number(info.snd_wscale);
}

struct value info_rcv_wscale(const struct cell *cell)
{
    struct kernel_tcp_info info;

    if (!copy_info(&info, cell->record, UP_TO(rto)) || !(info.options & TCP_OPTION_WSCALE))
        return unknown;
    return number(info.rcv_wscale);
}

/* The bit is as old as the rate that it is about. */
struct value info_app_limited(const struct cell *cell)
{
    struct kernel_tcp_info info;

    if (!copy_info(&info, cell->record, UP_TO(busy_time)))
        return unknown;
    return number(info.delivery_rate_app_limited);
}

/* Bytes a second: the congestion window in each round trip. */
struct value info_send_rate(const struct cell *cell)
{
    struct kernel_tcp_info info;
    uint64_t rate;

    if (!copy_info(&info, cell->record, UP_TO(advmss)) || !info.rtt ||
        __builtin_mul_overflow((uint64_t)info.snd_cwnd * info.snd_mss, 1000000u, &rate))
        return unknown;
    return number(rate / info.rtt);
}

/* --- Words and flags -------------------------------------------------------------------------- */

struct value info_fastopen_client_fail(const struct cell *cell)
{
    /* enum tcp_fastopen_client_fail of linux/tcp.h */
    static const char *const names[] = {NULL, "cookie_unavailable", "data_not_acked",
                                        "syn_retransmitted"};
    struct kernel_tcp_info info;

    if (!copy_info(&info, cell->record, UP_TO(rto)))
        return unknown;
    return string(names[info.fastopen_client_fail]);
}

struct value info_ecn_mode(const struct cell *cell)
{
    /* TCPI_ECN_MODE_* of linux/tcp.h */
    static const char *const names[] = {"disabled", "rfc3168", "accecn", "pending"};
    struct kernel_tcp_info info;

    if (!copy_info(&info, cell->record, sizeof info))
        return unknown;
    return string(names[info.ecn_mode]);
}

static struct value word_of(const struct cell *cell, const char *const *names, size_t count)
{
    const struct value value = info_number(cell);

    return value.type == VALUE_NUMBER && value.number < count ? string(names[value.number])
                                                              : unknown;
}

struct value info_ca_state(const struct cell *cell)
{
    /* enum tcp_ca_state of linux/tcp.h */
    static const char *const names[] = {"open", "disorder", "cwr", "recovery", "loss"};

    return word_of(cell, names, COUNT(names));
}

struct value info_sctp_state(const struct cell *cell)
{
    /* enum sctp_state of net/sctp/constants.h; an endpoint has no association, and says CLOSED */
    static const char *const names[] = {
        NULL,
        "COOKIE_WAIT",
        "COOKIE_ECHOED",
        "ESTABLISHED",
        "SHUTDOWN_PENDING",
        "SHUTDOWN_SENT",
        "SHUTDOWN_RECEIVED",
        "SHUTDOWN_ACK_SENT",
    };

    return word_of(cell, names, COUNT(names));
}

static struct value flags_of(const struct cell *cell, const struct flag_names *names)
{
    const struct value value = info_number(cell);

    if (value.type != VALUE_NUMBER)
        return value;
    return (struct value){.type = VALUE_FLAGS, .flags = {names, {value.number, 0}}};
}

struct value info_tcp_options(const struct cell *cell)
{
    /* TCPI_OPT_* of linux/tcp.h */
    static const char *const words[] = {"timestamps", "sack",     "wscale",  "ecn",
                                        "ecn_seen",   "syn_data", "usec_ts", "tfo_child"};
    static const struct flag_names names = {words, COUNT(words)};

    return flags_of(cell, &names);
}

struct value info_mptcp_flags(const struct cell *cell)
{
    /* MPTCP_INFO_FLAG_* of linux/mptcp.h */
    static const char *const words[] = {"fallback", "remote_key"};
    static const struct flag_names names = {words, COUNT(words)};

    return flags_of(cell, &names);
}

/* --- Congestion control ----------------------------------------------------------------------- */

/* Of a gain, three decimals. */
static struct value ratio(uint32_t part, uint32_t whole)
{
    return decimal((UINT64_C(1000) * part + whole / 2) / whole);
}

static bool copy_bbr(struct kernel_bbr_info *bbr, const struct record *record)
{
    const struct socket_record *sock = &record->socket;

    if (sock->cc_type != INET_DIAG_BBRINFO || sock->cc_info.length < sizeof *bbr)
        return false;
    memcpy(bbr, sock->cc_info.data, sizeof *bbr);
    return true;
}

struct value info_bbr_bandwidth(const struct cell *cell)
{
    struct kernel_bbr_info bbr;

    return copy_bbr(&bbr, cell->record) ? number((uint64_t)bbr.bw_hi << 32 | bbr.bw_lo) : unknown;
}

struct value info_bbr_min_rtt(const struct cell *cell)
{
    struct kernel_bbr_info bbr;

    return copy_bbr(&bbr, cell->record) && bbr.min_rtt != UINT32_MAX ? fine(bbr.min_rtt) : unknown;
}

struct value info_bbr_pacing_gain(const struct cell *cell)
{
    struct kernel_bbr_info bbr;

    return copy_bbr(&bbr, cell->record) ? ratio(bbr.pacing_gain, 256) : unknown;
}

struct value info_bbr_cwnd_gain(const struct cell *cell)
{
    struct kernel_bbr_info bbr;

    return copy_bbr(&bbr, cell->record) ? ratio(bbr.cwnd_gain, 256) : unknown;
}

/* Without DCTCP on both ends its numbers mean nothing. */
struct value info_dctcp_number(const struct cell *cell)
{
    const struct socket_record *sock = &cell->record->socket;
    struct kernel_dctcp_info dctcp;

    if (sock->cc_type != INET_DIAG_DCTCPINFO || sock->cc_info.length < sizeof dctcp)
        return unknown;
    memcpy(&dctcp, sock->cc_info.data, sizeof dctcp);
    return dctcp.enabled ? info_member(cell) : unknown;
}

struct value info_vegas_rtt(const struct cell *cell)
{
    const struct socket_record *sock = &cell->record->socket;

    return sock->cc_type == INET_DIAG_VEGASINFO ? info_measured(cell) : unknown;
}

/* --- Listeners -------------------------------------------------------------------------------- */

struct value info_backlog_percent(const struct cell *cell)
{
    const struct socket_record *sock = &cell->record->socket;

    if (!sock->backlog)
        return unknown;
    return number((UINT64_C(100) * sock->recv_q + sock->backlog / 2) / sock->backlog);
}

/* --- Upper layers ----------------------------------------------------------------------------- */

struct value info_ulp(const struct cell *cell)
{
    struct text ulp = nested_find(cell->record->socket.ulp, ULP_NAME);

    if (!ulp.data)
        return unknown;
    ulp.length = strnlen(ulp.data, ulp.length);
    return (struct value){.type = VALUE_TEXT, .text = ulp};
}

static bool tls_number(const struct cell *cell, uint16_t type, uint64_t *number)
{
    return nested_number(nested_find(cell->record->socket.ulp, ULP_TLS), type, number);
}

struct value info_tls_version(const struct cell *cell)
{
    uint64_t version;

    if (!tls_number(cell, TLS_VERSION, &version))
        return unknown;
    return string(version == TLS_1_2 ? "1.2" : version == TLS_1_3 ? "1.3" : NULL);
}

struct value info_tls_cipher(const struct cell *cell)
{
    /* TLS_CIPHER_* of linux/tls.h, the first is 51 */
    static const char *const names[] = {
        "aes-gcm-128", "aes-gcm-256", "aes-ccm-128",  "chacha20-poly1305",
        "sm4-gcm",     "sm4-ccm",     "aria-gcm-128", "aria-gcm-256",
    };
    uint64_t cipher;

    if (!tls_number(cell, TLS_CIPHER, &cipher) || cipher < AES_GCM_128)
        return unknown;
    return string(POINTER_AT(names, cipher - AES_GCM_128));
}

/* field->index is the attribute: TLS_RXCONF or TLS_TXCONF. */
struct value info_tls_mode(const struct cell *cell)
{
    /* TLS_CONF_* of linux/tls.h */
    static const char *const names[] = {NULL, "none", "software", "hardware", "hardware_record"};
    uint64_t mode;

    if (!tls_number(cell, (uint16_t)cell->field->index, &mode))
        return unknown;
    return string(POINTER_AT(names, mode));
}

static struct text member_of(const struct cell *cell)
{
    struct text member;

    memcpy(&member, (const char *)cell->record + cell->field->offset, sizeof member);
    return member;
}

/* Attribute index % 65536 is one of these; with a higher index, of those in index / 65536. */
static struct text attributes_around(const struct cell *cell)
{
    const uint16_t outer = (uint16_t)(cell->field->index >> 16);

    return outer ? nested_find(member_of(cell), outer) : member_of(cell);
}

struct value info_nested(const struct cell *cell)
{
    uint64_t found;

    return nested_number(attributes_around(cell), (uint16_t)cell->field->index, &found)
               ? number(found)
               : unknown;
}

struct value info_nested_flag(const struct cell *cell)
{
    const struct text attributes = attributes_around(cell);

    if (!attributes.data)
        return unknown;
    return number(nested_find(attributes, (uint16_t)cell->field->index).data != NULL);
}

struct value info_subflow_flags(const struct cell *cell)
{
    /* MPTCP_SUBFLOW_FLAG_* of linux/mptcp.h */
    static const char *const words[] = {"mp_capable_remote", "mp_capable_local", "mp_join_remote",
                                        "mp_join_local",     "backup_remote",    "backup_local",
                                        "fully_established", "connected",        "map_valid"};
    static const struct flag_names names = {words, COUNT(words)};
    const struct value value = info_nested(cell);

    if (value.type != VALUE_NUMBER)
        return value;
    return (struct value){.type = VALUE_FLAGS, .flags = {&names, {value.number, 0}}};
}

/* --- TCP-MD5 ---------------------------------------------------------------------------------- */

static struct network md5_network(const void *element)
{
    struct kernel_md5_key key;

    memcpy(&key, element, sizeof key);
    return (struct network){address_make(key.family == AF_INET6 ? AF_INET6 : AF_INET, key.address),
                            key.prefix};
}

struct value info_md5_peers(const struct cell *cell)
{
    const struct text *md5 = &cell->record->socket.md5;

    return (struct value){.type = VALUE_NETWORKS,
                          .networks = {md5->data, md5->length / sizeof(struct kernel_md5_key),
                                       sizeof(struct kernel_md5_key), md5_network}};
}

/* --- SCTP ------------------------------------------------------------------------------------- */

static struct network sctp_address(const void *element)
{
    const struct address end = sockaddr_address(element);

    return (struct network){address_unmapped(&end), NO_PREFIX};
}

struct value info_sctp_addresses(const struct cell *cell)
{
    const struct text addresses = member_of(cell);

    return (struct value){.type = VALUE_NETWORKS,
                          .networks = {addresses.data,
                                       addresses.length / sizeof(struct sockaddr_storage),
                                       sizeof(struct sockaddr_storage), sctp_address}};
}
