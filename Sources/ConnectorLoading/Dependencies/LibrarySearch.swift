// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Finds the file of a needed library by the rules of ld.so(8), without loading anything.
package struct LibrarySearch {
    /// A file that was found.
    package struct Hit {
        /// Its path.
        package var path: String
        /// Whether it was found relative to the image that needs it.
        package var isRelativeToOrigin: Bool
        /// Its headers.
        package var image: ELFImage
    }

    /// An image that needs libraries, and how it came to be needed itself.
    package struct Requester {
        /// Its folder, for `$ORIGIN`.
        package var origin: String
        /// `DT_RUNPATH`, which holds for its own needs only.
        package var runpath: String?
        /// Every `DT_RPATH` that holds for it, with its origin: its own, then those of the images that led to it.
        package var rpaths: [(path: String, origin: String)]
    }

    private let architecture: Architecture
    private let environment: [String]
    private let cache = LibraryCache()

    /// Searches on behalf of an image for some architecture.
    package init(architecture: Architecture) {
        self.architecture = architecture
        environment = unsafe getenv("LD_LIBRARY_PATH").map { unsafe Self.split(String(cString: $0)) } ?? []
    }

    /// The default folders of the dynamic linker on common distributions.
    private var systemFolders: [String] {
        let triplet = architecture.machine == 183 ? "aarch64-linux-gnu" : "x86_64-linux-gnu"
        return ["/lib/\(triplet)", "/usr/lib/\(triplet)", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    }

    /// The file that a needed library's name leads to; nil if none does.
    package func find(_ name: String, for requester: Requester) -> Hit? {
        if name.contains("/") { return hit(Self.expand(name, origin: requester.origin)) }
        if requester.runpath == nil {
            for rpath in requester.rpaths {
                if let hit = find(name, along: rpath.path, origin: rpath.origin) { return hit }
            }
        }
        for folder in environment {
            if let hit = hit((folder + "/" + name, false)) { return hit }
        }
        if let runpath = requester.runpath, let hit = find(name, along: runpath, origin: requester.origin) {
            return hit
        }
        for path in cache?.paths(of: name) ?? [] {
            if let hit = hit((path, false)) { return hit }
        }
        for folder in systemFolders {
            if let hit = hit((folder + "/" + name, false)) { return hit }
        }
        return nil
    }

    private func find(_ name: String, along list: String, origin: String) -> Hit? {
        for folder in Self.split(list) {
            let (path, isRelative) = Self.expand(folder, origin: origin)
            if let hit = hit((path + "/" + name, isRelative)) { return hit }
        }
        return nil
    }

    /// A file counts only if it was built for the same machine; the dynamic linker skips others, too.
    private func hit(_ candidate: (path: String, isRelative: Bool)) -> Hit? {
        guard DirectoryListing.exists(candidate.path), let bytes = try? ImageBytes(path: candidate.path),
            let image = try? ELFImage(bytes), image.architecture == architecture
        else { return nil }
        return Hit(path: candidate.path, isRelativeToOrigin: candidate.isRelative, image: image)
    }

    private static func split(_ list: String) -> [String] {
        list.split { $0 == ":" || $0 == ";" }.map(String.init)
    }

    /// Replaces `$ORIGIN`, and `$LIB` by what it is on most systems.
    package static func expand(_ path: String, origin: String) -> (path: String, isRelative: Bool) {
        guard path.contains("$") else { return (path, false) }
        var result = path
        for (token, value) in [("ORIGIN", origin), ("LIB", "lib64")] {
            for spelling in ["${\(token)}", "$\(token)"] {
                while let range = result.firstRange(of: spelling) { result.replaceSubrange(range, with: value) }
            }
        }
        return (result, path.contains("ORIGIN"))
    }
}
