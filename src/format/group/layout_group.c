#include "format/group/layout_group.h"

#include "format/text/put.h"

enum { INTERFACE_WIDTH = 15, USERS_WIDTH = 6 };

const char layout_group_heading[] = "IPv6/IPv4 Group Memberships\n"
                                    "Interface       RefCnt Group\n"
                                    "--------------- ------ ---------------------\n";

char *layout_group(char *dst, const struct record *record, const struct hosts *hosts)
{
    const struct group_record *group = &record->group;

    dst = end_cell(escape_text(dst, group->interface.data, group->interface.length, NULL), dst,
                   INTERFACE_WIDTH);
    dst = end_cell(text_u64(dst, group->users), dst, USERS_WIDTH);
    return put_host(dst, hosts, &group->address, NULL);
}
