/* ss --bpf-map-id: the maps whose storages are shown. */
#ifndef CLI_SS_SS_MAPS_H
#define CLI_SS_SS_MAPS_H

#include "cli/ss/ss.h"

/*
 * Opens the maps that were named; they stay open as long as the program runs. Call it before
 * ss_enter_namespace(), which gives up the right to do so. Returns 0, or an exit status after a
 * line on stderr.
 */
int ss_open_maps(struct ss_options *options);

#endif
