/* SPDX-License-Identifier: MIT */
/*
 * The words of fastnet why: each is a host with a port, or a port, or is refused with one line that
 * a terminal can show. A host that was taken is taken again with its port, with the same result.
 * The input: the number of words, then the words, each with its length.
 */
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "cli/why/target.h"
#include "fuzz.h"

enum { WORDS_MAX = 4, WORD_SIZE = 256 };

static void require_line(const char *message)
{
    require(message[0] && strlen(message) < MESSAGE_TEXT_MAX);
    for (; *message; message++)
        require((unsigned char)*message >= ' ' && *message != 0x7f);
}

static void check_again(const struct target *target)
{
    char text[TARGET_HOST + 16], wrong[MESSAGE_TEXT_MAX];
    const char *const words[] = {text};
    struct target again;

    snprintf(text, sizeof text, strchr(target->host, ':') ? "[%s]:%u" : "%s:%u", target->host,
             target->port);
    require(target_parse(&again, words, 1, "/dev/null", "tcp", wrong) == 0);
    require(strcmp(again.host, target->host) == 0 && again.port == target->port);
    require(!again.service[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const size_t count = bytes_u8(&bytes) % (WORDS_MAX + 1);
    char memory[WORDS_MAX][WORD_SIZE] = {""}, wrong[MESSAGE_TEXT_MAX] = "";
    const char *words[WORDS_MAX];
    struct target target;

    for (size_t i = 0; i < count; i++) {
        const size_t length = bytes_u8(&bytes);
        for (size_t at = 0; at < length && at < WORD_SIZE - 1; at++)
            memory[i][at] = (char)bytes_u8(&bytes);
        words[i] = memory[i];
    }
    if (target_parse(&target, words, count, "/dev/null", "tcp", wrong) < 0) {
        require_line(wrong);
        return 0;
    }
    require(target.port != 0);
    require(strlen(target.host) < TARGET_HOST && strlen(target.service) < TARGET_SERVICE);
    check_again(&target);
    return 0;
}
