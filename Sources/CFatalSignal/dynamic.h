/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * dynamic.h: what the dynamic section of a loaded image says, as far as it matters here.
 */
#ifndef FATAL_SIGNAL_DYNAMIC_H
#define FATAL_SIGNAL_DYNAMIC_H

#ifdef __linux__
#include <link.h>
#include <stddef.h>

/** Memory of the image, which stays mapped. Null and 0 for what the image does not have. */
typedef struct dynamic {
    /** How many there are is not said. */
    const ElfW(Sym) *symbols;
    const char *names;
    /** With an addend each, and those of the procedure linkage table. */
    const ElfW(Rela) *relocations[2];
    size_t relocation_counts[2];
} dynamic;

dynamic dynamic_of(const struct link_map *map);
#endif

#endif
