/* Interfaces by rtnetlink(7). Sources: linux/if_link.h, net/core/rtnetlink.c (rtnl_fill_ifinfo). */
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "fastnet/lookup.h"
#include "fastnet/query.h"

/* One reading. */
struct reading {
    interface_fn fn;
    void *arg;
};

/* A name ends with a NUL in its attribute, which is not always the last byte. */
static void take_name(struct interface *interface, const struct attribute *attribute)
{
    if (memchr(attribute->data, '\0', attribute->length))
        interface->name = attribute->data;
}

static struct interface decode(const struct nlmsghdr *message)
{
    const struct ifinfomsg *header = (const void *)(message + 1);
    const char *start = (const char *)message;
    struct attributes attributes = {start + NLMSG_LENGTH(sizeof *header),
                                    start + message->nlmsg_len};
    struct interface interface = {
        .index = (uint32_t)header->ifi_index, .hardware = header->ifi_type, .netns = -1};
    struct attribute attribute;

    while (attributes_next(&attributes, &attribute))
        if (attribute.type == IFLA_IFNAME)
            take_name(&interface, &attribute);
        else if (attribute.type == IFLA_MASTER)
            attribute_bytes(&attribute, &interface.master, sizeof interface.master);
        else if (attribute.type == IFLA_LINK_NETNSID)
            attribute_bytes(&attribute, &interface.netns, sizeof interface.netns);
    return interface;
}

static int take_message(const struct nlmsghdr *message, void *arg)
{
    const struct reading *reading = arg;
    struct interface interface;

    if (message->nlmsg_type != RTM_NEWLINK ||
        message->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg)))
        return 0;
    interface = decode(message);
    if (!interface.name || !interface.index)
        return 0; /* it will be asked for by itself */
    return reading->fn(&interface, reading->arg);
}

enum { REQUEST_MAX = 64 }; /* bytes; it is 40 */

int links_dump(struct netlink *netlink, interface_fn fn, void *arg, struct report *report)
{
    struct reading reading = {fn, arg};
    _Alignas(struct nlmsghdr) char buffer[REQUEST_MAX];
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

    message->nlmsg_type = RTM_GETLINK;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    mnl_nlmsg_put_extra_header(message, sizeof(struct ifinfomsg));
    mnl_attr_put_u32(message, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    return netlink_dump(netlink, NETLINK_ROUTE, message, take_message, &reading, report);
}
