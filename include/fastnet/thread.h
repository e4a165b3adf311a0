/* SPDX-License-Identifier: MIT */
/* Threads that help with what takes long. */
#ifndef FASTNET_THREAD_H
#define FASTNET_THREAD_H

#include <pthread.h>

/*
 * As pthread_create(3), but the thread has a stack of 2 MiB, independent of the limit, and blocks
 * every signal: signals must interrupt the system calls of the thread that started the others.
 * Returns 0 or -errno.
 */
int thread_start(pthread_t *thread, void *(*work)(void *), void *arg);

/* The number of processors that this thread may run on; at least 1. */
unsigned thread_cpus(void);

#endif
