#include "format/socket/socket_names.h"

#include <netinet/tcp.h>
#include <stddef.h>

#include "fastnet/array.h"

/* Newer than netinet/tcp.h; see include/net/tcp_states.h of the kernel. */
enum { STATE_NEW_SYN_RECV = 12, STATE_BOUND_INACTIVE = 13 };

const char *socket_state_name(uint64_t state)
{
    static const char *const names[] = {
        [TCP_ESTABLISHED] = "ESTABLISHED",
        [TCP_SYN_SENT] = "SYN_SENT",
        [TCP_SYN_RECV] = "SYN_RECV",
        [TCP_FIN_WAIT1] = "FIN_WAIT1",
        [TCP_FIN_WAIT2] = "FIN_WAIT2",
        [TCP_TIME_WAIT] = "TIME_WAIT",
        [TCP_CLOSE] = "CLOSE",
        [TCP_CLOSE_WAIT] = "CLOSE_WAIT",
        [TCP_LAST_ACK] = "LAST_ACK",
        [TCP_LISTEN] = "LISTEN",
        [TCP_CLOSING] = "CLOSING",
        [STATE_NEW_SYN_RECV] = "NEW_SYN_RECV",
        [STATE_BOUND_INACTIVE] = "BOUND_INACTIVE",
    };

    return state < COUNT(names) ? names[state] : NULL;
}
