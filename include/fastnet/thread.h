/* SPDX-License-Identifier: MIT */
/* Threads for work that takes long. */
#ifndef FASTNET_THREAD_H
#define FASTNET_THREAD_H

#include <pthread.h>

/* As pthread_create(3), but the thread has a stack of 2 MiB for any RLIMIT_STACK, and blocks all
 * signals, because signals must interrupt system calls of the main thread. Returns 0 or -errno. */
int thread_start(pthread_t *thread, void *(*work)(void *), void *arg);

/* Returns the number of CPUs that this thread may run on; at least 1. */
unsigned thread_cpus(void);

#endif
