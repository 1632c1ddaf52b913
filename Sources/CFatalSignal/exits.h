/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * exits.h: calls of `_exit` by a plugin, which no handler of the C library sees.
 */
#ifndef FATAL_SIGNAL_EXITS_H
#define FATAL_SIGNAL_EXITS_H

#ifdef __linux__
#include "dynamic.h"

/**
 * Makes a loaded image call `replacement` where it would call `_exit` or `_Exit`: changes the addresses that the dynamic linker has
 * put into this image, and no other. `tables` are the image's own. Not for a signal handler.
 */
void exits_redirect(const struct link_map *map, const dynamic *tables, void (*replacement)(int status));
#endif

#endif
