/* What input from strangers could do, if a decoder had an error that they know of. */
#ifndef FASTNET_SANDBOX_H
#define FASTNET_SANDBOX_H

/*
 * From now on, and for good, this thread and those that it starts can read files and write to what
 * is open, but execute no file, and open none for writing, make or remove any; where the kernel
 * knows how (landlock(7): files since Linux 5.13, TCP since 6.7, signals since 6.12). A kernel that
 * does not know it changes nothing. Comes after rights_init().
 */
void sandbox_enter(void);

#endif
