// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The libraries that loading an image would bring into a process.
package struct NewDependencies {
    /// The libraries that the image finds relative to its file (`$ORIGIN`), and that a sealed copy would not find. For another process,
    /// each comes after those that it needs.
    package var relatives: [ImageBytes] = []
    /// Whether the search path leads up from the image's folder, so that its copy must be at the same depth.
    package var climbsFromOrigin = false
    /// The bytes of static TLS that the libraries take.
    package var staticTLS = 0
    /// The libraries beside the image in place of which this process uses others that no plugin has brought along; a warning for each.
    package var warnings: [String] = []

    /// The names of libraries that are loaded for good.
    private static let present = Mutex<Set<String>>([])
    /// The names of loaded libraries whose symbols have versions.
    private static let versioned = Mutex<Set<String>>([])

    /// Examines the libraries that an image needs and the process has not loaded.
    ///
    /// Most images need only loaded libraries, which costs one look-up for each name.
    ///
    /// - Parameter elsewhere: Whether the image is loaded by another process, which has none of this one's libraries.
    /// - Throws: The reason that a library is missing, or would crash the dynamic linker.
    package init(of image: ELFImage, _ dynamic: DynamicSection, elsewhere: Bool = false) throws(ConnectorError) {
        if elsewhere, Self.mayHaveLibrariesBeside(image, dynamic) {
            let closure = DependencyClosure(of: image, dynamic, elsewhere: true)
            if let problem = DependencyDiagnosis.missing(closure).first { throw problem }
            if let problem = DependencyDiagnosis.unversioned(closure).first { throw problem }
            for member in closure.beside {
                guard let contents = member.contents else { continue }
                _ = try Preflight.linkable(contents.image)
                // A sealed library is found only by its soname.
                guard member.soname == member.name else { throw Self.nameless(member) }
                relatives.append(contents.image.bytes)
            }
            return
        }
        if image.neededLibraries(dynamic).allSatisfy(Self.isPresent), !Self.mayHaveLibrariesBeside(image, dynamic) {
            if !elsewhere { try Self.checkLoaded(image, dynamic) }
            return
        }
        let closure = DependencyClosure(of: image, dynamic)
        if let problem = DependencyDiagnosis.missing(closure).first { throw problem }
        if !elsewhere {
            if let problem = DependencyDiagnosis.unversioned(closure).first { throw problem }
            try BroughtLibraries.shared.checkInPlace(of: closure)
            warnings = closure.replacementWarnings
        }
        // If all are loaded, the linker searches no folder, and a copy need not keep the layout on disk.
        guard closure.members.dropFirst().contains(where: { !$0.isLoaded }) else { return }
        // A library elsewhere is not copied, so it finds those beside it, as the Swift runtime's libraries do.
        let beside = closure.beside
        climbsFromOrigin = (closure.members.prefix(1) + beside).contains(where: \.climbsFromOrigin)
        relatives = beside.compactMap { $0.contents?.image.bytes }
        for member in closure.members.dropFirst() where !member.isLoaded {
            guard let contents = member.contents else { continue }
            let soundness = try Preflight.linkable(contents.image)
            staticTLS += contents.image.staticTLS(soundness.dynamic)
        }
    }

    /// Checks that each loaded library of which an image needs versions has some. Lists the libraries of the process only for a name that
    /// was not asked about before.
    private static func checkLoaded(_ image: ELFImage, _ dynamic: DynamicSection) throws(ConnectorError) {
        #if os(Linux)
            let known = versioned.withLock(\.self)
            let needs = image.versionNeeds(dynamic).filter { !known.contains($0.library) }
            guard !needs.isEmpty else { return }
            let loaded = LoadedLibraries.current()
            for need in needs {
                guard let library = loaded.first(where: { $0.answers(to: need.library) }) else { continue }
                guard library.hasVersions else {
                    throw DependencyDiagnosis.unversioned(library.path, need, of: image.bytes.path)
                }
                versioned.withLock { _ = $0.insert(need.library) }
            }
        #endif
    }

    /// Whether a library that an image needs may be beside its file. Most images have none, which costs a few look-ups
    /// of names.
    static func mayHaveLibrariesBeside(_ image: ELFImage, _ dynamic: DynamicSection) -> Bool {
        let needed = image.neededLibraries(dynamic)
        let lists = [dynamic.runpath, dynamic.rpath].compactMap { $0.flatMap { image.string(dynamic, at: $0) } }
        let origin = image.bytes.path.withUnmarkedPaths.rootedPath.parentPath
        let folders = lists.flatMap { SearchPath.folders($0, origin: origin).filter(\.isRelative) }
        return needed.contains { name in
            name.contains(ascii: "/") || folders.contains { unsafe access("\($0.path)/\(name)", F_OK) == 0 }
        }
            || folders.contains { unsafe access("\($0.path)/glibc-hwcaps", F_OK) == 0 }
    }

    private static func nameless(_ library: DependencyClosure.Member) -> ConnectorError {
        let path = library.path ?? library.name
        return ConnectorError(
            .loadFailed,
            "\(path) calls itself \(library.soname ?? "nothing"), and is needed as \(library.name)",
            fix: "link it with -Wl,-soname,\(library.name.lastPathComponent), and the plugin with that one: "
                + "a runner finds the libraries beside a plugin by their names"
        )
    }

    /// Whether the process has a library of this name; if so, pins it for the life of the process.
    package static func isPresent(_ name: String) -> Bool {
        if present.withLock({ $0.contains(name) }) { return true }
        guard !name.contains(ascii: "/"), DynamicLinker.keep(loaded: name) else { return false }
        present.withLock { _ = $0.insert(name) }
        return true
    }
}
