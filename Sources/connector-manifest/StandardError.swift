// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The standard error stream, which the build tool shows.
enum StandardError {
    /// Writes a line.
    static func print(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}
