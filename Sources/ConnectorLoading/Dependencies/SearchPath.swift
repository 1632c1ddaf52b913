// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Parses lists of folders for the dynamic linker: `DT_RPATH`, `DT_RUNPATH` and `LD_LIBRARY_PATH` (ld.so(8)).
package enum SearchPath {
    /// One folder of a list.
    package struct Folder: Sendable, Hashable {
        /// The folder's path, with tokens expanded.
        package var path: String
        /// Whether it is named relative to the image (`$ORIGIN`).
        package var isRelative: Bool
        /// Whether the linker searches it on every system; false for one of several meanings of `$PLATFORM`.
        package var isCertain = true
    }

    /// The maximum number of folders to search from a list.
    package static let folderLimit = 128

    /// The folders of a list, expanded for an image at an origin. Drops paths that are too long for any system.
    ///
    /// - Parameter separators: The separators: a colon; in `LD_LIBRARY_PATH`, a semicolon too.
    package static func folders(_ list: String, origin: String, separators: String = ":") -> [Folder] {
        // The linker ignores an empty list, but treats an empty element as the current directory.
        guard !list.isEmpty else { return [] }
        let elements = list.utf8.split(maxSplits: folderLimit, omittingEmptySubsequences: false) {
            separators.utf8.contains($0)
        }
        return elements.prefix(folderLimit).flatMap { element in
            expansions(element.isEmpty ? "." : String(Substring(element)), origin: origin)
        }.filter { $0.path.utf8.count < 4096 }
    }

    /// The possible expansions of a path with tokens: one, unless it contains `$PLATFORM`, whose value depends on the
    /// processor and the linker's version.
    package static func expansions(_ path: String, origin: String) -> [Folder] {
        let first = expand(path, origin: origin, platform: platforms[0])
        guard first.usesPlatform else { return [Folder(path: first.path, isRelative: first.isRelative)] }
        return platforms.map { platform in
            let expanded = expand(path, origin: origin, platform: platform)
            return Folder(path: expanded.path, isRelative: expanded.isRelative, isCertain: false)
        }
    }

    /// Expands tokens in one pass, because the origin may contain such tokens.
    private static func expand(
        _ path: String,
        origin: String,
        platform: String
    ) -> (path: String, isRelative: Bool, usesPlatform: Bool) {
        let tokens = [("ORIGIN", origin), ("LIB", library), ("PLATFORM", platform)]
        var result = ""
        var used: Set<String> = []
        var rest = Substring(path)
        while let dollar = rest.utf8.firstIndex(of: UInt8(ascii: "$")) {
            result += rest[..<dollar]
            rest = rest[rest.utf8.index(after: dollar)...]
            if let (name, value, length) = tokens.lazy.compactMap({ token in
                Self.length(of: token.0, in: rest).map { (token.0, token.1, $0) }
            }).first {
                used.insert(name)
                result += value
                rest = Substring(rest.utf8.dropFirst(length))
            } else {
                result += "$"
            }
        }
        return (result + rest, used.contains("ORIGIN"), used.contains("PLATFORM"))
    }

    /// The bytes of a token after its dollar sign, `NAME` or `{NAME}`; nil if the text does not start with it.
    private static func length(of name: String, in text: Substring) -> Int? {
        if text.starts(ascii: "{\(name)}") { return name.utf8.count + 2 }
        guard text.starts(ascii: name) else { return nil }
        // A longer word is a different token.
        if let next = text.utf8.dropFirst(name.utf8.count).first, next.isWordCharacter { return nil }
        return name.utf8.count
    }

    /// The value of `$LIB`: the C library's folder, relative to the root or `/usr`.
    package static let library: String = {
        #if os(Linux)
            let path = LoadedLibraries.current().first { $0.soname == "libc.so.6" }?.path ?? ""
            let parts = path.parentPath.split(separator: "/")
            if let start = parts.lastIndex(where: { ["lib", "lib64", "libx32", "lib32"].contains($0) }) {
                return parts[start...].joined(separator: "/")
            }
        #endif
        return "lib64"
    }()

    /// The values that `$PLATFORM` may have here.
    private static let platforms: [String] = {
        #if arch(x86_64)
            ["haswell", "xeon_phi", "x86_64"]
        #else
            ["aarch64"]
        #endif
    }()

    /// The subfolders that the linker searches first if they suit the processor: `glibc-hwcaps/…`, and before glibc
    /// 2.37 any combination of the older names.
    package static func variants(of folder: String) -> [String] {
        variants(of: folder, words: ["tls"] + platforms + ["avx512_1", "atomics"])
            + levels(of: "\(folder)/glibc-hwcaps")
    }

    private static func variants(of folder: String, words: [String]) -> [String] {
        words.indices.flatMap { index -> [String] in
            let path = "\(folder)/\(words[index])"
            guard DirectoryListing.isDirectory(path) else { return [] }
            return variants(of: path, words: Array(words[(index + 1)...])) + [path]
        }
    }

    private static func levels(of folder: String) -> [String] {
        guard DirectoryListing.isDirectory(folder), let listing = try? DirectoryListing(path: folder) else { return [] }
        return listing.folders.sorted(by: >).map { "\(folder)/\($0)" }
    }
}
