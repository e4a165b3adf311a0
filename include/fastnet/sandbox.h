/* Limits what hostile input can do by exploiting an error in a decoder. */
#ifndef FASTNET_SANDBOX_H
#define FASTNET_SANDBOX_H

/*
 * From now on and for good, this thread and threads that it starts can read files and write to open
 * ones. They cannot execute, create or remove files, or open any for writing (landlock(7): files
 * since Linux 5.13, TCP since 6.7, signals since 6.12). A kernel without landlock changes nothing.
 * Call it after rights_init().
 */
void sandbox_enter(void);

#endif
