/* A merge sort. It finishes one half before it starts the other: elements stay in the cache. */
#include "fastnet/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sort {
    size_t size;
    int (*compare)(const void *a, const void *b, void *arg);
    void *arg;
    char *spare; /* room for half of the elements */
};

/* Equal elements: those of the left half go first. */
static void sort_elements(const struct sort *sort, char *elements, size_t count)
{
    const size_t size = sort->size, half = count / 2 * size;
    const char *left = sort->spare, *right = elements + half, *end = elements + count * size;

    if (count < 2)
        return;
    sort_elements(sort, elements, count / 2);
    sort_elements(sort, elements + half, count - count / 2);
    if (sort->compare(right - size, right, sort->arg) <= 0) /* in order already */
        return;
    memcpy(sort->spare, elements, half);
    for (char *to = elements; left < sort->spare + half; to += size) {
        if (right == end || sort->compare(left, right, sort->arg) <= 0) {
            memcpy(to, left, size);
            left += size;
        } else {
            memcpy(to, right, size);
            right += size;
        }
    }
}

int sort_stable(void *elements, size_t count, size_t size,
                int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
    struct sort sort = {.size = size, .compare = compare, .arg = arg};

    if (count < 2)
        return 0;
    sort.spare = malloc(count / 2 * size);
    if (!sort.spare)
        return -ENOMEM;
    sort_elements(&sort, elements, count);
    free(sort.spare);
    return 0;
}
