/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * count: loaded before a program (LD_PRELOAD), counts the allocations of its threads, each thread's on its own, and the large blocks
 * that all of them copy.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static __thread uint64_t allocations;

/** How many allocations the calling thread made. */
uint64_t benchmark_allocations(void) { return allocations; }

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    allocations++;
    return __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    allocations++;
    *memory = __libc_memalign(alignment, size);
    return *memory == NULL ? 12 : 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

/* The payload whose copies are counted is larger than its text of 28 KB: writing the text into the payload does not count as a copy. */
enum { LARGE = (28 << 10) + 1 };

static _Atomic uint64_t large_copies;

/** How many large blocks of memory all threads have copied. */
uint64_t benchmark_copies(void) { return large_copies; }

static void forward(unsigned char *to, const unsigned char *from, size_t size) {
#ifdef __x86_64__
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
#else
    while (size-- > 0) *(volatile unsigned char *)to++ = *from++;
#endif
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    if (size >= LARGE) large_copies++;
    forward(to, from, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    if (size >= LARGE) large_copies++;
    unsigned char *target = to;
    const unsigned char *source = from;
    if (target <= source || target >= source + size) {
        forward(target, source, size);
    } else {
        while (size-- > 0) ((volatile unsigned char *)target)[size] = source[size];
    }
    return to;
}
