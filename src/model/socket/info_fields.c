/* SPDX-License-Identifier: MIT */
#include "model/socket/info_fields.h"

#include <linux/inet_diag.h>
#include <netinet/tcp.h>

#include "fastnet/kernel_info.h"
#include "model/fields/fields.h"
#include "model/socket/nested.h"

/* --- Numbers ---------------------------------------------------------------------------------- */

/* A number of tcp_info. A listener fills few of them, and two of these describe its queue. */
struct value info_number(const struct cell *cell)
{
    return cell->record->socket.state == TCP_LISTEN ? unknown : info_member(cell);
}

struct value info_known(const struct cell *cell)
{
    const struct value value = info_number(cell);
    const bool is_short = cell->field->part.size == sizeof(uint32_t);

    if (value.type == VALUE_UNKNOWN || value.number == UINT64_MAX ||
        (is_short && (value.number == UINT32_MAX || value.number == INT32_MAX)))
        return unknown;
    return value;
}

struct value info_measured(const struct cell *cell)
{
    const struct value value = info_known(cell);

    return value.type != VALUE_UNKNOWN && value.number ? value : unknown;
}

/* Copies the kernel's bytes; the rest of *info is 0. Returns false if there are fewer than `least`
 * bytes. */
static bool copy_info(struct kernel_tcp_info *info, const struct record *record, size_t least)
{
    if (record->socket.info.length < least || record->socket.state == TCP_LISTEN)
        return false;
    *info = tcp_info_of(record);
    return true;
}

/* bytes_retrans in percent of bytes_sent. Unknown if an old kernel does not send these numbers, or
 * if a saved answer has impossible numbers. */
struct value info_retransmitted_percent(const struct cell *cell)
{
    struct kernel_tcp_info info;

    if (!copy_info(&info, cell->record, offsetof(struct kernel_tcp_info, dsack_dups)) ||
        !info.bytes_sent || info.bytes_retrans > info.bytes_sent)
        return unknown;
    return decimal((uint64_t)((double)info.bytes_retrans * 100000 / (double)info.bytes_sent));
}

/* The number of bytes before the member `of_part`. */
#define UP_TO(of_part) offsetof(struct kernel_tcp_info, of_part)

struct value info_bits(const struct cell *cell)
{
    static const size_t least[] = {
        [INFO_SND_WSCALE] = UP_TO(rto),
        [INFO_RCV_WSCALE] = UP_TO(rto),
        [INFO_FASTOPEN_FAIL] = UP_TO(rto),
        [INFO_APP_LIMITED] =
            UP_TO(busy_time), /* added together with delivery_rate, which it is about */
        [INFO_ECN_MODE] = sizeof(struct kernel_tcp_info),
    };
    const size_t which = cell->field->index;
    struct kernel_tcp_info info;

    if (!copy_info(&info, cell->record, least[which]) ||
        (which <= INFO_RCV_WSCALE && !(info.options & TCP_OPTION_WSCALE)))
        return unknown;
    if (which == INFO_APP_LIMITED)
        return boolean(info.delivery_rate_app_limited);
    if (which <= INFO_RCV_WSCALE)
        return number(which == INFO_SND_WSCALE ? info.snd_wscale : info.rcv_wscale);
    return string(
        cell->field->word(which == INFO_ECN_MODE ? info.ecn_mode : info.fastopen_client_fail));
}

/* Bytes per second: one congestion window in each round trip. */
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

/* enum tcp_fastopen_client_fail of linux/tcp.h */
WORDS(info_fastopen_word, "", "cookie_unavailable", "data_not_acked", "syn_retransmitted");

/* TCPI_ECN_MODE_* of linux/tcp.h */
WORDS(info_ecn_word, "disabled", "rfc3168", "accecn", "pending");

struct value info_word(const struct cell *cell)
{
    const struct value value = info_number(cell);

    return value.type == VALUE_NUMBER ? string(cell->field->word(value.number)) : value;
}

/* enum tcp_ca_state of linux/tcp.h */
WORDS(info_ca_word, "open", "disorder", "cwr", "recovery", "loss");

/* enum sctp_state of net/sctp/constants.h; an endpoint has no association, and its state is
 * CLOSED */
WORDS(info_sctp_word, "", "COOKIE_WAIT", "COOKIE_ECHOED", "ESTABLISHED", "SHUTDOWN_PENDING",
      "SHUTDOWN_SENT", "SHUTDOWN_RECEIVED", "SHUTDOWN_ACK_SENT");

static struct value info_flags_of(const struct cell *cell, struct value value)
{
    if (value.type != VALUE_NUMBER)
        return value;
    return (struct value){.type = VALUE_FLAGS, .flags = {cell->field->flags, {value.number, 0}}};
}

struct value info_flags(const struct cell *cell)
{
    return info_flags_of(cell, info_number(cell));
}

/* TCPI_OPT_* of linux/tcp.h */
const struct flag_names info_tcp_options = FLAG_NAMES(
    "timestamps", "sack", "wscale", "ecn", "ecn_seen", "syn_data", "usec_ts", "tfo_child");

/* MPTCP_INFO_FLAG_* of linux/mptcp.h */
const struct flag_names info_mptcp_flags = FLAG_NAMES("fallback", "remote_key");

/* --- Congestion control ----------------------------------------------------------------------- */

/* field->index chooses: half of the bandwidth, a time, or a gain in 1/256. */
struct value info_bbr_number(const struct cell *cell)
{
    const struct socket_record *sock = &cell->record->socket;
    struct value value = info_member(cell);
    struct kernel_bbr_info bbr;

    if (sock->cc_type != INET_DIAG_BBRINFO || sock->cc_info.length < sizeof bbr ||
        (value.type == VALUE_FINE && value.number == UINT32_MAX)) /* not measured yet */
        return unknown;
    memcpy(&bbr, sock->cc_info.data, sizeof bbr);
    if (value.type == VALUE_NUMBER)
        value.number |= (uint64_t)bbr.bw_hi << 32;
    if (value.type == VALUE_DECIMAL)
        value.number = (1000 * value.number + 128) / 256;
    return value;
}

/* A number of DCTCP. Unknown unless both ends use DCTCP: otherwise the number means nothing. */
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

/* In percent of the limit. One more connection can wait: listen(fd, 0) has room for one. */
struct value info_backlog_percent(const struct cell *cell)
{
    const struct socket_record *sock = &cell->record->socket;

    if (!sock->backlog)
        return number(sock->recv_q ? 100 : 0);
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

/* field->index is the attribute. */
struct value info_tls_word(const struct cell *cell)
{
    const struct text tls = nested_find(cell->record->socket.ulp, ULP_TLS);
    uint64_t version;

    if (!nested_number(tls, (uint16_t)cell->field->index, &version))
        return unknown;
    return string(cell->field->word(version));
}

const char *info_tls_version(uint64_t version)
{
    return version == TLS_1_2 ? "1.2" : version == TLS_1_3 ? "1.3" : NULL;
}

/* TLS_CIPHER_* of linux/tls.h, from 51 on */
const char *info_tls_cipher(uint64_t cipher)
{
    static const char *const names[] = {
        "aes-gcm-128", "aes-gcm-256", "aes-ccm-128",  "chacha20-poly1305",
        "sm4-gcm",     "sm4-ccm",     "aria-gcm-128", "aria-gcm-256",
    };

    return cipher < AES_GCM_128 ? NULL : POINTER_AT(names, cipher - AES_GCM_128);
}

/* TLS_CONF_* of linux/tls.h */
WORDS(info_tls_mode, "", "none", "software", "hardware", "hardware_record");

/* Returns the attributes to search for number (field->index & 0xffff): all in the member or, if
 * outer = field->index >> 16 is not 0, those nested in the member's attribute `outer`. */
static struct text attributes_around(const struct cell *cell)
{
    const uint16_t outer = (uint16_t)(cell->field->index >> 16);

    return outer ? nested_find(member_text(cell), outer) : member_text(cell);
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
    return boolean(nested_find(attributes, (uint16_t)cell->field->index).data);
}

/* MPTCP_SUBFLOW_FLAG_* of linux/mptcp.h */
const struct flag_names info_subflow_flags =
    FLAG_NAMES("mp_capable_remote", "mp_capable_local", "mp_join_remote", "mp_join_local",
               "backup_remote", "backup_local", "fully_established", "connected", "map_valid");

struct value info_nested_flags(const struct cell *cell)
{
    return info_flags_of(cell, info_nested(cell));
}

/* --- Lists of addresses ----------------------------------------------------------------------- */

/* A list of addresses. size: bytes of an element, from which `read` makes an address. */
static struct value networks(struct text bytes, size_t size,
                             struct network (*read)(const void *element))
{
    return (struct value){.type = VALUE_NETWORKS,
                          .networks = {bytes.data, bytes.length / size, size, read}};
}

static struct network md5_network(const void *element)
{
    struct kernel_md5_key key;

    memcpy(&key, element, sizeof key);
    return (struct network){address_make(key.family == AF_INET6 ? AF_INET6 : AF_INET, key.address),
                            key.prefix};
}

struct value info_md5_peers(const struct cell *cell)
{
    return networks(cell->record->socket.md5, sizeof(struct kernel_md5_key), md5_network);
}

static struct network sctp_address(const void *element)
{
    const struct address end = sockaddr_address(element);

    return (struct network){address_unmapped(&end), NO_PREFIX};
}

struct value info_sctp_addresses(const struct cell *cell)
{
    return networks(member_text(cell), sizeof(struct sockaddr_storage), sctp_address);
}
