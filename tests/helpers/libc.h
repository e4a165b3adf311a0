/* SPDX-License-Identifier: MIT */
/* What differs between C libraries, as far as tests meet it: this is the only file that asks. */
#ifndef LIBC_H
#define LIBC_H

#include <stdio.h>
#include <unistd.h>

#ifdef __GLIBC__
enum { IS_GLIBC = 1 };               /* where tests compare with what only glibc says so */
typedef unsigned long ioctl_request; /* the second parameter of ioctl(2) */
#else
enum { IS_GLIBC = 0 };
typedef int ioctl_request;
#endif

/* What is printed to stderr is lost. In glibc, sanitizers and libFuzzer keep descriptor 2. */
static inline void stderr_to(FILE *nowhere)
{
#ifdef __GLIBC__
    stderr = nowhere;
#else
    dup2(fileno(nowhere), STDERR_FILENO);
#endif
}

#endif
