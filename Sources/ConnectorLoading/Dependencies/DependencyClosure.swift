// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An image with all its direct and indirect dependencies, found as the dynamic linker finds them.
package struct DependencyClosure {
    /// One image of the closure.
    package struct Member {
        /// As its first requester names it; the root's path.
        package var name: String
        /// The file; nil if it is missing, or loaded from a file that is gone.
        package var path: String?
        /// The index of the member that asked for it first; nil for the root.
        package var requester: Int?
        /// Whether the process has it already.
        package var isLoaded: Bool
        /// Whether it was found relative to its requester.
        package var isRelativeToOrigin: Bool
        /// What it exports and needs, if its file can be read.
        package var contents: (image: ELFImage, dynamic: DynamicSection)?

        /// Whether it is not on this system.
        package var isMissing: Bool { path == nil && !isLoaded }
    }

    /// The root, then its needs, then theirs: the order in which symbols are looked up.
    private(set) var members: [Member]

    /// More members, and names of members, than any program has. Cycles add none, because each name is followed once.
    private static let (memberLimit, nameLimit) = (512, 1024)

    /// Finds all dependencies of an image.
    package init(of image: ELFImage, _ dynamic: DynamicSection) {
        let root = Member(
            name: image.bytes.path,
            path: image.bytes.path,
            requester: nil,
            isLoaded: false,
            isRelativeToOrigin: false,
            contents: (image, dynamic)
        )
        members = [root]
        let search = LibrarySearch(architecture: image.architecture)
        #if os(Linux)
            let loaded = image.architecture == .host ? LoadedLibraries.current() : []
        #endif
        var known: Set<String> = []
        // One file may have many names.
        var files: Set<FileIdentity> = [image.bytes.identity]
        var next = 0
        while next < members.count, members.count < Self.memberLimit, known.count < Self.nameLimit {
            defer { next += 1 }
            guard let (image, dynamic) = members[next].contents else { continue }
            let requester = requester(next)
            for name in image.neededLibraries(dynamic) where known.insert(name).inserted {
                #if os(Linux)
                    if let library = loaded.first(where: { $0.answers(to: name) }) {
                        members.append(Self.member(name, loaded: library, requester: next))
                        continue
                    }
                #endif
                let hit = search.find(name, for: requester)
                if let hit, !files.insert(hit.image.bytes.identity).inserted { continue }
                members.append(
                    Member(
                        name: name,
                        path: hit?.path,
                        requester: next,
                        isLoaded: false,
                        isRelativeToOrigin: hit?.isRelativeToOrigin ?? false,
                        contents: hit.flatMap { hit in DynamicSection(hit.image).map { (hit.image, $0) } }
                    )
                )
                if let soname = members.last?.soname { known.insert(soname) }
            }
        }
    }

    #if os(Linux)
        private static func member(_ name: String, loaded library: LoadedLibraries.Library, requester: Int) -> Member {
            let image = library.file.flatMap { try? ELFImage(ImageBytes(path: $0)) }
            return Member(
                name: name,
                path: library.file,
                requester: requester,
                isLoaded: true,
                isRelativeToOrigin: false,
                contents: image.flatMap { image in DynamicSection(image).map { (image, $0) } }
            )
        }
    #endif

    /// The versions of its symbols that a library defines; nil if that cannot be told.
    package func versions(of library: String) -> Set<String>? {
        guard let provider = members.first(where: { $0.name == library || $0.soname == library }),
            let (image, dynamic) = provider.contents
        else { return nil }
        let present = image.definedVersions(dynamic)
        return present.isEmpty ? nil : present
    }

    /// The names from the root's dependency down to a member: the reason why it is needed.
    package func chain(to index: Int) -> [String] {
        var names: [String] = []
        var current: Int? = index
        while let index = current {
            names.append(members[index].name)
            current = members[index].requester
        }
        return names.reversed()
    }

    /// The member as the search for its own dependencies sees it.
    private func requester(_ index: Int) -> LibrarySearch.Requester {
        var requester = LibrarySearch.Requester(
            origin: members[index].origin,
            runpath: members[index].runpath.map { LibrarySearch.folders($0, origin: members[index].origin) },
            rpath: []
        )
        var current: Int? = index
        while let index = current {
            // An image with a RUNPATH has its RPATH ignored.
            if members[index].runpath == nil, let rpath = members[index].rpath {
                requester.rpath += LibrarySearch.folders(rpath, origin: members[index].origin)
            }
            current = members[index].requester
        }
        requester.rpath.removeLast(max(0, requester.rpath.count - LibrarySearch.folderLimit))
        return requester
    }
}

extension DependencyClosure.Member {
    /// Its own name.
    package var soname: String? {
        contents.flatMap { image, dynamic in dynamic.soname.flatMap { image.string(dynamic, at: $0) } }
    }

    fileprivate var runpath: String? {
        contents.flatMap { image, dynamic in dynamic.runpath.flatMap { image.string(dynamic, at: $0) } }
    }

    fileprivate var rpath: String? {
        contents.flatMap { image, dynamic in dynamic.rpath.flatMap { image.string(dynamic, at: $0) } }
    }

    fileprivate var origin: String { (path ?? ".").absolutePath.parentPath }
}

extension String {
    /// The absolute path, with `.` and `..` resolved textually.
    package var absolutePath: String {
        var full = self
        if !hasPrefix("/"), let directory = unsafe getcwd(nil, 0) {
            full = unsafe String(cString: directory) + "/" + self
            unsafe free(directory)
        }
        var parts: [Substring] = []
        for part in full.split(separator: "/") {
            switch part {
            case ".": break
            case "..": _ = parts.popLast()
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }
}
