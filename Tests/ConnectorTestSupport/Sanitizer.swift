// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The sanitizer that the tests may run under.
package enum Sanitizer {
    /// Whether there is one. The process's memory then says nothing, since a sanitizer keeps what was freed.
    package static var isPresent: Bool {
        unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
    }
}
