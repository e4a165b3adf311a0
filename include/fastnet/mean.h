/* SPDX-License-Identifier: MIT */
/* The growth of numbers in the last 3 seconds, from samples at any interval, in little memory. All
 * numbers of an object share the times of its samples. */
#ifndef FASTNET_MEAN_H
#define FASTNET_MEAN_H

#include <stdbool.h>
#include <stdint.h>

/* MEAN_WINDOW: milliseconds. MEAN_SLOTS: a slot has one sample or, if samples are less than a
 * second apart, the samples of some 1.5 s. So the slots cover the whole window as soon as there are
 * samples of 3 seconds. */
enum { MEAN_WINDOW = 3000, MEAN_SLOTS = 3 };

/* The times of the slots in milliseconds, newest slot first. 0: the slot is empty. */
struct mean_times {
    uint16_t slots[MEAN_SLOTS]; /* at most MEAN_WINDOW */
};

/* How mean_add() adds a sample. */
struct mean_step {
    bool merges; /* the sample is added to the newest slot, not put into a new slot */
    float scale; /* below 1: the part of the sample that is in the window */
};

/* Adds the time of a sample (microseconds). The caller then adds each number by mean_add(). */
static inline struct mean_step mean_step(struct mean_times *times, uint64_t elapsed)
{
    const uint64_t window = MEAN_WINDOW * UINT64_C(1000);
    struct mean_step step = {.scale = 1};
    uint16_t *slots = times->slots;

    if (elapsed > window) {
        step.scale = (float)((double)window / (double)elapsed);
        elapsed = window;
    }
    const uint16_t ms = (uint16_t)((elapsed + 500) / 1000);
    step.merges = slots[0] && (!ms || slots[0] + ms * 5 / 8 < MEAN_WINDOW / 2);
    if (step.merges) {
        slots[0] = (uint16_t)(slots[0] + ms);
        return step;
    }
    for (int i = MEAN_SLOTS - 1; i > 0; i--)
        slots[i] = slots[i - 1];
    slots[0] = ms;
    return step;
}

/* Adds the growth of a number in one sample. step: from mean_step(). */
static inline void mean_add(float number[MEAN_SLOTS], struct mean_step step, double grown)
{
    const float part = (float)grown * step.scale;

    if (step.merges) {
        number[0] += part;
        return;
    }
    for (int i = MEAN_SLOTS - 1; i > 0; i--)
        number[i] = number[i - 1];
    number[0] = part;
}

/* The milliseconds that the samples cover, at most MEAN_WINDOW. 0: there is no sample. */
static inline unsigned mean_time(const struct mean_times *times)
{
    unsigned time = 0;

    for (int i = 0; i < MEAN_SLOTS; i++)
        time += times->slots[i];
    return time < MEAN_WINDOW ? time : MEAN_WINDOW;
}

/* How much the number grew in the last mean_time() milliseconds. If a slot began earlier, only a
 * part of its growth is used, as if the number had grown evenly. */
static inline double mean_grown(const float number[MEAN_SLOTS], const struct mean_times *times)
{
    double grown = 0;
    unsigned left = MEAN_WINDOW;

    for (int i = 0; i < MEAN_SLOTS && left; i++) {
        const unsigned time = times->slots[i], used = time < left ? time : left;
        if (time)
            grown += (double)number[i] * used / time;
        left -= used;
    }
    return grown;
}

/* The growth per second; 0 if there is no sample. */
static inline double mean_rate(const float number[MEAN_SLOTS], const struct mean_times *times)
{
    const unsigned time = mean_time(times);

    return time ? mean_grown(number, times) * 1000 / time : 0;
}

#endif
