// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A directory for the state of a host under test.
package enum ScratchDirectory {
    /// Makes one below `TMPDIR`; `/dev/null`, where nothing can be kept, if the system refuses.
    package static func make() -> String {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/connector-conformance-XXXXXX".utf8CString)
        return unsafe mkdtemp(&template).map { unsafe String(cString: $0) } ?? "/dev/null"
    }

    /// Removes one, with everything in it; what cannot be removed stays.
    package static func remove(_ path: String) {
        guard path != "/dev/null" else { return }
        for entry in (try? Directory.entries(of: path)) ?? [] where entry.name != "." && entry.name != ".." {
            let child = "\(path)/\(entry.name)"
            if unsafe unlink(child) != 0 { remove(child) }
        }
        unsafe rmdir(path)
    }
}
