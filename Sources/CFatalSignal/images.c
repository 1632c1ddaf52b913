/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include "images.h"

#include "exits.h"

#include <dlfcn.h>
#include <errno.h>
#include <fatal_signal.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Images are never unloaded, so the table only grows. A reader sees the entries below the count. */
static image images[4096];
static atomic_int image_count;
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;

/**
 * A pipe for reading memory that may not be mapped: write(2) fails where a load would fault. `identities` tells what its ends are:
 * a plugin may close them, and their numbers may be reused for other files.
 */
static int probe[2] = {-1, -1};
static struct stat identities[2];

static int contains(const image *image, uintptr_t address) { return address >= image->start && address < image->end; }

/** The first image of a use whose code contains an address; null if there is none. */
static const image *first_at(uintptr_t address, int32_t use) {
    int count = atomic_load_explicit(&image_count, memory_order_acquire);
    for (int index = 0; index < count; index++) {
        if (images[index].use == use && contains(&images[index], address)) return &images[index];
    }
    return NULL;
}

const image *image_at(uintptr_t address, const image *marked) {
    if (marked != NULL && contains(marked, address)) return marked;
    return first_at(address, FATAL_SIGNAL_OWN);
}

const image *image_numbered(int32_t index) {
    return index < 0 || index >= atomic_load_explicit(&image_count, memory_order_acquire) ? NULL : &images[index];
}

const char *image_path_at(uintptr_t address) {
    int count = atomic_load_explicit(&image_count, memory_order_acquire);
    for (int index = 0; index < count; index++) {
        /* The name of a library of the system is no path. */
        if (images[index].path[0] == '/' && contains(&images[index], address)) return images[index].path;
    }
    return NULL;
}

void fatal_signal_name_gates(int32_t index, const char *gates) {
    if (index < 0 || index >= atomic_load(&image_count)) return;
    atomic_store_explicit(&images[index].gates, gates, memory_order_release);
}

int32_t images_prepare(void) {
    if (probe[0] >= 0) return 0;
    if (pipe(probe) != 0) return errno;
    for (int end = 0; end < 2; end++) {
        fcntl(probe[end], F_SETFD, FD_CLOEXEC);
        fcntl(probe[end], F_SETFL, O_NONBLOCK);
        if (fstat(probe[end], &identities[end]) != 0) return errno;
    }
    return 0;
}

/** Whether the descriptors are still those of the pipe. */
static int has_probe(void) {
    struct stat now;
    for (int end = 0; end < 2; end++) {
        if (fstat(probe[end], &now) != 0) return 0;
        if (now.st_dev != identities[end].st_dev || now.st_ino != identities[end].st_ino) return 0;
    }
    return 1;
}

/** Copies memory that may not be mapped. Returns how many bytes could be read. */
static size_t copy(uintptr_t from, void *to, size_t size) {
    ssize_t written = write(probe[1], (const void *)from, size);
    if (written <= 0) return 0;
    ssize_t count = read(probe[0], to, (size_t)written);
    return count > 0 ? (size_t)count : 0;
}

/** Whether an address follows a call instruction, as a return address does. */
static int follows_call(uintptr_t address) {
#if defined(__x86_64__)
    uint8_t code[7];
    if (copy(address - sizeof code, code, sizeof code) != sizeof code) return 0;
    if (code[2] == 0xE8) return 1;
    /* FF /2 with its addressing forms: two to seven bytes. */
    for (int length = 2; length <= 7; length++) {
        const uint8_t *call = code + sizeof code - length;
        if (length != 5 && call[0] == 0xFF && (call[1] & 0x38) == 0x10) return 1;
    }
    return 0;
#elif defined(__aarch64__)
    uint32_t code;
    if (address % 4 != 0 || copy(address - 4, &code, sizeof code) != sizeof code) return 0;
    /* BL and BLR. */
    return (code & 0xFC000000u) == 0x94000000u || (code & 0xFFFFFC1Fu) == 0xD63F0000u;
#else
    (void)address;
    return 1;
#endif
}

/** Whether an exported function of an image begins at an address. */
static int begins_function(const image *image, uintptr_t address) {
#ifdef __linux__
    static ElfW(Sym) symbols[128];
    const size_t limit = 1 << 16;
    /* Where the table ends is not known: other bytes of the file follow it, or memory that cannot be read. */
    for (size_t start = 0, count = 0; image->symbols != NULL && start < limit; start += count) {
        count = copy((uintptr_t)(image->symbols + start), symbols, sizeof symbols) / sizeof *symbols;
        if (count == 0) break;
        for (size_t index = 0; index < count; index++) {
            if (symbols[index].st_shndx != SHN_UNDEF && image->base + symbols[index].st_value == address) return 1;
        }
    }
#else
    (void)image, (void)address;
#endif
    return 0;
}

static image_place place_in(const image *image, uintptr_t address, int is_running, int is_certain) {
    return (image_place){image, image == NULL ? 0 : address - image->base, is_running, is_certain && image != NULL};
}

image_place image_on_stack(uintptr_t instruction, uintptr_t top, const image *marked) {
    static uintptr_t words[512];
    const size_t page = sizeof words;
    /* After a stack overflow, the top lies in or below the guard page: look for the stack above it. */
    unsigned absent = 0, present = 0;
    image_place place = place_in(image_at(instruction, marked), instruction, 1, 1);
    if (place.image != NULL) return place;
    /* A thread that a foreign library has started has no mark. Whoever called the library is further up. */
    place = place_in(first_at(instruction, FATAL_SIGNAL_BROUGHT), instruction, 1, 0);
    if (!has_probe()) return place;
    top &= ~(uintptr_t)(sizeof(uintptr_t) - 1);
    while (absent < 4096 && present < 4096) {
        uintptr_t next = (top / page + 1) * page;
        size_t count = copy(top, words, next - top) / sizeof *words;
        if (count == 0) {
            if (present > 0) break;
            absent++;
        } else {
            present++;
        }
        for (size_t index = 0; index < count; index++) {
            const image *found = image_at(words[index], marked);
            const image *brought = found != NULL || place.image != NULL ? NULL : first_at(words[index], FATAL_SIGNAL_BROUGHT);
            if ((found == NULL && brought == NULL) || !follows_call(words[index])) continue;
            if (found != NULL) return place_in(found, words[index], 0, !begins_function(found, words[index]));
            place = place_in(brought, words[index], 0, 0);
        }
        top = next;
    }
    return place;
}

/* Only appended to, like the images. */
static module modules[sizeof images / sizeof *images + 512];
static atomic_int module_count;

const module *module_at(uintptr_t address) {
    int count = atomic_load_explicit(&module_count, memory_order_acquire);
    /* The newest first: an address may have belonged to another module before. */
    for (int index = count - 1; index >= 0; index--) {
        if (address >= modules[index].start && address < modules[index].end) return &modules[index];
    }
    return NULL;
}

#ifdef __linux__
/* How much of the linker's list is in the table: the list grows at its end as long as nothing is removed. */
static size_t walked;
static unsigned long long removed;

/** A position in the linker's list. */
typedef struct walk {
    /** The index of the next entry. */
    size_t entry;
    /** Where to look for the next module that is already known: the list has them in the order of the table. */
    int place;
} walk;

static int append_module(struct dl_phdr_info *info, size_t size, void *context) {
    walk *here = context;
    (void)size;
    if (here->entry == 0 && info->dlpi_subs != removed) {
        walked = 0;
        removed = info->dlpi_subs;
    }
    if (here->entry++ < walked) return 0;
    int count = atomic_load_explicit(&module_count, memory_order_relaxed);
    module *next = &modules[count];
    if (count == (int)(sizeof modules / sizeof *modules)) return 1;
    next->start = next->end = 0;
    next->base = info->dlpi_addr;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *code = &info->dlpi_phdr[index];
        if (code->p_type != PT_LOAD || (code->p_flags & PF_X) == 0) continue;
        uintptr_t start = info->dlpi_addr + code->p_vaddr;
        if (next->start == 0 || start < next->start) next->start = start;
        if (start + code->p_memsz > next->end) next->end = start + code->p_memsz;
    }
    if (next->start == 0) return 0;
    for (int step = 0; walked == 0 && step < count; step++) {
        int index = (here->place + step) % count;
        if (modules[index].start != next->start || modules[index].end != next->end) continue;
        here->place = index + 1;
        return 0;
    }
    const char *name = info->dlpi_name != NULL ? info->dlpi_name : "";
    for (size_t index = 0; name[index] != 0 && index < sizeof next->path - 1; index++) {
        int isPlain = (unsigned char)name[index] >= 0x20 && name[index] != '"' && name[index] != '\\';
        next->path[index] = isPlain ? name[index] : '?';
    }
    atomic_store_explicit(&module_count, count + 1, memory_order_release);
    return 0;
}
#endif

void modules_refresh(void) {
#ifdef __linux__
    walk here = {0, 0};
    pthread_mutex_lock(&growing);
    dl_iterate_phdr(append_module, &here);
    walked = here.entry;
    pthread_mutex_unlock(&growing);
#endif
}

int32_t fatal_signal_add_image(void *handle, const char *plugin, const char *path, int32_t use) {
    int index = -1;
#ifdef __linux__
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return -1;
    const dynamic tables = dynamic_of(map);
    /* The host itself may end the process through an image that is shared. */
    if (use != FATAL_SIGNAL_SHARED) exits_redirect(map, &tables, ended_at_once);
    modules_refresh();
    pthread_mutex_lock(&growing);
    /* The newest first: it is usually the one. */
    int place = atomic_load_explicit(&module_count, memory_order_relaxed) - 1;
    while (place >= 0 && modules[place].base != map->l_addr) place--;
    int count = atomic_load_explicit(&image_count, memory_order_relaxed);
    if (place >= 0 && count < (int)(sizeof images / sizeof *images)) {
        index = count;
        images[index].start = modules[place].start;
        images[index].end = modules[place].end;
        images[index].base = modules[place].base;
        images[index].plugin = plugin;
        images[index].path = path;
        images[index].use = use;
        images[index].symbols = tables.symbols;
        atomic_store_explicit(&image_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&growing);
#else
    (void)handle, (void)plugin, (void)path, (void)use;
#endif
    return index;
}

int frames_of(uintptr_t instruction, uintptr_t top, uintptr_t frame, uintptr_t *frames, int limit) {
    int count = 0;
    uintptr_t pair[2];
    frames[count++] = instruction;
    if (!has_probe()) return count;
    /* Each frame holds the address of the next frame further up, followed by the return address. */
    while (count < limit && frame >= top && frame % sizeof frame == 0 && copy(frame, pair, sizeof pair) == sizeof pair) {
        if (module_at(pair[1]) == NULL || !follows_call(pair[1])) break;
        frames[count++] = pair[1];
        top = frame + sizeof pair;
        if (pair[0] <= frame) return count;
        frame = pair[0];
    }
    /* No more than 2048 words: further up are only the outermost callers. */
    top &= ~(uintptr_t)(sizeof(uintptr_t) - 1);
    for (int word = 0; word < 2048 && count < limit; word++, top += sizeof top) {
        uintptr_t value;
        if (copy(top, &value, sizeof value) != sizeof value) break;
        if (module_at(value) != NULL && follows_call(value)) frames[count++] = value;
    }
    return count;
}
