/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include "dynamic.h"

#ifdef __linux__
/** An address in the dynamic section, which the linker may or may not have relocated. */
static const void *at(const struct link_map *map, ElfW(Addr) address) {
    return (const void *)(address < map->l_addr ? map->l_addr + address : address);
}

dynamic dynamic_of(const struct link_map *map) {
    dynamic found = {NULL, NULL, {NULL, NULL}, {0, 0}};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        const void *place = at(map, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB: found.symbols = place; break;
        case DT_STRTAB: found.names = place; break;
        case DT_RELA: found.relocations[0] = place; break;
        case DT_RELASZ: found.relocation_counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_JMPREL: found.relocations[1] = place; break;
        case DT_PLTRELSZ: found.relocation_counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        default: break;
        }
    }
    return found;
}
#endif
