/* The standard descriptors. */
#ifndef FASTNET_DESCRIPTORS_H
#define FASTNET_DESCRIPTORS_H

/*
 * Opens /dev/null for each closed descriptor of 0 to 2. Otherwise the first socket or file would
 * become stdout, and output would go there. Reading only: a write to a closed stdout still fails
 * with EBADF. Returns 0 or -errno. Call it before anything is opened.
 */
int descriptors_fill(void);

#endif
