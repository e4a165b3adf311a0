/* SPDX-License-Identifier: MIT */
/* Sockets from /proc/net. proc(5) describes the files; the kernel writes them in
 * net/ipv4/tcp_ipv4.c (tcp4_seq_show()), udp.c, raw.c and ping.c, in the same files of net/ipv6,
 * and in net/unix/af_unix.c. */
#include "backend/socket/decode.h"

#include <errno.h>
#include <linux/net.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "fastnet/hash.h"
#include "fastnet/report.h"

enum {
    MS_PER_TICK = 10, /* timers are in USER_HZ, which is 100 on every machine */
};

#define FIELDS_INET                                                                                \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE | SOCKET_TIMER |  \
     SOCKET_RETRANSMITS | SOCKET_POINTER)
#define FIELDS_TCP_FILE   (FIELDS_INET | SOCKET_TCP_BASICS)
#define FIELDS_OTHER_FILE (FIELDS_INET | SOCKET_DROPS)

/* Ping sockets have no other source: sock_diag(7) has no handler for ICMP, and a request could load
 * a module. */
#define PING(of_name, of_family)                                                                   \
    {                                                                                              \
        .name = (of_name), .file = (of_name), .kind = &kind_socket, .family = (of_family),         \
        .protocol = IPPROTO_ICMP                                                                   \
    }
const struct table table_icmp = PING("icmp", AF_INET), table_icmp6 = PING("icmp6", AF_INET6);

/* Reads 8 digits. *digits loses the high bit of each byte that is not a digit. */
SCAN_INLINE uint32_t take_eight(uint64_t text, uint64_t *digits)
{
    if (text == SCAN_EACH('0'))
        return 0;
    *digits &= scan_are_digits(text);
    return scan_digits_value(text);
}

/* Reads two digits, one by one, which is faster than a call for eight digits. */
SCAN_INLINE unsigned take_two(const char *at, uint64_t *digits)
{
    const unsigned high = scan_digit(at[0]), low = scan_digit(at[1]);

    *digits &= (high | low) > 15 ? 0 : UINT64_MAX;
    return high << 4 | low;
}

/* Reads numbers of 32 bits in this machine's byte order; proc_file.c adapts other machines'
 * numbers. */
SCAN_INLINE void take_address(const char *at, size_t words, struct address *address,
                              uint64_t *digits)
{
    memset(address->bytes, 0, sizeof address->bytes);
    address->family = words == 1 ? AF_INET : AF_INET6;
    for (size_t i = 0; i < words; i++) {
        const uint32_t word = take_eight(scan_text(at + 8 * i), digits);
        memcpy(address->bytes + 4 * i, &word, sizeof word);
    }
}

/* Reads ADDRESS:PORT. The port is in host byte order. */
static bool scan_endpoint(struct scan *scan, struct endpoint *endpoint, uint8_t family)
{
    const size_t words = family == AF_INET ? 1 : 4;
    uint64_t digits = SCAN_EACH(0x80);

    scan_spaces(scan);
    if (scan->end - scan->at < 8 * (ptrdiff_t)words)
        return false;
    take_address(scan->at, words, &endpoint->address, &digits);
    scan->at += 8 * words;
    return !(~digits & SCAN_EACH(0x80)) && scan_char(scan, ':') && SCAN_HEX(scan, endpoint->port);
}

/* The kernel address (hashed, and 0 under kptr_restrict) alone does not identify a socket, because
 * a new socket may get the address of a socket that has just gone. With both ends and the inode,
 * the address does. */
static uint64_t inet_identity(const struct socket_record *sock, uint64_t address)
{
    const uint8_t *local = sock->local.address.bytes, *remote = sock->remote.address.bytes;
    const uint64_t ports = (uint64_t)sock->local.port << 16 | sock->remote.port;
    uint64_t hash = hash_word(hash_word(0, address), ports << 32 ^ sock->inode);
    uint32_t ends[2];

    if (!address && !(sock->protocol == IPPROTO_ICMP && sock->inode)) /* its inode is enough */
        return 0;
    if (sock->family == AF_INET) {
        memcpy(&ends[0], local, sizeof ends[0]);
        memcpy(&ends[1], remote, sizeof ends[1]);
        hash = hash_word(hash, (uint64_t)ends[0] << 32 | ends[1]);
    } else {
        hash = hash_bytes(hash_bytes(hash, local, 16), remote, 16);
    }
    return hash ? hash : 1;
}

/* Reads the columns of every file of IP: st tx:rx tr:when retrnsmt uid timeout inode. */
static bool scan_inet_numbers(struct scan *scan, struct socket_record *sock)
{
    uint64_t recv_q, ticks;

    scan_spaces(scan);
    if (!SCAN_HEX(scan, sock->state))
        return false;
    scan_spaces(scan);
    if (!SCAN_HEX(scan, sock->send_q) || !scan_char(scan, ':') || !scan_hex(scan, &recv_q, 16) ||
        recv_q > UINT32_MAX)
        return false;
    scan_spaces(scan);
    if (!SCAN_HEX(scan, sock->timer) || !scan_char(scan, ':') || !scan_hex(scan, &ticks, 16))
        return false;
    scan_spaces(scan);
    if (!SCAN_HEX(scan, sock->retransmits) || !SCAN_DECIMAL(scan, sock->uid) ||
        !SCAN_DECIMAL(scan, sock->probes) || !SCAN_DECIMAL(scan, sock->inode) ||
        !scan_char(scan, ' ')) /* at the end of the line the inode may be half a number */
        return false;
    sock->recv_q = (uint32_t)recv_q;
    sock->timer_ms = ticks > UINT64_MAX / MS_PER_TICK ? UINT64_MAX : ticks * MS_PER_TICK;
    return true;
}

/* Sets members that a line lacks or may lack. address: in the kernel's memory; 0: hidden. */
static void inet_set_rest(struct record *record, const struct table *table, uint64_t address)
{
    struct socket_record *sock = &record->socket;

    sock->family = table->family;
    sock->protocol = table->protocol;
    sock->interface = 0;
    if (table->protocol != IPPROTO_TCP)
        sock->retransmits = 0; /* always 0 in the file, and net-tools prints 0 */
    if (table->protocol == IPPROTO_ICMP)
        sock->remote.port = 0; /* the file has the port that connect(2) got, which means nothing */
    record_reset(record, &kind_socket);
    record->has = FIELDS_INET;
    if (table->protocol == IPPROTO_TCP && sock->timer == TIMER_TIME_WAIT)
        record->has &= ~(SOCKET_UID | SOCKET_INODE); /* 0, because the socket is gone */
    record->identity = inet_identity(sock, address);
    sock->endpoint = address;
    if (table->protocol != IPPROTO_TCP || !address) /* ss shows it only for TCP */
        record->has &= ~SOCKET_POINTER;
}

int proc_net_decode_words(const struct line *line, const struct table *table, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct socket_record *sock = &record->socket;
    uint64_t slot, references, address = 0;

    /* each line begins with "  12: " */
    if (line->cut || !scan_number(&scan, &slot, UINT64_MAX) || !scan_char(&scan, ':') ||
        !scan_endpoint(&scan, &sock->local, table->family) ||
        !scan_endpoint(&scan, &sock->remote, table->family) || !scan_inet_numbers(&scan, sock))
        return -EBADMSG;
    if (scan_number(&scan, &references, UINT64_MAX)) {
        scan_spaces(&scan);
        scan_hex(&scan, &address, 16);
    }
    inet_set_rest(record, table, address);
    return 0;
}

/* The fast way: the kernel writes all columns before the inode in fixed widths, so digits and
 * separators are at known positions, and eight digits are read at once. Mostly a number is 0.
 *
 * 0100007F:CB74 0200007F:0016 01 0000000F:00000003 01:0000002A 00000002  1000        3 3999703 2
 * ... */
#define END_COLUMNS(words)                                                                         \
    (8 * (ptrdiff_t)(words) + 6) /* columns of an address of `words` numbers, and a port */
enum { NUMBER_COLUMNS = 57 };    /* columns from the state up to the inode */

SCAN_INLINE bool take_columns(const char *local, size_t words, struct socket_record *sock)
{
    const char *const remote = local + END_COLUMNS(words), *const at = remote + END_COLUMNS(words);
    uint64_t digits = SCAN_EACH(0x80);
    uint32_t two;

    if (remote[-6] != ':' || remote[-1] != ' ' || at[-6] != ':' || at[-1] != ' ' || at[2] != ' ' ||
        at[11] != ':' || at[20] != ' ' || at[23] != ':' || at[32] != ' ' || at[41] != ' ' ||
        at[47] != ' ' || at[56] != ' ')
        return false;
    take_address(local, words, &sock->local.address, &digits);
    take_address(remote, words, &sock->remote.address, &digits);
    two = take_eight(scan_text(remote - 9) << 32 | (scan_text(at - 9) & UINT32_MAX), &digits);
    sock->local.port = (uint16_t)(two >> 16);
    sock->remote.port = (uint16_t)two;
    sock->state = (uint8_t)take_two(at, &digits);
    sock->timer = (uint8_t)take_two(at + 21, &digits);
    sock->send_q = take_eight(scan_text(at + 3), &digits);
    sock->recv_q = take_eight(scan_text(at + 12), &digits);
    sock->timer_ms = (uint64_t)take_eight(scan_text(at + 24), &digits) * MS_PER_TICK;
    sock->retransmits = take_eight(scan_text(at + 33), &digits);
    return !(~digits & SCAN_EACH(0x80)) &&
           scan_right_aligned(SCAN_EACH(' ') << 40 | scan_text(at + 39) << 24 >> 24, &sock->uid) &&
           scan_right_aligned(scan_text(at + 48), &sock->probes);
}

/* Reads the address in the kernel: exactly 16 digits. */
static inline bool take_pointer(const struct scan *scan, uint64_t *address)
{
    uint64_t digits = SCAN_EACH(0x80);

    if (scan->end - scan->at < 16 || (scan->end - scan->at > 16 && scan->at[16] != ' '))
        return false;
    *address = (uint64_t)take_eight(scan_text(scan->at), &digits) << 32;
    *address |= take_eight(scan_text(scan->at + 8), &digits);
    return !(~digits & SCAN_EACH(0x80));
}

bool proc_net_decode_columns(const struct line *line, const struct table *table,
                             struct record *record)
{
    const bool ipv4 = table->family == AF_INET;
    const ptrdiff_t columns = 2 + 2 * (ipv4 ? END_COLUMNS(1) : END_COLUMNS(4)) + NUMBER_COLUMNS;
    struct scan scan = {line->data, line->data + line->length};
    struct socket_record *sock = &record->socket;
    uint64_t address;

    scan_spaces(&scan);
    if (line->cut || !scan_pass_decimal(&scan) || scan.end - scan.at < columns ||
        *scan.at++ != ':' || *scan.at++ != ' ' ||
        !(ipv4 ? take_columns(scan.at, 1, sock) : take_columns(scan.at, 4, sock)))
        return false;
    scan.at += columns - 2;
    if (!scan_decimal(&scan, &sock->inode, UINT64_MAX) || !scan_char(&scan, ' ') ||
        !scan_pass_decimal(&scan) || !scan_char(&scan, ' ') || !take_pointer(&scan, &address))
        return false;
    inet_set_rest(record, table, address);
    return true;
}

/* Reads a number that ends at a space or at the end of the line. */
static bool take_whole(struct scan *scan, uint32_t *number)
{
    return scan_signed(scan, number) &&
           (scan->at == scan->end || *scan->at == ' ' || *scan->at == '\r');
}

/* Reads rto ato quick cwnd ssthresh. Half-open connections and TIME_WAIT have no such columns. */
static bool take_basics(struct scan *scan, struct file_tcp_info *info)
{
    enum { US_PER_TICK = 1000 * MS_PER_TICK, TICKS_MAX = UINT32_MAX / US_PER_TICK };
    struct kernel_tcp_info *tcp = &info->tcp;

    if (!take_whole(scan, &tcp->rto) || !take_whole(scan, &tcp->ato) ||
        !take_whole(scan, &info->quick) || !take_whole(scan, &tcp->snd_cwnd) ||
        !take_whole(scan, &tcp->snd_ssthresh) || tcp->rto > TICKS_MAX || tcp->ato > TICKS_MAX)
        return false;
    tcp->rto *= US_PER_TICK;
    tcp->ato *= US_PER_TICK;
    if (tcp->snd_ssthresh == UINT32_MAX) /* -1: not set yet */
        tcp->snd_ssthresh = TCP_SSTHRESH_NONE;
    return true;
}

void proc_net_decode_rest(const struct line *line, struct inet_rest *rest, struct record *record)
{
    enum { WORDS_BEFORE = 11 }; /* words from the local address to the pointer */
    struct socket_record *sock = &record->socket;
    struct scan scan = {line->data, line->data + line->length};
    const char *const colon = memchr(scan.at, ':', line->length);
    struct text word;
    size_t words = 0;

    scan.at = colon ? colon + 1 : scan.end;
    while (words < WORDS_BEFORE && scan_word(&scan, &word))
        words++;
    if (words < WORDS_BEFORE || line->unended) /* the last number may have lost digits */
        return;
    if (sock->protocol == IPPROTO_TCP && take_basics(&scan, &rest->info)) {
        sock->info = (struct text){(const char *)&rest->info, sizeof rest->info};
        record->has |= SOCKET_TCP_BASICS;
    } else if (sock->protocol != IPPROTO_TCP &&
               take_whole(&scan, &rest->memory[SK_MEMINFO_DROPS])) {
        sock->memory = (struct text){(const char *)rest->memory, sizeof rest->memory};
        record->has |= SOCKET_DROPS;
    }
}

int proc_net_decode_inet(const struct line *line, const struct table *table, struct record *record)
{
    return proc_net_decode_columns(line, table, record)
               ? 0
               : proc_net_decode_words(line, table, record);
}

/* The fast way, up to the state, if addresses of the kernel have 64 bits:
 *
 * 000000002d4e7952: 00000003 00000000 00010000 0001 01 62945594 /run/name */
static bool take_unix_columns(struct scan *scan, struct socket_record *sock, uint64_t *address)
{
    enum { COLUMNS = 53 };
    const char *const at = scan->at;
    uint64_t digits = SCAN_EACH(0x80);

    if (scan->end - at < COLUMNS || at[16] != ':' || at[17] != ' ' || at[26] != ' ' ||
        at[35] != ' ' || at[44] != ' ' || at[49] != ' ' || at[52] != ' ')
        return false;
    *address = (uint64_t)take_eight(scan_text(at), &digits) << 32;
    *address |= take_eight(scan_text(at + 8), &digits);
    sock->refcount = take_eight(scan_text(at + 18), &digits);
    (void)take_eight(scan_text(at + 27), &digits); /* the protocol */
    sock->flags = take_eight(scan_text(at + 36), &digits);
    sock->type = (uint16_t)take_eight(SCAN_EACH('0') << 32 | scan_text(at + 45) >> 32, &digits);
    sock->unix_state = (uint8_t)take_two(at + 50, &digits);
    if (~digits & SCAN_EACH(0x80))
        return false;
    scan->at += COLUMNS;
    return true;
}

static bool scan_unix_words(struct scan *scan, struct socket_record *sock, uint64_t *address)
{
    uint32_t protocol;

    return scan_pointer(scan, address) && scan_char(scan, ':') && scan_char(scan, ' ') &&
           SCAN_HEX(scan, sock->refcount) && scan_char(scan, ' ') && SCAN_HEX(scan, protocol) &&
           scan_char(scan, ' ') && SCAN_HEX(scan, sock->flags) && scan_char(scan, ' ') &&
           SCAN_HEX(scan, sock->type) && scan_char(scan, ' ') && SCAN_HEX(scan, sock->unix_state);
}

static bool scan_unix_numbers(struct scan *scan, struct socket_record *sock, uint64_t *address)
{
    if (!take_unix_columns(scan, sock, address) && !scan_unix_words(scan, sock, address))
        return false;
    /* SS_* of linux/net.h becomes a state that other sockets have, too */
    if (sock->unix_state == SS_CONNECTED || sock->unix_state == SS_CONNECTING)
        sock->state = TCP_ESTABLISHED;
    else
        sock->state = sock->flags & UNIX_ACCEPTCON ? TCP_LISTEN : TCP_CLOSE;
    return scan_number(scan, &sock->inode, UINT64_MAX) &&
           (scan->at == scan->end || scan_char(scan, ' '));
}

/* Returns the name, which is the rest of the line. The kernel writes '@' for each NUL in the name
 * of an abstract socket, so an '@' that the name really has looks the same. */
static struct text scan_path(const struct line *line, size_t offset)
{
    char *path = line->data + offset;
    char *end = line->data + line->length;

    if (path < end && *path == '@')
        for (char *at = path; at && at < end; at = memchr(at, '@', (size_t)(end - at)))
            *at++ = '\0';
    return (struct text){path, (size_t)(end - path)};
}

/* A row can be forged (unix_sockets.c), even with the address and inode of another socket. It must
 * not look like a repeat of that socket, so the identity is a hash of the whole row, with a
 * secret. */
static uint64_t unix_identity(const struct socket_record *sock, uint64_t address)
{
    uint64_t secret[2], hash;

    if (!address)
        return 0;
    hash_secret(secret);
    hash = hash_word(secret[0], address);
    hash = hash_word(hash, sock->inode);
    hash =
        hash_word(hash, (uint64_t)sock->flags << 32 | (uint64_t)sock->type << 8 | sock->unix_state);
    hash = hash_word(hash, secret[1] ^ sock->path.length);
    hash = hash_bytes(hash, sock->path.data, sock->path.length);
    return hash ? hash : 1;
}

int proc_net_decode_unix(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct socket_record *sock = &record->socket;
    uint64_t address;

    memset(record, 0, sizeof *record);
    if (line->cut || !scan_unix_numbers(&scan, sock, &address))
        return -EBADMSG;
    sock->family = AF_UNIX;
    sock->path = scan_path(line, (size_t)(scan.at - line->data));
    if (sock->path.length > SOCKET_PATH_MAX)
        return -EBADMSG;
    record->kind = &kind_socket;
    record->has = FIELDS_UNIX_FILE;
    record->identity = unix_identity(sock, address);
    return 0;
}

static int proc_net_take_inet(struct proc_file *file, const struct line *line,
                              struct record *record)
{
    return proc_net_decode_inet(line, file->query->table, record);
}

static int take_inet_and_rest(struct proc_file *file, const struct line *line,
                              struct record *record)
{
    const int error = proc_net_take_inet(file, line, record);

    if (!error)
        proc_net_decode_rest(line, file->state, record);
    return error;
}

/* Finds rows of the file of unix sockets that may be part of a name, if only the file is read. */
struct doubts {
    size_t offset;     /* position of the line in the file */
    size_t name_reach; /* a name in an earlier line may reach up to here */
    size_t rows;       /* rows that may be forged: part of a name */
};

/* A forged row is part of a name that has a newline in it. Names are short: a row that ends too far
 * after the last name cannot be a part of that name, so the kernel wrote the row. The space after
 * the inode shows that there is a name, even if the name begins with a newline. */
static int take_unix(struct proc_file *file, const struct line *line, struct record *record)
{
    struct doubts *doubts = file->state;
    const int error = proc_net_decode_unix(line, record);

    if (!error) {
        const char *name = record->socket.path.data;
        const size_t reach = doubts->offset + (size_t)(name - line->data) + SOCKET_PATH_MAX;
        doubts->rows += doubts->offset + line->length <= doubts->name_reach;
        if (name[-1] == ' ' && reach > doubts->name_reach)
            doubts->name_reach = reach;
    }
    doubts->offset += line->length + 1;
    return error;
}

static int proc_net_dump(const struct query *query, record_fn fn, void *arg)
{
    const bool is_unix = query->table->family == AF_UNIX;
    const bool is_tcp = query->table->protocol == IPPROTO_TCP;
    const bool with_rest = query->needs & (is_tcp ? SOCKET_TCP_BASICS : SOCKET_DROPS);
    struct doubts doubts = {.rows = 0};
    struct inet_rest rest = {.memory = {0}};
    struct proc_file file = {.query = query,
                             .name = query->table->file,
                             .heading = is_unix ? UNIX_HEADING : "rem",
                             .take = is_unix     ? take_unix
                                     : with_rest ? take_inet_and_rest
                                                 : proc_net_take_inet,
                             .state = is_unix ? (void *)&doubts : &rest};
    const int result = proc_file_read(&file, fn, arg);

    if (doubts.rows)
        report_loss(
            query->report,
            "unix: %zu row%s of %s/net/unix may be forged: netlink did not confirm %s, and any "
            "user can put a newline into a socket's name",
            doubts.rows, doubts.rows == 1 ? "" : "s", query->proc_root,
            doubts.rows == 1 ? "it" : "them");
    return result;
}

const struct backend backend_proc_net = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES({&table_tcp, FIELDS_TCP_FILE}, {&table_tcp6, FIELDS_TCP_FILE},
                         {&table_udp, FIELDS_OTHER_FILE}, {&table_udp6, FIELDS_OTHER_FILE},
                         {&table_udplite, FIELDS_OTHER_FILE}, {&table_udplite6, FIELDS_OTHER_FILE},
                         {&table_raw, FIELDS_OTHER_FILE}, {&table_raw6, FIELDS_OTHER_FILE},
                         {&table_icmp, FIELDS_OTHER_FILE}, {&table_icmp6, FIELDS_OTHER_FILE},
                         {&table_unix, FIELDS_UNIX_FILE | SOCKET_PENDING}),
    .dump = proc_net_dump,
    /* udp_seq_start(), raw_seq_start() and ping_seq_start() resume by counting rows; TCP and unix
     * by bucket */
    .counts_rows = THESE_TABLES(&table_udp, &table_udp6, &table_udplite, &table_udplite6,
                                &table_raw, &table_raw6, &table_icmp, &table_icmp6),
};
