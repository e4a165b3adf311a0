#include "fastnet/thread.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>

int thread_start(pthread_t *thread, void *(*work)(void *), void *arg)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, NULL, work, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

unsigned thread_processors(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return UINT_MAX; /* more processors than the set has room for */
    const int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}
