/* SPDX-License-Identifier: MIT */
/* The layout of ss: lists and attributes after the numbers of -i. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/kernel_info.h"
#include "format/socket/layout_ss.h"
#include "model/socket/info_fields.h"
#include "model/socket/nested.h"

/* --- Addresses of SCTP ------------------------------------------------------------------------ */

static char *put_socket_addresses(char *dst, struct ss_row *row, const char *name,
                                  struct text addresses)
{
    static const size_t size = sizeof(struct sockaddr_storage);

    for (size_t at = 0; at + size <= addresses.length; at += size) {
        const struct address address = sockaddr_address(addresses.data + at);
        dst = at ? PUT(dst, ",") : put_string(dst, name);
        dst = ss_more(row, put_address(dst, &address));
    }
    return dst;
}

char *ss_put_sctp_addresses(char *dst, struct ss_row *row)
{
    const struct socket_record *sock = &row->record->socket;

    if (ss_has(row, SOCKET_LOCALS))
        dst = put_socket_addresses(dst, row, " locals:", sock->locals);
    if (ss_has(row, SOCKET_PEERS))
        dst = put_socket_addresses(dst, row, " peers:", sock->peers);
    return dst;
}

/* --- Keys of TCP-MD5 -------------------------------------------------------------------------- */

/* Writes a key. Bytes that are not visible ASCII, '\\' and ',' are written as \ooo (octal). */
static char *put_key(char *dst, const uint8_t *key, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const uint8_t byte = key[i];
        if (byte > ' ' && byte < 0x7f && byte != '\\' && byte != ',') {
            *dst++ = (char)byte;
            continue;
        }
        *dst++ = '\\';
        *dst++ = (char)('0' + (byte >> 6));
        *dst++ = (char)('0' + (byte >> 3 & 7));
        *dst++ = (char)('0' + (byte & 7));
    }
    return dst;
}

char *ss_put_md5_keys(char *dst, struct ss_row *row)
{
    const struct text *md5 = &row->record->socket.md5;
    struct kernel_md5_key key;

    if (!ss_has(row, SOCKET_MD5))
        return dst;
    for (size_t at = 0; at + sizeof key <= md5->length; at += sizeof key) {
        memcpy(&key, md5->data + at, sizeof key);
        dst = at ? PUT(dst, ",") : PUT(dst, " md5keys:");
        dst = key.family == AF_INET6 ? text_ipv6(dst, key.address) : text_ipv4(dst, key.address);
        dst = PUT(text_u64(PUT(dst, "/"), key.prefix), "=");
        dst = put_key(dst, key.key,
                      key.key_length < sizeof key.key ? key.key_length : sizeof key.key);
        dst = ss_more(row, dst);
    }
    return dst;
}

/* --- Protocols on top of TCP ------------------------------------------------------------------ */

/* The kernel's names have at most 15 bytes (TCP_ULP_NAME_MAX). */
enum { ULP_NAME_MAX = 128 };

/* Words for TLS_CONF_* of linux/tls.h. */
static WORDS(tls_way, "", "none", "sw", "hw", "hw-record");

static char *put_tls_word(char *dst, struct text tls, uint16_t type, const char *name,
                          const char *(*word)(uint64_t number))
{
    uint64_t number;

    if (!nested_number(tls, type, &number))
        return dst;
    dst = put_string(dst, name);
    if (word(number))
        return put_string(dst, word(number));
    return PUT(text_u64(PUT(dst, "unknown("), number), ")");
}

static char *put_tls(char *dst, struct text tls)
{
    uint64_t cipher = 0; /* ss knows only two ciphers */

    dst = put_tls_word(dst, tls, TLS_VERSION, " version: ", info_tls_version);
    if (nested_number(tls, TLS_CIPHER, &cipher) && cipher == AES_GCM_128)
        dst = PUT(dst, " cipher: aes-gcm-128");
    else if (cipher == AES_GCM_256)
        dst = PUT(dst, " cipher: aes-gcm-256");
    dst = put_tls_word(dst, tls, TLS_RXCONF, " rxconf: ", tls_way);
    dst = put_tls_word(dst, tls, TLS_TXCONF, " txconf: ", tls_way);
    if (nested_find(tls, TLS_ZC_RO_TX).data)
        dst = PUT(dst, " zc_ro_tx");
    return nested_find(tls, TLS_RX_NO_PAD).data ? PUT(dst, " no_pad_rx") : dst;
}

static char *put_subflow_flags(char *dst, struct text subflow)
{
    /* MPTCP_SUBFLOW_FLAG_* of linux/mptcp.h */
    static const struct flag_text letters[] = {
        {1 << 0, "M"}, {1 << 1, "m"}, {1 << 2, "J"}, {1 << 3, "j"}, {1 << 4, "B"},
        {1 << 5, "b"}, {1 << 6, "e"}, {1 << 7, "c"}, {1 << 8, "v"},
    };
    uint64_t flags;

    if (!nested_number(subflow, SUBFLOW_FLAGS, &flags) || !flags)
        return dst;
    return put_flags(PUT(dst, " flags:"), (uint32_t)flags, letters, COUNT(letters));
}

/* Writes a token with at least four hex digits, and its id. */
static char *put_token(char *dst, uint64_t token, uint64_t id)
{
    for (uint64_t least = 0x1000; token < least && least > 1; least >>= 4)
        *dst++ = '0';
    return PUT(text_u64(PUT(put_hex(dst, token), "(id:"), id), ")");
}

static char *put_subflow_tokens(char *dst, struct text subflow)
{
    uint64_t token_rem, token_loc, id_rem, id_loc;

    if (!nested_number(subflow, SUBFLOW_TOKEN_REM, &token_rem) ||
        !nested_number(subflow, SUBFLOW_TOKEN_LOC, &token_loc) ||
        !nested_number(subflow, SUBFLOW_ID_REM, &id_rem) ||
        !nested_number(subflow, SUBFLOW_ID_LOC, &id_loc))
        return dst;
    dst = put_token(PUT(dst, " token:"), token_rem, id_rem);
    return put_token(PUT(dst, "/"), token_loc, id_loc);
}

static char *put_subflow(char *dst, struct text subflow)
{
    static const struct {
        const char *name;
        uint16_t type;
    } numbers[] = {
        {" seq:", SUBFLOW_MAP_SEQ},
        {" sfseq:", SUBFLOW_MAP_SFSEQ},
        {" ssnoff:", SUBFLOW_SSN_OFFSET},
        {" maplen:", SUBFLOW_MAP_DATALEN},
    };
    uint64_t number;

    dst = put_subflow_tokens(put_subflow_flags(dst, subflow), subflow);
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (nested_number(subflow, numbers[i].type, &number))
            dst = text_u64(put_string(dst, numbers[i].name), number);
    return dst;
}

char *ss_put_ulp(char *dst, struct ss_row *row)
{
    const struct text ulp = row->record->socket.ulp;
    struct text part;

    if (!ss_has(row, SOCKET_ULP))
        return dst;
    dst = ss_more(row, dst);
    part = nested_find(ulp, ULP_NAME);
    if (part.data) {
        const size_t most = part.length < ULP_NAME_MAX ? part.length : ULP_NAME_MAX;
        dst = escape_text(PUT(dst, " tcp-ulp-"), part.data, strnlen(part.data, most), " ");
    }
    part = nested_find(ulp, ULP_TLS);
    if (part.data)
        dst = put_tls(dst, part);
    part = nested_find(ulp, ULP_MPTCP);
    return part.data ? put_subflow(dst, part) : dst;
}
