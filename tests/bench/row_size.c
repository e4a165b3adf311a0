/* Prints how many bytes of struct record a row of sockets uses: the size of its kind. */
#include <stdio.h>

#include "fastnet/record.h"

int main(void)
{
    printf("%zu\n", offsetof(struct record, socket) + sizeof(struct socket_record));
    return 0;
}
