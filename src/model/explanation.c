/* SPDX-License-Identifier: MIT */
#include "model/explanation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void explanation_add(struct explanation *explanation, size_t member)
{
    for (size_t i = 0; i < explanation->count; i++)
        if (explanation->members[i] == member)
            return;
    if (explanation->count < EXPLAINED_MEMBERS_MAX)
        explanation->members[explanation->count++] = member;
}

void explanation_describe(struct explanation *explanation, const char *format, ...)
{
    size_t length = strlen(explanation->text);
    va_list arguments;

    if (length)
        length +=
            (size_t)snprintf(explanation->text + length, sizeof explanation->text - length, "; ");
    if (length >= sizeof explanation->text)
        return;
    va_start(arguments, format);
    text_print(explanation->text + length, sizeof explanation->text - length, format, arguments);
    va_end(arguments);
}
