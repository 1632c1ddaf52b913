// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorLoading
internal import ConnectorServices

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Where a command leaves the note of a crash for the next `status` of the same configuration.
enum CrashFile {
    /// The file for a configuration, in the user's state directory; nil if there is no such directory.
    static func path(for configuration: String) -> String? {
        let resolved = unsafe realpath(configuration, nil)
        defer { unsafe free(resolved) }
        let identity = unsafe resolved.map { unsafe String(cString: $0) } ?? configuration
        return StateDirectory().path.map { "\($0)/\(SHA256Digest(of: identity)).crash" }
    }
}
