#include "format/group/layout_group.h"

#include <string.h>
#include <sys/socket.h>

#include "fastnet/lookup.h"
#include "fastnet/text.h"

enum { INTERFACE_WIDTH = 15, USERS_WIDTH = 6 };

const char layout_group_heading[] = "IPv6/IPv4 Group Memberships\n"
                                    "Interface       RefCnt Group\n"
                                    "--------------- ------ ---------------------\n";

char *layout_group(char *dst, const struct record *record, const struct hosts *hosts)
{
    const struct group_record *group = &record->group;
    const char *name = hosts ? hosts_name(hosts, &group->address) : NULL;

    dst = text_pad(escape_text(dst, group->interface.data, group->interface.length, NULL), dst,
                   INTERFACE_WIDTH);
    *dst++ = ' ';
    dst = text_pad(text_u64(dst, group->users), dst, USERS_WIDTH);
    *dst++ = ' ';
    if (name)
        return escape_text(dst, name, strlen(name), NULL);
    return text_address(dst, &group->address);
}
