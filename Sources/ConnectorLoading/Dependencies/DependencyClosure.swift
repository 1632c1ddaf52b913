// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// An image with all its direct and indirect dependencies, found as the dynamic linker finds them.
package struct DependencyClosure {
    /// One image of the closure.
    package struct Member {
        /// The name by which its first requester names it; for the root, the path.
        package var name: String
        /// The file; nil if it is missing, or was loaded from a file that no longer exists.
        package var path: String?
        /// The index of the member that first requested it; nil for the root.
        package var requester: Int?
        /// Whether the process has already loaded it.
        package var isLoaded: Bool
        /// Whether it was found relative to its requester.
        package var isRelativeToOrigin: Bool
        /// The folders in which the dynamic linker looks for it, in order.
        package var folders: [String] = []
        /// The files beside its requester of which it would be one if the process had not loaded another library of that name.
        package var replaced: [ImageBytes] = []
        /// Whether its symbols are known to have no versions at all, not even those that it needs.
        package var isUnversioned = false
        /// The image and its dynamic section; nil if its file cannot be read.
        package var contents: (image: ELFImage, dynamic: DynamicSection)?

        /// Whether the library is not on this system.
        package var isMissing: Bool { path == nil && !isLoaded }
    }

    /// The program, whose `DT_RPATH` applies to everything that it loads.
    private let program = LibrarySearch.Requester.program
    /// The members in breadth-first order, the root first: the order in which symbols are looked up.
    private(set) var members: [Member]

    /// The most members, and names of members, to follow; no program has more. Cycles end, because each name is
    /// followed once.
    private static let (memberLimit, nameLimit) = (512, 1024)

    /// Finds all dependencies of an image.
    ///
    /// - Parameter elsewhere: Whether another process will load it, so that the libraries that this one has loaded do
    ///   not count.
    package init(of image: ELFImage, _ dynamic: DynamicSection, elsewhere: Bool = false) {
        let root = Member(
            name: image.bytes.path,
            path: image.bytes.path,
            requester: nil,
            isLoaded: false,
            isRelativeToOrigin: false,
            contents: (image, dynamic)
        )
        members = [root]
        let search = LibrarySearch(architecture: image.architecture, elsewhere: elsewhere)
        #if os(Linux)
            let isHere = image.architecture == .host && !elsewhere
            let loaded = isHere ? LoadedLibraries.current() : []
        #endif
        var known: Set<String> = []
        // One file may be found under many names.
        var files: Set<FileStamp> = [image.bytes.stamp]
        var next = 0
        while next < members.count, members.count < Self.memberLimit, known.count < Self.nameLimit {
            defer { next += 1 }
            guard let (image, dynamic) = members[next].contents else { continue }
            let requester = requester(next)
            let auxiliary = image.auxiliaryLibraries(dynamic)
            for name in image.neededLibraries(dynamic) where known.insert(name).inserted {
                #if os(Linux)
                    if isHere, var member = Self.member(loaded, named: name, requester: next) {
                        // What a loaded library needs was chosen when it was loaded.
                        if !members[next].isLoaded { member.replaced = search.beside(name, for: requester) }
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
                    // Another image may need the library.
                    if auxiliary.contains(name) { known.remove(name) } else { members.append(member) }
                    continue
                }
                for hit in result.hits where files.insert(hit.image.bytes.stamp).inserted {
                    member.path = hit.path
                    member.isRelativeToOrigin = hit.isRelativeToOrigin
                    member.contents = DynamicSection(hit.image).map { (hit.image, $0) }
                    member.isUnversioned = member.contents.map { $0.dynamic[.versionSymbols] == nil } ?? false
                    members.append(member)
                    if let soname = member.soname { known.insert(soname) }
                }
            }
        }
    }

    #if os(Linux)
        /// The loaded library that the dynamic linker reuses for a name; nil if it searches for a file.
        private static func member(
            _ loaded: [LoadedLibraries.Library],
            named name: String,
            requester: Int
        ) -> Member? {
            let library = loaded.first { $0.answers(to: name) }
            // A library without a soname is known by the name under which another image requested it.
            guard library != nil || (!name.contains(ascii: "/") && DynamicLinker.keep(loaded: name)) else { return nil }
            let file = (library ?? loaded.first { $0.path.lastPathComponent == name })?.file
            let image = file.flatMap { try? ELFImage(ImageBytes(path: $0)) }
            return Member(
                name: name,
                path: file,
                requester: requester,
                isLoaded: true,
                isRelativeToOrigin: false,
                isUnversioned: library.map { !$0.hasVersions } ?? false,
                contents: image.flatMap { image in DynamicSection(image).map { (image, $0) } }
            )
        }
    #endif

    /// The symbol versions that a library defines; nil if unknown, or if it only needs versions.
    package func versions(of library: String) -> Set<String>? {
        guard let provider = members.first(where: { $0.name == library || $0.soname == library }) else { return nil }
        guard !provider.isUnversioned else { return [] }
        guard let (image, dynamic) = provider.contents else { return nil }
        let present = image.definedVersions(dynamic)
        return present.isEmpty ? nil : present
    }

    /// The members that the image brings along: each was found relative to its requester, and so on up to the image. Each comes after
    /// those that it needs, unless libraries need each other.
    package var beside: [Member] {
        var isBeside = [Bool](repeating: false, count: members.count)
        for (index, member) in members.enumerated() where member.isRelativeToOrigin && !member.isLoaded {
            guard let requester = member.requester else { continue }
            isBeside[index] = requester == 0 || isBeside[requester]
        }
        var ordered: [Int] = []
        var visited: Set<Int> = []
        func visit(_ index: Int) {
            guard visited.insert(index).inserted, let (image, dynamic) = members[index].contents else { return }
            let needed = Set(image.neededLibraries(dynamic))
            for other in members.indices where isBeside[other] && needed.contains(members[other].name) { visit(other) }
            ordered.append(index)
        }
        for index in members.indices where isBeside[index] { visit(index) }
        return ordered.map { members[$0] }
    }

    /// The names from the root's dependency down to a member, which explain why it is needed.
    package func chain(to index: Int) -> [String] {
        var names: [String] = []
        var current: Int? = index
        while let index = current {
            names.append(members[index].name)
            current = members[index].requester
        }
        return names.reversed()
    }

    /// The member in the form that the search for its dependencies takes.
    private func requester(_ index: Int) -> LibrarySearch.Requester {
        var requester = LibrarySearch.Requester(
            origin: members[index].origin,
            runpath: members[index].runpath.map { SearchPath.folders($0, origin: members[index].origin) },
            rpath: []
        )
        var current: Int? = index
        while let index = current {
            // The linker ignores the RPATH of an image with a RUNPATH.
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
    /// The library's soname; nil if it has none or cannot be read.
    package var soname: String? {
        contents.flatMap { image, dynamic in dynamic.soname.flatMap { image.string(dynamic, at: $0) } }
    }

    fileprivate var runpath: String? {
        contents.flatMap { image, dynamic in dynamic.runpath.flatMap { image.string(dynamic, at: $0) } }
    }

    fileprivate var rpath: String? {
        contents.flatMap { image, dynamic in dynamic.rpath.flatMap { image.string(dynamic, at: $0) } }
    }

    /// The folder of the file as the dynamic linker spells it: `..` after a symbolic link must not be resolved
    /// textually.
    fileprivate var origin: String { (path ?? ".").withUnmarkedPaths.rootedPath.parentPath }

    /// Whether its search path leads up from its folder, so that a copy must keep the layout on disk.
    package var climbsFromOrigin: Bool {
        [runpath, rpath].contains { list in
            list?.split(ascii: ":").contains { $0.contains(ascii: "ORIGIN") && $0.contains(ascii: "..") } ?? false
        }
    }
}
