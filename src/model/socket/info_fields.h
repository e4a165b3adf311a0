/* SPDX-License-Identifier: MIT */
/* Values for fields that are more than one number of a struct of kernel_info.h, and for fields of
 * attributes. A field that is one number needs no function: INFO() and INFO_AS() of fields.h name
 * its place. */
#ifndef MODEL_SOCKET_INFO_FIELDS_H
#define MODEL_SOCKET_INFO_FIELDS_H

#include "fastnet/field.h"

/* Names of numbers; NULL: the number has no name. */
word_fn info_fastopen_word, info_ecn_word, info_ca_word, info_sctp_word;
word_fn info_tls_version, info_tls_cipher, info_tls_mode;

extern const struct flag_names info_tcp_options, info_mptcp_flags, info_subflow_flags;

/* A number, unknown if the socket listens. */
field_fn info_number;
/* info_number(), but unknown for the kernel's "unknown": 2^64 - 1, 2^32 - 1 or 2^31 - 1. */
field_fn info_known;
/* info_known() as microseconds, but unknown if it is 0. */
field_fn info_measured;

/* Numbers that are bit fields, so they share a byte. */
enum { INFO_SND_WSCALE, INFO_RCV_WSCALE, INFO_FASTOPEN_FAIL, INFO_APP_LIMITED, INFO_ECN_MODE };
field_fn info_bits;

/* bytes_retrans / bytes_sent in thousandths of a percent. */
field_fn info_retransmitted_percent;

/* The word of a number; the names of a set of flags. */
field_fn info_word, info_flags;

/* Numbers of a congestion control; unknown if another algorithm is used. */
field_fn info_bbr_number, info_dctcp_number, info_vegas_rtt;

field_fn info_send_rate, info_backlog_percent, info_ulp, info_md5_peers;
/* The word for a number in the TLS attribute field->index. */
field_fn info_tls_word;
/* A number of an attribute (nested.h), and whether the attribute exists. INSIDE() sets which. */
field_fn info_nested, info_nested_flag, info_nested_flags;
/* The addresses of the field's member, a struct sockaddr_storage[]. */
field_fn info_sctp_addresses;

#endif
