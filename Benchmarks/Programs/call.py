# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""call.py ctypes|cffi IMAGE: prints the nanoseconds that one call of quick_add takes from Python."""
import sys
import time

COUNT = 200_000


def measure(call):
    start = time.perf_counter_ns()
    for _ in range(COUNT):
        call()
    return (time.perf_counter_ns() - start) / COUNT


def nothing():
    pass


def with_ctypes(path):
    import ctypes

    add = ctypes.CDLL(path).quick_add
    add.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    result = ctypes.c_int64()
    where = ctypes.addressof(result)
    return measure(lambda: add(None, 2, 3, where, None))


def with_cffi(path):
    import cffi

    ffi = cffi.FFI()
    ffi.cdef("int32_t quick_add(void *instance, int64_t a, int64_t b, int64_t *result, void *error);")
    add = ffi.dlopen(path).quick_add
    result = ffi.new("int64_t *")
    return measure(lambda: add(ffi.NULL, 2, 3, result, ffi.NULL))


took = {"ctypes": with_ctypes, "cffi": with_cffi}[sys.argv[1]](sys.argv[2])
print(max(0.0, took - measure(nothing)))
