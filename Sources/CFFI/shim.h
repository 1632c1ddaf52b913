/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * shim.h: libffi for Swift. Its type descriptions are mutable globals, which Swift 6 code may not refer to; functions here return
 * them. They are never written once libffi is loaded.
 */
#ifndef CFFI_SHIM_H
#define CFFI_SHIM_H

#include <ffi.h>
#include <stddef.h>

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

/* Makes a function of the C type that `cif` describes, whose calls lead to `enter` with `target`. Null if the system refuses
 * executable memory. Both `cif` and `target` must live as long as the function, which is never freed. */
static inline void *cffi_closure(ffi_cif *cif, void (*enter)(ffi_cif *, void *, void **, void *), void *target) {
    void *code = NULL;
    ffi_closure *closure = (ffi_closure *)ffi_closure_alloc(sizeof(ffi_closure), &code);
    if (closure == NULL) return NULL;
    if (ffi_prep_closure_loc(closure, cif, enter, target, code) == FFI_OK) return code;
    ffi_closure_free(closure);
    return NULL;
}

#endif
