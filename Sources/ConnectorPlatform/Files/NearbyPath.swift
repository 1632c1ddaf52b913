// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// What was probably meant by a path that leads nowhere.
package enum NearbyPath {
    /// The shortest name, without its ending, that is compared: most others of this length are as close.
    private static let shortest = 3

    /// What to do about a path that leads nowhere: write the existing one that differs from it by a misspelt name, or else check it.
    ///
    /// Reads the directory that should have the first missing name, so only paths that somebody has named come here.
    package static func remedy(for path: String, otherwise remedy: String = "check the path") -> String {
        meant(by: path).map { "did you mean \($0.withGivenPaths.excerpt)?" } ?? remedy
    }

    /// The existing path in which one name replaces the first missing one; nil if no name is close.
    static func meant(by path: String) -> String? {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var parent = ""
        for (index, name) in names.enumerated() {
            guard name.isEmpty || exists(parent + name) else {
                guard let meant = self.name(meantBy: name, in: parent.isEmpty ? "." : parent) else { return nil }
                let found = ([parent + meant] + names[(index + 1)...]).joined(separator: "/")
                return exists(found) ? found : nil
            }
            parent += name + "/"
        }
        return nil
    }

    /// The name in a directory that is closest to a missing one with the same ending.
    private static func name(meantBy name: String, in directory: String) -> String? {
        let (stem, ending) = parts(of: name)
        guard stem.utf8.count >= shortest, let entries = try? Directory.entries(of: directory) else { return nil }
        let stems = entries.filter { $0.bytes == nil }.map { parts(of: $0.name) }
            .filter { $0.ending == ending && $0.stem.utf8.count >= shortest }
            .map { $0.stem }
        return nameMeant(by: stem, among: stems.sorted()).map { $0 + ending }
    }

    /// A name up to its first dot, and the rest. The dot of a hidden file belongs to its name.
    private static func parts(of name: String) -> (stem: String, ending: String) {
        guard let dot = name.dropFirst().firstIndex(of: ".") else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
