#include "format/states.h"
#include "fastnet/array.h"

#include <linux/neighbour.h>
#include <netinet/tcp.h>
#include <stddef.h>

/* Newer than netinet/tcp.h; see include/net/tcp_states.h of the kernel. */
enum { STATE_NEW_SYN_RECV = 12, STATE_BOUND_INACTIVE = 13 };

const char *state_name(uint8_t state)
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

const char *neighbour_state_name(uint16_t state)
{
    switch (state) {
    case NUD_NONE:
        return "NONE";
    case NUD_INCOMPLETE:
        return "INCOMPLETE";
    case NUD_REACHABLE:
        return "REACHABLE";
    case NUD_STALE:
        return "STALE";
    case NUD_DELAY:
        return "DELAY";
    case NUD_PROBE:
        return "PROBE";
    case NUD_FAILED:
        return "FAILED";
    case NUD_NOARP:
        return "NOARP";
    case NUD_PERMANENT:
        return "PERMANENT";
    default:
        return NULL;
    }
}
