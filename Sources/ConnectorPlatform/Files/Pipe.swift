// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    internal import CLinux
#endif
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A pipe whose ends are closed on exec, so that no program that another thread starts inherits them: a reader waits for its end as long
/// as any process has the write end open.
///
/// The owner closes each end once.
package struct Pipe: Sendable {
    /// The descriptor to read from.
    package let reading: Int32
    /// The descriptor to write to.
    package let writing: Int32

    /// Creates a pipe.
    ///
    /// - Parameter blocks: Whether reading an empty pipe and writing to a full one wait.
    /// - Throws: `EMFILE` or `ENFILE` if there are no descriptors left.
    package init(blocks: Bool = true) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            guard unsafe pipe2(&ends, O_CLOEXEC | (blocks ? 0 : O_NONBLOCK)) == 0 else { throw SystemError() }
        #else
            guard unsafe pipe(&ends) == 0 else { throw SystemError() }
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                if !blocks { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
            }
        #endif
        (reading, writing) = (ends[0], ends[1])
    }

    /// Closes both ends.
    package func close() {
        for end in [reading, writing] {
            #if canImport(Glibc)
                _ = Glibc.close(end)
            #else
                _ = Darwin.close(end)
            #endif
        }
    }
}
