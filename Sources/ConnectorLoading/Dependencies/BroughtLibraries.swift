// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest
internal import ConnectorPlatform
internal import Synchronization

/// The libraries that plugins have brought into this process from beside their images.
///
/// The dynamic linker keeps one library of a name: an image that needs the name gets that one, whatever is beside the image. So an image
/// that has another one beside it is refused.
package final class BroughtLibraries: Sendable {
    /// The table of this process.
    package static let shared = BroughtLibraries()

    /// A library that an image brings along.
    struct Library: Sendable {
        /// The name by which the linker knows it.
        let name: String
        /// Its file.
        let path: String
        /// The bytes of each file that the linker may choose: more than one if there are builds for particular processors.
        var digests: Set<SHA256Digest>
    }

    private let libraries = Mutex<[String: Library]>([:])
    /// The files beside images that were loaded or, with the same bytes, found loaded, each in the last state with those bytes.
    private let files = Mutex<[String: WatchedFile]>([:])

    /// A library's file, and its bytes.
    private struct WatchedFile: Sendable {
        let stamp: FileStamp
        let digest: SHA256Digest
    }

    /// Describes files that the linker finds beside an image.
    ///
    /// - Throws: `load-failed` if a file was truncated since it was opened.
    private func described(_ files: [ImageBytes]) throws(ConnectorError) -> [Library] {
        var libraries: [Library] = []
        for file in files {
            let digest = try digest(of: file)
            let name = Self.name(of: file)
            if let index = libraries.firstIndex(where: { $0.name == name }) {
                libraries[index].digests.insert(digest)
            } else {
                libraries.append(Library(name: name, path: file.path, digests: [digest]))
            }
        }
        return libraries
    }

    /// The digest of a file; one that is watched, and has not changed since, is not read again.
    private func digest(of file: ImageBytes) throws(ConnectorError) -> SHA256Digest {
        let known = files.withLock { $0[file.path] }
        if let known, known.stamp == file.stamp { return known.digest }
        return try file.sha256()
    }

    /// Checks that the process has no other libraries of the names of some files.
    ///
    /// - Returns: The libraries, to be recorded when they are loaded.
    /// - Throws: `load-failed` for the first one that differs.
    @discardableResult
    func check(_ files: [ImageBytes]) throws(ConnectorError) -> [Library] {
        let own = try described(files)
        for library in own {
            guard let loaded = loaded(library.name), loaded.digests.isDisjoint(with: library.digests) else { continue }
            throw Self.differs(library, loaded)
        }
        return own
    }

    /// Checks that the libraries beside an image are those that the process uses in their place, if a plugin has brought those along.
    func checkInPlace(of closure: DependencyClosure) throws(ConnectorError) {
        for member in closure.members where !member.replaced.isEmpty && loaded(member.name) != nil {
            try check(member.replaced)
            try watch(member.replaced)
        }
    }

    /// Remembers the files of libraries that the process has loaded.
    func watch(_ loaded: [ImageBytes]) throws(ConnectorError) {
        for file in loaded {
            let watched = WatchedFile(stamp: file.stamp, digest: try digest(of: file))
            files.withLock { $0[file.path] = watched }
        }
    }

    /// The files beside images that no longer have the bytes that this process keeps in use, by their paths. Blocks while it reads those
    /// that were written to.
    package var changedFiles: [String] {
        let known = files.withLock(\.self)
        return known.keys.sorted().filter { path in
            guard let file = known[path], let stamp = FileStamp(path: path), stamp != file.stamp else {
                return false
            }
            return (try? ImageBytes(path: path).sha256()) != file.digest
        }
    }

    /// Records libraries by their names and those of their files, by both of which the linker knows them. The first one of a name stays:
    /// images are never unloaded.
    ///
    /// Call it before they are loaded: whoever waits for the linker meanwhile finds them in the process, and must find them here.
    ///
    /// - Returns: The names that are new, for ``remove(_:)`` if the libraries cannot be loaded.
    func add(_ brought: [Library]) -> [String] {
        libraries.withLock { libraries in
            var names: [String] = []
            for library in brought {
                for name in [library.name, library.path.lastPathComponent] where libraries[name] == nil {
                    libraries[name] = library
                    names.append(name)
                }
            }
            return names
        }
    }

    /// Forgets the libraries of some names, which could not be loaded.
    func remove(_ names: [String]) {
        libraries.withLock { libraries in
            for name in names { libraries[name] = nil }
        }
    }

    /// The library of a name that a plugin has brought along; nil if none has.
    func loaded(_ name: String) -> Library? {
        libraries.withLock { $0[name] }
    }

    #if os(Linux)
        /// The warning that the process has a library of a file's name which no plugin has brought along, and which differs; nil if not.
        func warning(about file: ImageBytes) throws(ConnectorError) -> String? {
            let name = Self.name(of: file)
            guard loaded(name) == nil, let used = LoadedLibraries.current().first(where: { $0.soname == name }) else {
                return nil
            }
            let digest = try file.sha256()
            if let path = used.file, (try? ImageBytes(path: path).sha256()) == digest { return nil }
            return Self.warning(file.path, name, used: used.file)
        }
    #endif

    /// The warning about a library of which the process uses another one.
    static func warning(_ path: String, _ name: String, used: String?) -> String {
        "\(path) is not used: the process already has another \(name.excerpt)\(used.map { ", \($0)" } ?? "")"
    }

    private static func name(of file: ImageBytes) -> String {
        (try? ELFImage(file))?.libraryName ?? file.path.lastPathComponent
    }

    private static func differs(_ own: Library, _ loaded: Library) -> ConnectorError {
        let name = own.name.excerpt
        let message =
            own.path == loaded.path
            ? "\(own.path) has changed since this process loaded it, and a process keeps its first \(name)"
            : "\(own.path) differs from \(loaded.path), which this process loaded as its only \(name)"
        return ConnectorError(
            .loadFailed,
            message,
            fix: "give the connector a runner of its own (\"isolation\": \"process\"), or the library another soname; "
                + "a restart takes up one that has changed"
        )
    }
}

extension DependencyClosure {
    /// The libraries beside the image in place of which the process uses others that no plugin has brought along, such as those of the
    /// system; a warning for each.
    var replacementWarnings: [String] {
        var warnings: [String] = []
        for member in members where BroughtLibraries.shared.loaded(member.name) == nil {
            guard let own = member.replaced.first else { continue }
            if let used = member.contents?.image.bytes {
                let similar = member.replaced.filter { $0.count == used.count }
                if similar.contains(where: { $0.stamp == used.stamp }) { continue }
                if !similar.isEmpty, let digest = try? used.sha256(),
                    similar.contains(where: { (try? $0.sha256()) == digest })
                {
                    continue
                }
            } else if member.replaced.contains(where: { LoadedImages.shared.contains($0) }) {
                // It is a plugin itself, and was loaded from a copy.
                continue
            }
            warnings.append(BroughtLibraries.warning(own.path, member.name, used: member.path))
        }
        return warnings
    }
}
