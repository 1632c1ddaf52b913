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
        let root = path ?? Self.usual(Self.variable)
        self.path = application.flatMap { name in root.map { "\($0)/\(name)" } } ?? root
        enclosing = application == nil ? nil : root
    }

    /// Uses the application's folder, by ``folder(name:file:)``, in the given directory or, if nil, in the user's default.
    ///
    /// It has no path if the application has no folder.
    package init(_ path: String? = nil, name: String?, file: String) {
        let folder = Self.folder(name: name, file: file)
        let all = Self(path, application: folder)
        self.path = folder == nil ? nil : all.path
        enclosing = all.enclosing
    }

    /// Why an application may have no directory.
    package static var absence: String {
        if let (name, path) = place(variable), path.text == nil {
            return "the variable \(name) is not UTF-8: \(path.shown)"
        }
        return "neither XDG_STATE_HOME nor HOME is set to an absolute path, or the working directory was removed"
    }

    /// The default directory by the XDG Base Directory Specification: under `$XDG_STATE_HOME` if that is absolute,
    /// otherwise under `~/.local/state`. Nil if neither is, or if the one that counts is not UTF-8.
    package static func usual(_ variable: (String) -> SystemText?) -> String? {
        guard let (name, path) = place(variable), let text = path.text else { return nil }
        return text + (name == "HOME" ? "/.local/state" : "") + "/connector-host"
    }

    /// The variable that leads to the default directory, and its value.
    private static func place(_ variable: (String) -> SystemText?) -> (name: String, path: SystemText)? {
        for name in ["XDG_STATE_HOME", "HOME"] {
            if let path = variable(name), path.shown.starts(ascii: "/") { return (name, path) }
        }
        return nil
    }

    private static func variable(_ name: String) -> SystemText? {
        unsafe getenv(name).map { unsafe SystemText(cString: $0) }
    }

    /// The folder of an application: named after the name in its configuration, or else after the file's place or,
    /// without a file, the program's path.
    ///
    /// A file that is a symbolic link is not followed: in a volume of Kubernetes, as in many deployments, the link stays and what it
    /// leads to is replaced. A path becomes the first 64 bits of its digest, so that below the home directory of any user the path of a
    /// socket in the folder fits the 107 bytes of a Unix address.
    ///
    /// - Returns: Nil for a relative path if the working directory was removed.
    package static func folder(name: String?, file: String) -> String? {
        if let name { return "\(name).name" }
        guard file.isEmpty else { return file.placePath.map { folder(of: $0, digits: 16, "file") } }
        let program = "/proc/self/exe".realPath
        let path = program == "/proc/self/exe" ? ProcessArguments.all.first ?? program : program
        return folder(of: path, digits: 16, "program")
    }

    /// The folders that earlier versions used for an application without a name, which followed a file that is a symbolic link, and
    /// before that had all 64 digits of the digest.
    package static func earlierFolders(file: String) -> [String] {
        guard !file.isEmpty else {
            return [folder(of: "/proc/self/exe".realPath, digits: 64, "program")]
        }
        let path = file.realPath
        // What leads nowhere stays as it is, and its relative path would be that of other files, too.
        guard path.starts(ascii: "/") else { return [] }
        return [16, 64].map { folder(of: path, digits: $0, "file") }
    }

    private static func folder(of path: String, digits: Int, _ kind: String) -> String {
        "\(SHA256Digest(of: path).description.prefix(digits)).\(kind)"
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
