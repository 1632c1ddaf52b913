/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include "exits.h"

#ifdef __linux__
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
/* R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT */
static const uint32_t kinds[] = {1, 6, 7};
#elif defined(__aarch64__)
/* R_AARCH64_ABS64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT */
static const uint32_t kinds[] = {257, 1025, 1026};
#else
static const uint32_t kinds[] = {0, 0, 0};
#endif

/** The segments of an image, and the part of its memory that becomes read-only after relocation. */
typedef struct segments {
    const struct link_map *map;
    const ElfW(Phdr) *headers;
    int count;
    uintptr_t start, end;
} segments;

static int find_segments(struct dl_phdr_info *info, size_t size, void *context) {
    segments *found = context;
    (void)size;
    if (info->dlpi_addr != found->map->l_addr) return 0;
    found->headers = info->dlpi_phdr;
    found->count = info->dlpi_phnum;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];
        if (header->p_type != PT_GNU_RELRO) continue;
        found->start = info->dlpi_addr + header->p_vaddr;
        /* The linker seals whole pages, and leaves the last one writable if it also holds other data. */
        found->end = (found->start + header->p_memsz) & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    }
    return 1;
}

static int is_exit(const dynamic *tables, const ElfW(Rela) *relocation) {
    const uint32_t kind = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    const ElfW(Sym) *symbol = &tables->symbols[ELF64_R_SYM(relocation->r_info)];
    if (kind != kinds[0] && kind != kinds[1] && kind != kinds[2]) return 0;
    /* A symbol that the image defines is another function. */
    if (symbol->st_shndx != SHN_UNDEF) return 0;
    const char *name = tables->names + symbol->st_name;
    return strcmp(name, "_exit") == 0 || strcmp(name, "_Exit") == 0;
}

/** Whether an address is in a writable segment: the linker also relocates others, and makes them read-only again (DT_TEXTREL). */
static int is_writable(const segments *segments, uintptr_t place) {
    for (int index = 0; index < segments->count; index++) {
        const ElfW(Phdr) *header = &segments->headers[index];
        if (header->p_type != PT_LOAD || (header->p_flags & PF_W) == 0) continue;
        if (place - segments->map->l_addr - header->p_vaddr < header->p_memsz) return 1;
    }
    return 0;
}

static void set(uintptr_t place, uintptr_t value, const segments *segments) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = place & ~(page - 1);
    const size_t length = place + sizeof value - start;
    const int is_sealed = place >= segments->start && place < segments->end;
    if (!is_writable(segments, place)) return;
    if (is_sealed && mprotect((void *)start, length, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n((uintptr_t *)place, value, __ATOMIC_RELEASE);
    if (is_sealed) mprotect((void *)start, length, PROT_READ);
}

void exits_redirect(const struct link_map *map, const dynamic *tables, void (*replacement)(int status)) {
    segments segments = {map, NULL, 0, 0, 0};
    if (tables->symbols == NULL || tables->names == NULL) return;
    for (int list = 0; list < 2; list++) {
        if (tables->relocations[list] == NULL) continue;
        for (size_t index = 0; index < tables->relocation_counts[list]; index++) {
            const ElfW(Rela) *relocation = &tables->relocations[list][index];
            if (!is_exit(tables, relocation)) continue;
            /* Few images end the process, and the search passes all of them. */
            if (segments.headers == NULL) dl_iterate_phdr(find_segments, &segments);
            set(map->l_addr + relocation->r_offset, (uintptr_t)replacement, &segments);
        }
    }
}
#endif
