// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Paths that were given relative to the working directory, made absolute: an application may change its directory at any time.
///
/// As in rsync(1), `/./` marks where the given part begins: in `/srv/shop`, `Plugins/a.so` becomes `/srv/shop/./Plugins/a.so`. So one text
/// opens the file from everywhere, and `withGivenPaths` shows what the user wrote. Errors and positions do so themselves.
package enum GivenPath {
    /// The working directories so far, each with the mark; the longest first, because one may end like another.
    private static let roots = Mutex<[String]>([])
    /// Whether there are any, so that texts are searched only then.
    private static let hasRoots = Atomic<Bool>(false)

    /// The absolute path of a file that was given while the process was in a directory.
    package static func rooted(_ path: String, in directory: String) -> String {
        guard !path.starts(ascii: "/") else { return path }
        let root = directory + "/./"
        roots.withLock { roots in
            guard !roots.contains(root) else { return }
            roots.append(root)
            roots.sort { $0.utf8.count > $1.utf8.count }
        }
        hasRoots.store(true, ordering: .releasing)
        return path == "." ? directory + "/." : root + path
    }

    /// Replaces what precedes each given path in a text.
    fileprivate static func replacing(in text: String, _ replacement: (_ root: String) -> String) -> String {
        guard hasRoots.load(ordering: .acquiring), text.contains(ascii: "/./") else { return text }
        return roots.withLock(\.self).reduce(text) { text, root in
            text.contains(ascii: root) ? replacing(root, in: text, with: replacement(root)) : text
        }
    }

    /// Replaces a root where a path begins with it, but not inside another path, as in `/mnt/srv/shop/./a.so`.
    private static func replacing(_ root: String, in text: String, with replacement: String) -> String {
        var result: [UInt8] = []
        var rest = text.utf8[...]
        var last: UInt8?
        while let byte = rest.first {
            if rest.starts(with: root.utf8), last.map(isPart) != true {
                result += replacement.utf8
                rest = rest.dropFirst(root.utf8.count)
                last = UInt8(ascii: "/")
            } else {
                result.append(byte)
                rest = rest.dropFirst()
                last = byte
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether a path has such a byte before a slash, where a sentence has none before a path.
    private static func isPart(_ byte: UInt8) -> Bool {
        byte.isWordCharacter || byte >= 0x80 || "/.-".utf8.contains(byte)
    }
}

extension String {
    /// The text with every path in it as it was given, for people.
    package var withGivenPaths: String { GivenPath.replacing(in: self) { _ in "" } }

    /// The text with every path in it absolute and without the mark, for plugins and other processes.
    package var withUnmarkedPaths: String { GivenPath.replacing(in: self) { String($0.dropLast(2)) } }
}
