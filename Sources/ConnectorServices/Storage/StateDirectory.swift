// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest
package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The directory for state that must survive a restart of this user's hosts.
package struct StateDirectory: Sendable {
    /// The directory of one application's files; nil if none can be found.
    package let path: String?
    /// The directory of all applications; nil if that is the same.
    private let enclosing: String?

    /// Uses the given directory or, if nil, the user's default, and in it the application's folder.
    ///
    /// - Parameter application: The name of the application's folder; nil for none.
    package init(_ path: String? = nil, application: String? = nil) {
        let root = path ?? Self.usual { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
        self.path = application.flatMap { name in root.map { "\($0)/\(name)" } } ?? root
        enclosing = application == nil ? nil : root
    }

    /// The default directory by the XDG Base Directory Specification: under `$XDG_STATE_HOME` if that is absolute,
    /// otherwise under `~/.local/state`.
    package static func usual(_ variable: (String) -> String?) -> String? {
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/connector-host" }
        if let home = variable("HOME"), home.hasPrefix("/") { return home + "/.local/state/connector-host" }
        return nil
    }

    /// The folder of an application: named after the name in its configuration, or else after the file's real path or,
    /// without a file, the program's.
    ///
    /// A path becomes the first 64 bits of its digest, so that below the home directory of any user the path of a socket in the folder
    /// fits the 107 bytes of a Unix address.
    package static func folder(name: String?, file: String) -> String {
        name.map { "\($0).name" } ?? folder(file: file, digits: 16)
    }

    /// The folder that earlier versions used for an application without a name, which had all 64 digits of the digest.
    package static func earlierFolder(file: String) -> String { folder(file: file, digits: 64) }

    private static func folder(file: String, digits: Int) -> String {
        let (place, kind) = file.isEmpty ? ("/proc/self/exe", "program") : (file, "file")
        let real = unsafe realpath(place, nil).map { text in
            defer { unsafe free(text) }
            return unsafe String(cString: text)
        }
        let digest = SHA256Digest(of: real ?? CommandLine.arguments.first ?? place)
        return "\(digest.description.prefix(digits)).\(kind)"
    }

    /// The file of a gate.
    package func file(for gate: String) throws(SystemError) -> StateFile {
        guard let path else { throw SystemError(ENOENT) }
        return StateFile(directory: path, name: Self.fileName(for: gate), enclosing: enclosing)
    }

    /// A file name unique to a gate's path, without a leading dot and without slashes.
    package static func fileName(for gate: String) -> String {
        var name: [UInt8] = []
        for byte in gate.utf8 {
            // Escape capitals too: some file systems ignore case.
            if byte.isWordCharacter && !byte.isUppercaseLetter || byte == UInt8(ascii: "-") {
                name.append(byte)
            } else {
                name.append(percentEscaping: byte)
            }
        }
        guard name.count <= 200 else {
            return "gate.\(SHA256Digest(of: gate)).storage"
        }
        return String(decoding: name, as: UTF8.self) + ".storage"
    }
}
