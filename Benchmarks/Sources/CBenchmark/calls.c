/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "benchmark.h"
#include <ffi.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <time.h>

typedef int32_t (*add_function)(void *, int64_t, int64_t, int64_t *, connector_error *);
typedef int32_t (*invert_function)(void *, const uint8_t *, uint64_t, uint8_t *, uint64_t, uint64_t *,
                                   connector_error *);

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t benchmark_add(const void *function, uint64_t count) {
    add_function volatile add = (add_function)function;
    connector_error error;
    error.struct_size = sizeof error;
    int64_t sum = 0;
    const uint64_t start = now();
    for (uint64_t i = 0; i < count; i++) {
        if (add(NULL, sum, (int64_t)i, &sum, &error) != CONNECTOR_OK) return 0;
    }
    return now() - start;
}

uint64_t benchmark_add_ffi(const void *function, uint64_t count) {
    ffi_type *types[] = {&ffi_type_pointer, &ffi_type_sint64, &ffi_type_sint64, &ffi_type_pointer, &ffi_type_pointer};
    ffi_cif interface;
    if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI, 5, &ffi_type_sint32, types) != FFI_OK) return 0;
    connector_error error;
    error.struct_size = sizeof error;
    void *instance = NULL, *explanation = &error;
    int64_t a = 0, b = 1, sum = 0;
    int64_t *result = &sum;
    void *slots[] = {&instance, &a, &b, &result, &explanation};
    const uint64_t start = now();
    for (uint64_t i = 0; i < count; i++) {
        ffi_arg status;
        a = sum;
        ffi_call(&interface, FFI_FN(function), &status, slots);
        if ((int32_t)status != CONNECTOR_OK) return 0;
    }
    return now() - start;
}

uint64_t benchmark_invert(const void *function, uint64_t count) {
    invert_function volatile invert = (invert_function)function;
    connector_error error;
    error.struct_size = sizeof error;
    uint8_t bytes[1024] = {7}, into[1024];
    uint64_t length = 0;
    const uint64_t start = now();
    for (uint64_t i = 0; i < count; i++) {
        if (invert(NULL, bytes, sizeof bytes, into, sizeof into, &length, &error) != CONNECTOR_OK) return 0;
    }
    return now() - start;
}

void benchmark_release_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
