// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How many descriptors this process may have open at once: getrlimit(2), `RLIMIT_NOFILE`.
package enum DescriptorLimit {
    #if canImport(Glibc)
        private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
        /// The highest soft limit to set. Programs that the process starts inherit it, and some close every number up to it.
        private static let highest: rlim_t = 65_536
    #else
        private static var resource: Int32 { RLIMIT_NOFILE }
        /// `OPEN_MAX`, beyond which setrlimit(2) fails.
        private static let highest: rlim_t = 10_240
    #endif

    /// The soft limit, which is in force.
    package static var current: Int {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the soft limit as far as the hard one permits, to 65,536 at most. Failure is not an error: the limit stays as it is.
    ///
    /// Soft limits are 1024 nearly everywhere for the sake of select(2), which the host does not use.
    package static func raise() {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        let wanted = min(limit.rlim_max, highest)
        guard wanted > limit.rlim_cur else { return }
        limit.rlim_cur = wanted
        _ = unsafe setrlimit(resource, &limit)
    }

    /// Whether there is room for event loops, and for what they serve. NIO ends the process if one does not get the three that it needs.
    package static func hasRoom(forLoops count: Int) -> Bool { hasRoom(for: 3 * count + 64) }

    /// Whether so many more descriptors can be opened at this moment. It opens and closes them.
    package static func hasRoom(for count: Int) -> Bool {
        // Trying in vain would take from other threads what they need.
        guard count < current else { return false }
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        while descriptors.count < count {
            let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return errno != EMFILE && errno != ENFILE }
            descriptors.append(descriptor)
        }
        return true
    }
}
