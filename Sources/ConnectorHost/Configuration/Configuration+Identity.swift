// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

extension Configuration {
    /// What tells this configuration's state from that of others: the real path of its file, or of its directory for one
    /// made in Swift.
    package var identity: String {
        let name = file.isEmpty ? "" : "/" + (file.split(separator: "/").last ?? "")
        guard let real = unsafe realpath(directory, nil) else { return directory + name }
        defer { unsafe free(real) }
        return unsafe String(cString: real) + name
    }
}
