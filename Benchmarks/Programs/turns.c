/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * turns: the time of a message to another process and its answer, in nanoseconds, done as directly as C can.
 *
 * Usage: turns shared COUNT    both processes poll one word of shared memory
 *        turns socket COUNT    both sleep in a pair of sockets, long enough before each turn that they really sleep
 *        turns copy COUNT      copies a megabyte within one process
 *        turns ring COUNT      copies a megabyte through a ring of 64 KiB into the memory of another process, which answers with a word
 */
#define _GNU_SOURCE
#include "clock.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static double shared(long count) {
    _Atomic long *turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (turn == MAP_FAILED) exit(1);
    pid_t child = fork();
    if (child < 0) exit(1);
    if (child == 0) {
        for (long i = 0; i < count; i++) {
            while (atomic_load_explicit(turn, memory_order_acquire) != 2 * i + 1) relax();
            atomic_store_explicit(turn, 2 * i + 2, memory_order_release);
        }
        _exit(0);
    }
    uint64_t start = now(CLOCK_MONOTONIC);
    for (long i = 0; i < count; i++) {
        atomic_store_explicit(turn, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(turn, memory_order_acquire) != 2 * i + 2) relax();
    }
    uint64_t time = now(CLOCK_MONOTONIC) - start;
    waitpid(child, NULL, 0);
    return (double)time / (double)count;
}

static double sockets(long count) {
    int ends[2];
    char bytes[32] = {0};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) exit(1);
    pid_t child = fork();
    if (child < 0) exit(1);
    if (child == 0) {
        close(ends[0]);
        while (read(ends[1], bytes, sizeof bytes) == sizeof bytes) {
            if (write(ends[1], bytes, sizeof bytes) != sizeof bytes) _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    uint64_t time = 0;
    for (long i = 0; i < count; i++) {
        usleep(500);
        uint64_t start = now(CLOCK_MONOTONIC);
        if (write(ends[0], bytes, sizeof bytes) != sizeof bytes) exit(1);
        if (read(ends[0], bytes, sizeof bytes) != sizeof bytes) exit(1);
        time += now(CLOCK_MONOTONIC) - start;
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
    return (double)time / (double)count;
}

static double copy(long count) {
    const size_t size = 1 << 20;
    char *from = malloc(size), *to = malloc(size);
    if (from == NULL || to == NULL) exit(1);
    memset(from, 1, size);
    memset(to, 2, size);
    uint64_t start = now(CLOCK_MONOTONIC);
    for (long i = 0; i < count; i++) {
        memcpy(to, from, size);
        __asm__ __volatile__("" : : "r"(to) : "memory");
    }
    return (double)(now(CLOCK_MONOTONIC) - start) / (double)count;
}

enum { SIZE = 1 << 20, CAPACITY = 64 << 10, PIECE = 16 << 10 };

/** A ring: how many bytes were ever written, read and answered, each count in a cache line of its own, and the bytes. */
typedef struct ring {
    _Alignas(128) _Atomic uint64_t tail;
    _Alignas(128) _Atomic uint64_t head;
    _Alignas(128) _Atomic uint64_t answered;
    _Alignas(4096) char bytes[CAPACITY];
} ring;

static void take(ring *ring, char *to, uint64_t position) {
    for (uint64_t end = position + SIZE; position < end; position += PIECE, to += PIECE) {
        while (atomic_load(&ring->tail) < position + PIECE) relax();
        memcpy(to, ring->bytes + position % CAPACITY, PIECE);
        atomic_store(&ring->head, position + PIECE);
    }
}

static void put(ring *ring, const char *from, uint64_t position) {
    for (uint64_t end = position + SIZE; position < end; position += PIECE, from += PIECE) {
        while (position + PIECE - atomic_load(&ring->head) > CAPACITY) relax();
        memcpy(ring->bytes + position % CAPACITY, from, PIECE);
        atomic_store(&ring->tail, position + PIECE);
    }
}

/** Keeps the process on one of the first two processors, if it may use both: a scheduler may leave both sides on one. */
static void stay(int processor) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set)) return;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
#else
    (void)processor;
#endif
}

static double through(long count) {
    const long before = 10;
    ring *ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *bytes = malloc(SIZE);
    if (ring == MAP_FAILED || bytes == NULL) exit(1);
    memset(bytes, 1, SIZE);
    pid_t child = fork();
    if (child < 0) exit(1);
    stay(child == 0);
    if (child == 0) {
        for (long i = 0; i < before + count; i++) {
            take(ring, bytes, (uint64_t)i * SIZE);
            atomic_store(&ring->answered, i + 1);
        }
        _exit(0);
    }
    uint64_t start = 0;
    for (long i = 0; i < before + count; i++) {
        if (i == before) start = now(CLOCK_MONOTONIC);
        put(ring, bytes, (uint64_t)i * SIZE);
        while (atomic_load(&ring->answered) != (uint64_t)i + 1) relax();
    }
    uint64_t time = now(CLOCK_MONOTONIC) - start;
    waitpid(child, NULL, 0);
    return (double)time / (double)count;
}

int main(int argc, char **argv) {
    long count = argc == 3 ? atol(argv[2]) : 0;
    double time;
    if (count > 0 && strcmp(argv[1], "shared") == 0) time = shared(count);
    else if (count > 0 && strcmp(argv[1], "socket") == 0) time = sockets(count);
    else if (count > 0 && strcmp(argv[1], "copy") == 0) time = copy(count);
    else if (count > 0 && strcmp(argv[1], "ring") == 0) time = through(count);
    else {
        fprintf(stderr, "usage: turns shared|socket|copy|ring COUNT\n");
        return 64;
    }
    printf("%.1f\n", time);
    return 0;
}
