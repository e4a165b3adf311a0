/* What a listing needs of each row: fields from a backend, and lookups. */
#ifndef FASTNET_NEEDS_H
#define FASTNET_NEEDS_H

#include <stdint.h>

#define NEED_OWNERS     (UINT64_C(1) << 0) /* inode -> processes: /proc is walked */
#define NEED_COMMANDS   (UINT64_C(1) << 1) /* ... and their argv[0] is read */
#define NEED_USERS      (UINT64_C(1) << 2) /* uid -> name */
#define NEED_SERVICES   (UINT64_C(1) << 3) /* port -> name */
#define NEED_HOSTS      (UINT64_C(1) << 4) /* address -> name */
#define NEED_INTERFACES (UINT64_C(1) << 5) /* index -> name */
#define NEED_LABELS     (UINT64_C(1) << 6) /* bit of a connection label -> name */
#define NEED_SENDERS    (UINT64_C(1) << 7) /* netlink port -> name of its process */
#define NEED_LINKS      (UINT64_C(1) << 8) /* index -> its master and the namespace of its peer */
#define NEED_NETWORKS   (UINT64_C(1) << 9) /* network's address -> name */

struct needs {
    uint64_t fields;  /* bits of the record's kind (SOCKET_*, FLOW_* ...), as in record.has */
    uint64_t lookups; /* NEED_* */
};

static inline void needs_add(struct needs *needs, struct needs more)
{
    needs->fields |= more.fields;
    needs->lookups |= more.lookups;
}

#endif
