/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * shim.h: libffi for Swift. Its type descriptions are mutable globals, which Swift 6 does not let code refer to; each is
 * returned by a function here. They are never written after libffi was loaded.
 */
#ifndef CFFI_SHIM_H
#define CFFI_SHIM_H

#include <ffi.h>

#define CFFI_TYPE(name)                                                                                                \
    static inline ffi_type *cffi_type_##name(void) { return &ffi_type_##name; }

CFFI_TYPE(void)
CFFI_TYPE(uint8)
CFFI_TYPE(sint8)
CFFI_TYPE(uint16)
CFFI_TYPE(sint16)
CFFI_TYPE(uint32)
CFFI_TYPE(sint32)
CFFI_TYPE(uint64)
CFFI_TYPE(sint64)
CFFI_TYPE(float)
CFFI_TYPE(double)
CFFI_TYPE(pointer)

#undef CFFI_TYPE

#endif
