/* The standard descriptors. */
#ifndef FASTNET_DESCRIPTORS_H
#define FASTNET_DESCRIPTORS_H

/*
 * Opens those of the descriptors 0 to 2 that are closed, or else the first socket or file would
 * become stdout and be written to. They are opened for reading only: writing to a stdout that was
 * closed stays the error (EBADF) it is. Returns 0 or -errno. To be called before anything is
 * opened.
 */
int descriptors_fill(void);

#endif
