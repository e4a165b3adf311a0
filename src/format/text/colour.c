/* Colours of states on a terminal. */
#include "format/text/colour.h"
#include "fastnet/array.h"

#include <string.h>

#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define CYAN   "\033[36m"
#define RED    "\033[31m"

/* By prefix: LISTEN also means netstat's LISTENING, and SYN_ all states of that kind. */
static const struct {
    const char *prefix, *colour;
} colours[] = {
    {"REACHABLE", GREEN}, {"STALE", YELLOW},     {"DELAY", CYAN},      {"PROBE", CYAN},
    {"INCOMPLETE", CYAN}, {"FAILED", RED},       {"LISTEN", GREEN},    {"SYN_", CYAN},
    {"NEW_SYN_", CYAN},   {"TIME_WAIT", YELLOW}, {"FIN_WAIT", YELLOW}, {"CLOSE_WAIT", YELLOW},
    {"LAST_ACK", YELLOW}, {"CLOSING", YELLOW},
};

const char *colour_of_state(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(colours); i++) {
        const size_t size = strlen(colours[i].prefix);
        if (length >= size && memcmp(name, colours[i].prefix, size) == 0)
            return colours[i].colour;
    }
    return NULL;
}
