/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What one call passes through, from the caller to the plugin's function or to the vendor's socket.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <benchmark.h>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the profile runtime exports to a program compiled with -profile-generate; absent from any other. */
extern void __llvm_profile_reset_counters(void) __attribute__((weak));
extern void __llvm_profile_set_filename(const char *) __attribute__((weak));
extern int __llvm_profile_write_file(void) __attribute__((weak));

static struct {
    uint64_t wakes;
    uint64_t copies;
} before, taken;
static char profile[4096];
static _Atomic bool is_armed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static bool has_ended;

/* The vendor's threads, the first ones only. */
enum { VENDOR_COUNT = 16 };
static _Atomic long vendors[VENDOR_COUNT];

static bool is_vendor(long id) {
    for (int index = 0; index < VENDOR_COUNT; index++) {
        if (vendors[index] == id) return true;
    }
    return false;
}

static void become_vendor(void) {
#ifdef __linux__
    const long id = (long)syscall(SYS_gettid);
    for (int index = 0; index < VENDOR_COUNT; index++) {
        long none = 0;
        if (atomic_compare_exchange_strong(&vendors[index], &none, id)) return;
    }
#endif
}

/* How often the threads of this process were scheduled in, except the vendor's. */
static uint64_t wakes(void) {
    uint64_t sum = 0;
#ifdef __linux__
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) return 0;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        long id = strtol(task->d_name, NULL, 10);
        char path[64];
        if (id <= 0 || is_vendor(id)) continue;
        snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", id);
        FILE *file = fopen(path, "r");
        unsigned long long running, waiting, slices;
        if (file == NULL) continue;
        if (fscanf(file, "%llu %llu %llu", &running, &waiting, &slices) == 3) sum += slices;
        fclose(file);
    }
    closedir(tasks);
#endif
    return sum;
}

static uint64_t copies(void) {
    uint64_t (*count)(void) = (uint64_t(*)(void))dlsym(RTLD_DEFAULT, "benchmark_copies");
    return count == NULL ? 0 : count();
}

bool benchmark_path_begin(const char *file) {
    if (__llvm_profile_reset_counters == NULL) return false;
    snprintf(profile, sizeof profile, "%s", file);
    has_ended = false;
    before.copies = copies();
    before.wakes = wakes();
    __llvm_profile_reset_counters();
    is_armed = true;
    return true;
}

void benchmark_path_end(void) {
    bool expected = true;
    if (!atomic_compare_exchange_strong(&is_armed, &expected, false)) return;
    // Otherwise the new profile would be appended to the last one.
    unlink(profile);
    __llvm_profile_set_filename(profile);
    __llvm_profile_write_file();
    // Otherwise the rest would be added when the process ends.
    __llvm_profile_set_filename("/dev/null");
    pthread_mutex_lock(&lock);
    taken.copies = copies() - before.copies;
    taken.wakes = wakes() - before.wakes;
    has_ended = true;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}

void benchmark_path_wait(uint64_t *wakes, uint64_t *copies) {
    pthread_mutex_lock(&lock);
    while (!has_ended) pthread_cond_wait(&ended, &lock);
    *wakes = taken.wakes;
    *copies = taken.copies;
    pthread_mutex_unlock(&lock);
}

/* Reads one request; false at the end of the connection. */
static bool read_request(int connection, char *text, size_t capacity) {
    size_t length = 0;
    while (length < capacity - 1) {
        ssize_t count = read(connection, text + length, capacity - 1 - length);
        if (count <= 0) return false;
        // The request has reached the vendor with its first byte; the rest is up to the network.
        benchmark_path_end();
        length += (size_t)count;
        text[length] = 0;
        char *end = strstr(text, "\r\n\r\n");
        if (end == NULL) continue;
        char *field = strcasestr(text, "\r\ncontent-length:");
        size_t body = field != NULL && field < end ? strtoul(field + 17, NULL, 10) : 0;
        if (length >= (size_t)(end + 4 - text) + body) return true;
    }
    return false;
}

/* Serves one connection: a client may have several, and await them in any order. */
static void *serve(void *argument) {
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n"
                                 "{\"success\":true}";
    const size_t capacity = 1 << 20;
    int connection = (int)(intptr_t)argument;
    char *text = malloc(capacity);
    become_vendor();
    while (text != NULL && read_request(connection, text, capacity)) {
        if (write(connection, answer, sizeof answer - 1) < 0) break;
    }
    free(text);
    close(connection);
    return NULL;
}

static void *listen_for(void *argument) {
    become_vendor();
    for (;;) {
        pthread_t thread;
        int connection = accept((int)(intptr_t)argument, NULL, NULL);
        if (connection < 0) return NULL;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)connection) == 0) {
            pthread_detach(thread);
        } else {
            close(connection);
        }
    }
}

uint16_t benchmark_vendor(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    pthread_t thread;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        pthread_create(&thread, NULL, listen_for, (void *)(intptr_t)listener) != 0)
        return 0;
    pthread_detach(thread);
    return ntohs(address.sin_port);
}
