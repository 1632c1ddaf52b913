/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * dynamic.h: the parts of a loaded image's dynamic section that matter here.
 */
#ifndef FATAL_SIGNAL_DYNAMIC_H
#define FATAL_SIGNAL_DYNAMIC_H

#ifdef __linux__
#include <link.h>
#include <stddef.h>

/** Memory of the image, which stays mapped. Null and 0 for what the image lacks. */
typedef struct dynamic {
    /** Their count is not recorded. */
    const ElfW(Sym) *symbols;
    const char *names;
    /** Those with addends, and those of the procedure linkage table. */
    const ElfW(Rela) *relocations[2];
    size_t relocation_counts[2];
} dynamic;

dynamic dynamic_of(const struct link_map *map);
#endif

#endif
