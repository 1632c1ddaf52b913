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

/// Where hosts of this user keep what must survive a restart.
package struct StateDirectory: Sendable {
    /// An absolute path; nil if there is none to be found.
    package let path: String?

    /// Takes a directory, or else the usual one.
    package init(_ path: String? = nil) {
        self.path = path ?? Self.usual { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
    }

    /// By the XDG Base Directory Specification: `$XDG_STATE_HOME`, which counts only if it is absolute, otherwise
    /// `~/.local/state`.
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

    /// A name that no two gates share, whatever stands in their paths; it begins with no dot and holds no slash.
    package static func fileName(for gate: String) -> String {
        var name: [UInt8] = []
        for byte in gate.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                name.append(byte)
            default:
                // Capitals too: some file systems do not tell them from small letters.
                name.append(percentEscaping: byte)
            }
        }
        guard name.count <= 200 else {
            return "gate.\(SHA256Digest(of: gate)).storage"
        }
        return String(decoding: name, as: UTF8.self) + ".storage"
    }
}
