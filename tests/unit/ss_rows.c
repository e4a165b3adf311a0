/* SPDX-License-Identifier: MIT */
#include "ss_rows.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "kit.h"

const char *ss_written_rows(const struct ss_layout *layout, const struct context *context,
                            const struct record *records, size_t count)
{
    return output_of(&sink_ss, layout, context, -1, records, count);
}

const char *ss_written(const struct ss_layout *layout, const struct record *record)
{

    return ss_written_rows(layout, &no_names, record, record != NULL);
}

const char *ss_tokens(const struct ss_layout *layout, const struct record *record)
{
    const struct ss_layout bare = {.numeric = layout->numeric};
    const size_t length = strlen(ss_written(&bare, record)) - 1;
    const char *row = ss_written(layout, record);
    static char tokens[128 * 1024];

    /* what the row is longer by, but for the blanks that fill the last column */
    for (row += length; row[0] == ' ' && row[1] == ' ';)
        row++;
    assert_in_range(strlen(row), 1, sizeof tokens);
    memcpy(tokens, row, strlen(row));
    tokens[strlen(row) - 1] = '\0';
    return tokens;
}

void put_attribute(struct attribute_bytes *bytes, uint16_t type, const void *data, size_t length)
{
    const struct nlattr header = {(uint16_t)(sizeof header + length), type};
    const size_t whole = sizeof header + (length + 3) / 4 * 4;

    assert_in_range(bytes->length + whole, 0, sizeof bytes->data);
    memset(bytes->data + bytes->length, 0, whole);
    memcpy(bytes->data + bytes->length, &header, sizeof header);
    memcpy(bytes->data + bytes->length + sizeof header, data, length);
    bytes->length += whole;
}

void put_u16(struct attribute_bytes *bytes, uint16_t type, uint16_t number)
{
    put_attribute(bytes, type, &number, sizeof number);
}

void put_u32(struct attribute_bytes *bytes, uint16_t type, uint32_t number)
{
    put_attribute(bytes, type, &number, sizeof number);
}

struct record tcp_row(const char *local, uint16_t local_port, const char *remote,
                      uint16_t remote_port)
{
    struct record record = {.kind = &kind_socket,
                            .has = ss_layout_needs(&(struct ss_layout){0}).fields};

    record.socket.family = ip(local).family;
    record.socket.protocol = IPPROTO_TCP;
    record.socket.state = TCP_ESTABLISHED;
    record.socket.local = (struct endpoint){ip(local), local_port};
    record.socket.remote = (struct endpoint){ip(remote), remote_port};
    return record;
}

struct record other_row(uint8_t family, uint16_t type)
{
    return (struct record){
        .kind = &kind_socket,
        .has = ss_layout_needs(&(struct ss_layout){0}).fields,
        .socket = {.family = family, .type = type, .state = TCP_CLOSE, .inode = 12345}};
}
