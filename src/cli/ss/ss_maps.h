/* ss --bpf-maps and --bpf-map-id: the maps whose storages are shown, and the types of these. */
#ifndef CLI_SS_SS_MAPS_H
#define CLI_SS_SS_MAPS_H

#include "cli/ss/ss.h"

/*
 * Opens the maps that were named; they stay open as long as the program runs. Reads the types of
 * their values, or of all maps if these are shown, as far as the user has the right. Call it before
 * rights_limit(), which gives up the right to do so. Returns 0, or an exit status after a line on
 * stderr. The caller must call ss_maps_finish(), also on failure.
 */
int ss_open_maps(struct ss_options *options);
void ss_maps_finish(struct ss_options *options);

#endif
