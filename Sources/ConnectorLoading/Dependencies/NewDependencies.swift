// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import Synchronization

/// The libraries that loading an image would bring into the process.
package struct NewDependencies {
    /// Those that the image finds relative to its own file (`$ORIGIN`), and would miss from a sealed copy.
    package var relatives: [ImageBytes] = []
    /// Whether the search leads up from the image's folder: its copy must lie as deep, lest that lead elsewhere.
    package var climbsFromOrigin = false

    /// The names of libraries that the process has, and keeps.
    private static let present = Mutex<Set<String>>([])

    /// Examines the libraries that an image needs and the process does not have yet.
    ///
    /// Most images need only what is loaded already; that costs a look-up for each name.
    ///
    /// - Throws: The reason why one is missing, or would crash the dynamic linker.
    package init(of image: ELFImage, _ dynamic: DynamicSection) throws(ConnectorError) {
        guard !image.neededLibraries(dynamic).allSatisfy(Self.isPresent) else { return }
        let closure = DependencyClosure(of: image, dynamic)
        if let problem = DependencyDiagnosis.missing(closure).first { throw problem }
        climbsFromOrigin = closure.members.contains { !$0.isLoaded && $0.climbsFromOrigin }
        for member in closure.members.dropFirst() where !member.isLoaded {
            guard let contents = member.contents else { continue }
            _ = try Preflight.linkable(contents.image)
            // A library of such a library is found relative to that one's copy, so it must be there too.
            if member.isRelativeToOrigin { relatives.append(contents.image.bytes) }
        }
    }

    /// Whether the process has a library of this name; if so, it keeps the library for good.
    package static func isPresent(_ name: String) -> Bool {
        if present.withLock({ $0.contains(name) }) { return true }
        guard !name.contains("/"), DynamicLinker.keep(loaded: name) else { return false }
        present.withLock { _ = $0.insert(name) }
        return true
    }
}
