#include "ss_rows.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "addresses.h"
#include "output.h"

const char *ss_written_rows(const struct ss_layout *layout, const struct context *context,
                            const struct record *records, size_t count)
{
    struct output output;
    struct sink *sink = sink_create(&sink_ss, layout, output_begin(&output), context);

    assert_non_null(sink);
    sink_begin(sink);
    for (size_t i = 0; i < count; i++)
        sink->ops->row(sink, &records[i]);
    sink_end(sink);
    return output_end(&output, sink);
}

const char *ss_written(const struct ss_layout *layout, const struct record *record)
{
    static const struct context no_names;

    return ss_written_rows(layout, &no_names, record, record != NULL);
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
