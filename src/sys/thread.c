/* SPDX-License-Identifier: MIT */
#include "fastnet/thread.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>

int thread_start(pthread_t *thread, void *(*work)(void *), void *arg)
{
    enum {
        STACK = 2 << 20
    }; /* RLIMIT_STACK may be tiny, but modules of nsswitch.conf(5) need a large stack */
    sigset_t all, before;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error)
        return -error;
    pthread_attr_setstacksize(&attributes, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, &attributes, work, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}

unsigned thread_cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return UINT_MAX; /* the set has no room for all CPUs */
    const int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}
