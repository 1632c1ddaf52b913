// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

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
        /// The folders in which the dynamic linker looks for it, in order.
        package var folders: [String] = []
        /// What it exports and needs, if its file can be read.
        package var contents: (image: ELFImage, dynamic: DynamicSection)?

        /// Whether it is not on this system.
        package var isMissing: Bool { path == nil && !isLoaded }
    }

    /// The program, whose `DT_RPATH` holds for all that it loads.
    private let program = LibrarySearch.Requester.program
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
                    if image.architecture == .host, let member = Self.member(loaded, named: name, requester: next) {
                        members.append(member)
                        continue
                    }
                #endif
                let result = search.find(name, for: requester)
                var member = Member(
                    name: name,
                    path: nil,
                    requester: next,
                    isLoaded: false,
                    isRelativeToOrigin: false,
                    folders: result.folders
                )
                guard !result.hits.isEmpty else {
                    members.append(member)
                    continue
                }
                for hit in result.hits where files.insert(hit.image.bytes.identity).inserted {
                    member.path = hit.path
                    member.isRelativeToOrigin = hit.isRelativeToOrigin
                    member.contents = DynamicSection(hit.image).map { (hit.image, $0) }
                    members.append(member)
                    if let soname = member.soname { known.insert(soname) }
                }
            }
        }
    }

    #if os(Linux)
        /// The library of this process that the dynamic linker takes for a name; nil if it looks for a file.
        private static func member(
            _ loaded: [LoadedLibraries.Library],
            named name: String,
            requester: Int
        ) -> Member? {
            let library = loaded.first { $0.answers(to: name) }
            // A library without a name of its own goes by the one that another image asked for it by.
            guard library != nil || (!name.contains("/") && DynamicLinker.keep(loaded: name)) else { return nil }
            let file = (library ?? loaded.first { $0.path.lastPathComponent == name })?.file
            let image = file.flatMap { try? ELFImage(ImageBytes(path: $0)) }
            return Member(
                name: name,
                path: file,
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
            runpath: members[index].runpath.map { SearchPath.folders($0, origin: members[index].origin) },
            rpath: []
        )
        var current: Int? = index
        while let index = current {
            // An image with a RUNPATH has its RPATH ignored.
            if members[index].runpath == nil, let rpath = members[index].rpath {
                requester.rpath += SearchPath.folders(rpath, origin: members[index].origin)
            }
            current = members[index].requester
        }
        requester.rpath += program.rpath
        requester.rpath.removeLast(max(0, requester.rpath.count - SearchPath.folderLimit))
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

    /// Its folder as the dynamic linker spells it: `..` behind a symbolic link leads elsewhere than the text says.
    fileprivate var origin: String { (path ?? ".").rootedPath.parentPath }

    /// Whether its own search path leads up from its folder, which then must be laid out as it is on disk.
    package var climbsFromOrigin: Bool {
        [runpath, rpath].contains { list in
            list?.split(separator: ":").contains { $0.contains("ORIGIN") && $0.contains("..") } ?? false
        }
    }
}
