/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * alter: makes broken images, which no linker would make, from whole ones.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t elf_hash(const char *name) {
    uint32_t hash = 0;
    for (; *name; name++) {
        uint32_t high;
        hash = (hash << 4) + (unsigned char)*name;
        high = hash & 0xF0000000u;
        hash = (hash ^ (high >> 24)) & ~high;
    }
    return hash;
}

/* Renames every GLIBC_2.x that the image needs into GLIBC_9.x. */
static int raise_glibc(unsigned char *image) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
    int count = 0;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        char *strings;
        Elf64_Verneed *need;
        if (sections[i].sh_type != SHT_GNU_verneed) continue;
        strings = (char *)image + sections[sections[i].sh_link].sh_offset;
        need = (Elf64_Verneed *)(image + sections[i].sh_offset);
        for (unsigned n = 0; n < sections[i].sh_info; n++) {
            Elf64_Vernaux *version = (Elf64_Vernaux *)((char *)need + need->vn_aux);
            for (unsigned v = 0; v < need->vn_cnt; v++) {
                char *name = strings + version->vna_name;
                if (strncmp(name, "GLIBC_2.", 8) == 0) {
                    name[6] = '9';
                    version->vna_hash = elf_hash(name);
                    count++;
                }
                version = (Elf64_Vernaux *)((char *)version + version->vna_next);
            }
            need = (Elf64_Verneed *)((char *)need + need->vn_next);
        }
    }
    return count > 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    static union {
        unsigned char bytes[1 << 22];
        uint64_t alignment;
    } image;
    size_t size;
    FILE *file;
    int status = 0;
    if (argc != 4 || (file = fopen(argv[2], "rb")) == NULL) return 2;
    size = fread(image.bytes, 1, sizeof(image.bytes), file);
    fclose(file);
    if (strcmp(argv[1], "machine") == 0) {
        /* SPARC V9: nobody runs these tests there. */
        image.bytes[18] = 43;
        image.bytes[19] = 0;
    } else if (strcmp(argv[1], "32-bit") == 0) {
        image.bytes[4] = 1;
        image.bytes[18] = 3;
    } else if (strcmp(argv[1], "truncate") == 0) {
        size -= size / 3;
    } else if (strcmp(argv[1], "glibc") == 0) {
        status = raise_glibc(image.bytes);
    } else {
        return 2;
    }
    if (status != 0 || (file = fopen(argv[3], "wb")) == NULL) return 2;
    if (fwrite(image.bytes, 1, size, file) != size) status = 2;
    if (fclose(file) != 0) status = 2;
    return status;
}
