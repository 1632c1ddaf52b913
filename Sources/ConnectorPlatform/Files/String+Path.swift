// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Paths as text.
extension String {
    /// The part after the last slash.
    package var lastPathComponent: String {
        utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[utf8.index(after: $0)...]) } ?? self
    }

    /// The part before the last slash; `.` if there is none.
    package var parentPath: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    /// The path, prefixed with the working directory if it is relative; unchanged if that was removed, or its path is not UTF-8.
    package var rootedPath: String {
        guard !starts(ascii: "/"), let directory = WorkingDirectory.path else { return self }
        return directory + "/" + self
    }

    /// The absolute path, with `.` and `..` resolved textually; a relative path is unchanged where ``rootedPath`` is.
    package var absolutePath: String {
        let full = rootedPath
        guard full.starts(ascii: "/"), full.mayNeedResolution else { return full }
        var parts: [Substring] = []
        for part in full.split(ascii: "/") {
            switch part {
            case ".": break
            case "..": _ = parts.popLast()
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Whether an absolute path ends with a slash, or has a part that is empty or begins with a dot. Few do.
    private var mayNeedResolution: Bool {
        var isAfterSlash = false
        for byte in utf8 {
            if isAfterSlash, byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") { return true }
            isAfterSlash = byte == UInt8(ascii: "/")
        }
        return isAfterSlash
    }

    /// The path without symbolic links; unchanged if it leads nowhere, or to a path that is not UTF-8.
    package var realPath: String { resolved ?? self }

    /// The path without symbolic links; nil if it leads nowhere, or to a path that is not UTF-8.
    private var resolved: String? {
        guard !isEmpty, let real = unsafe realpath(self, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe SystemText(cString: real).text
    }

    /// The target of the symbolic link at the path, as bytes; nil if there is no link, or if its target has 4096 bytes or more.
    package var linkTarget: [UInt8]? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(self, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return buffer[..<count].map { UInt8(bitPattern: $0) }
    }

    /// The path of the entry itself: without symbolic links on the way to it, but not followed if it is one.
    ///
    /// It stays the same while the entry is replaced, or is missing, and while its directory is missing. Nil for a relative path if the
    /// working directory was removed, or its path is not UTF-8.
    package var placePath: String? {
        let rooted = rootedPath
        guard rooted.starts(ascii: "/") else { return nil }
        var (directory, rest) = (rooted.parentPath, "/" + rooted.lastPathComponent)
        while directory != "/" {
            if let real = directory.resolved { return real == "/" ? rest : real + rest }
            (directory, rest) = (directory.parentPath, "/" + directory.lastPathComponent + rest)
        }
        return rest
    }
}
