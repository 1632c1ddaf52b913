// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How large the stacks of this process may become: getrlimit(2), `RLIMIT_STACK`. glibc gives each thread a stack of that size.
package enum StackLimit {
    #if canImport(Glibc)
        private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_STACK.rawValue) }
    #else
        private static var resource: Int32 { RLIMIT_STACK }
    #endif

    /// The least that the commands need, in bytes: with 96 KiB, the Swift runtime overflows the stack before there is an error.
    package static let least = 256 << 10

    /// Whether the limit, if there is one, leaves the commands what they need.
    package static var isSufficient: Bool {
        var limit = rlimit()
        return unsafe getrlimit(resource, &limit) != 0 || limit.rlim_cur >= rlim_t(least)
    }
}
