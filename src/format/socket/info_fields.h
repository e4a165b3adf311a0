/* SPDX-License-Identifier: MIT */
/*
 * Values of fields that are more than one number of the structs in kernel_info.h, and of
 * attributes. A field that is one number needs no function: INFO() and INFO_AS() of fields.h say
 * where it is.
 */
#ifndef FORMAT_SOCKET_INFO_FIELDS_H
#define FORMAT_SOCKET_INFO_FIELDS_H

#include "fastnet/field.h"

/* Names of numbers, NULL if they have none. */
const char *info_fastopen_word(uint64_t number);
const char *info_ecn_word(uint64_t number);
const char *info_ca_word(uint64_t number);
const char *info_sctp_word(uint64_t number);
const char *info_tls_version(uint64_t version);
const char *info_tls_cipher(uint64_t cipher);
const char *info_tls_mode(uint64_t mode);

extern const struct flag_names info_tcp_options, info_mptcp_flags, info_subflow_flags;

/* A number, unknown if the socket listens. */
struct value info_number(const struct cell *cell);
/* info_number(), unless the kernel says "unknown" by it: 2^64 - 1, 2^32 - 1 or 2^31 - 1. */
struct value info_known(const struct cell *cell);
/* info_known() as microseconds, but unknown if it is 0. */
struct value info_measured(const struct cell *cell);

/* The parts of bytes that several numbers share. */
enum { INFO_SND_WSCALE, INFO_RCV_WSCALE, INFO_FASTOPEN_FAIL, INFO_APP_LIMITED, INFO_ECN_MODE };
struct value info_bits(const struct cell *cell);

/* bytes_retrans of bytes_sent, in thousandths of a percent. */
struct value info_resent_percent(const struct cell *cell);

/* A number's word, and the words of the field's flags. */
struct value info_word(const struct cell *cell);
struct value info_flags(const struct cell *cell);
struct value info_send_rate(const struct cell *cell);

/* Of the congestion control's struct, if it is that one. */
struct value info_bbr_number(const struct cell *cell);
struct value info_dctcp_number(const struct cell *cell);
struct value info_vegas_rtt(const struct cell *cell);

struct value info_backlog_percent(const struct cell *cell);
struct value info_ulp(const struct cell *cell);
/* The word of a number of TLS: of the attribute field->index. */
struct value info_tls_word(const struct cell *cell);
/* A number of an attribute (nested.h), and whether it is there; where it is, by INSIDE(). */
struct value info_nested(const struct cell *cell);
struct value info_nested_flag(const struct cell *cell);
struct value info_nested_flags(const struct cell *cell);
struct value info_md5_peers(const struct cell *cell);
/* The addresses of the field's member, a struct sockaddr_storage[]. */
struct value info_sctp_addresses(const struct cell *cell);

#endif
