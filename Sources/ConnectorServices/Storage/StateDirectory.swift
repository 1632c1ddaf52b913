// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorLoading
internal import ConnectorManifest
package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The directory for state that must survive a restart of this user's hosts.
package struct StateDirectory: Sendable {
    /// An absolute path; nil if none can be found.
    package let path: String?

    /// Uses the given directory, or else the usual one.
    package init(_ path: String? = nil) {
        self.path = path ?? Self.usual { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
    }

    /// The usual directory by the XDG Base Directory Specification: under `$XDG_STATE_HOME` if that is absolute,
    /// otherwise under `~/.local/state`.
    package static func usual(_ variable: (String) -> String?) -> String? {
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/connector-host" }
        if let home = variable("HOME"), home.hasPrefix("/") { return home + "/.local/state/connector-host" }
        return nil
    }

    /// The file of a gate.
    package func file(for gate: String) throws(SystemError) -> StateFile {
        guard let path else { throw SystemError(ENOENT) }
        return StateFile(directory: path, name: Self.fileName(for: gate))
    }

    /// A file name unique to a gate's path; it starts with no dot and contains no slash.
    package static func fileName(for gate: String) -> String {
        var name: [UInt8] = []
        for byte in gate.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                name.append(byte)
            default:
                // Escape capitals too: some file systems ignore case.
                name.append(percentEscaping: byte)
            }
        }
        guard name.count <= 200 else {
            return "gate.\(SHA256Digest(of: gate)).storage"
        }
        return String(decoding: name, as: UTF8.self) + ".storage"
    }
}
