/*
 * Answers of a netlink peer: transport and both decoders. The first byte says which table is
 * asked for; then come datagrams, each behind two bytes of length, as in the recorded dumps.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/netlink.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"

struct input {
    const uint8_t *data;
    size_t size, next;
    const struct table *table;
};

static int take_request(void *arg, const void *message, size_t size)
{
    struct input *input = arg;

    (void)message;
    require(size >= 16);
    input->next = 0; /* asked again, the peer says the same again */
    return 0;
}

static ssize_t give_datagram(void *arg, void *buffer, size_t size, uint32_t *port)
{
    struct input *input = arg;
    size_t left = input->size - input->next, length;

    if (left < 2)
        return 0;
    length = (size_t)input->data[input->next] | (size_t)input->data[input->next + 1] << 8;
    *port = (uint32_t)(length >> 15); /* the kernel, or somebody else */
    length &= 0x7fff;
    length = length < left - 2 ? length : left - 2;
    require(length <= size);
    memcpy(buffer, input->data + input->next + 2, length);
    input->next += 2 + length;
    return (ssize_t)length;
}

/* What a row says must be within what its table can have, and be there to be read. */
static int check_record(const struct record *record, void *arg)
{
    const struct input *input = arg;
    const struct socket_record *sock = &record->socket;
    unsigned sum = 0;

    require(record->kind == RECORD_SOCKET);
    require(!(record->has & ~backend_sock_diag.fields(input->table)));
    require(sock->family == input->table->family && sock->protocol == input->table->protocol);
    if (record->has & SOCKET_PATH) {
        require(sock->path.length <= SOCKET_PATH_MAX);
        for (size_t i = 0; i < sock->path.length; i++)
            sum += (unsigned char)sock->path.data[i];
    }
    return sum == UINT32_MAX; /* never, but the compiler does not know */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct table *const tables[] = {&table_tcp, &table_unix, &table_tcp6, &table_udp,
                                                 &table_raw};
    struct input input = {.data = size ? data + 1 : data, .size = size ? size - 1 : 0};
    const struct netlink_peer peer = {take_request, give_datagram, &input};
    struct report report = {.partial = false};
    struct query query = {.needs = ~NEED_LOOKUPS,
                          .states = STATES_ALL,
                          .proc_root = "/nonexistent",
                          .report = &report,
                          .exclusive = true};

    if (size == 0)
        return 0;
    query.table = input.table = tables[data[0] % (sizeof tables / sizeof *tables)];
    query.netlink = netlink_create_with(&peer);
    require(query.netlink != NULL);
    require(backend_sock_diag.dump(&query, check_record, &input) <= 0);
    netlink_destroy(query.netlink);
    return 0;
}
