// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import Synchronization

/// The libraries that loading an image would bring into the process.
package struct NewDependencies {
    /// The libraries that the image finds relative to its file (`$ORIGIN`), and that a sealed copy would not find.
    package var relatives: [ImageBytes] = []
    /// Whether the search path leads up from the image's folder, so that its copy must be at the same depth.
    package var climbsFromOrigin = false
    /// The bytes of static TLS that the libraries take.
    package var staticTLS = 0

    /// The names of libraries that are loaded for good.
    private static let present = Mutex<Set<String>>([])

    /// Examines the libraries that an image needs and the process has not loaded.
    ///
    /// Most images need only loaded libraries, which costs one look-up for each name.
    ///
    /// - Throws: The reason that a library is missing, or would crash the dynamic linker.
    package init(of image: ELFImage, _ dynamic: DynamicSection) throws(ConnectorError) {
        guard !image.neededLibraries(dynamic).allSatisfy(Self.isPresent) else { return }
        let closure = DependencyClosure(of: image, dynamic)
        if let problem = DependencyDiagnosis.missing(closure).first { throw problem }
        climbsFromOrigin = closure.members.contains { !$0.isLoaded && $0.climbsFromOrigin }
        for member in closure.members.dropFirst() where !member.isLoaded {
            guard let contents = member.contents else { continue }
            let soundness = try Preflight.linkable(contents.image)
            staticTLS += contents.image.staticTLS(soundness.dynamic)
            // Dependencies of such a library are found relative to its copy, so they must be copied too.
            if member.isRelativeToOrigin { relatives.append(contents.image.bytes) }
        }
    }

    /// Whether the process has a library of this name; if so, pins it for the life of the process.
    package static func isPresent(_ name: String) -> Bool {
        if present.withLock({ $0.contains(name) }) { return true }
        guard !name.contains("/"), DynamicLinker.keep(loaded: name) else { return false }
        present.withLock { _ = $0.insert(name) }
        return true
    }
}
