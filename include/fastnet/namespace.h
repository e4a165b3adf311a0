/* Network namespaces (network_namespaces(7)). */
#ifndef FASTNET_NAMESPACE_H
#define FASTNET_NAMESPACE_H

/*
 * Opens a namespace by the name that ip-netns(8) gave it, or by a path: what has a slash. Returns a
 * descriptor or -errno. Uses only rights that the user has: it is the user who names the file.
 */
int namespace_open(const char *name);

/*
 * From now on this thread, and threads that it starts, use this namespace: sockets, /proc/net and
 * /proc/sys/net. Call it before anything of these is opened. Closes the descriptor. Returns 0 or
 * -errno.
 */
int namespace_enter(int fd);

#endif
