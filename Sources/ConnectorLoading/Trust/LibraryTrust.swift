// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorPlatform

/// Tells whether other users decide which libraries come into the process with an image.
package enum LibraryTrust {
    /// Why other users could choose or change the libraries that an image would bring in; empty if none can.
    ///
    /// Libraries that the process has already run already, so they count no more.
    ///
    /// - Parameter needed: The libraries that the image names, if they are known: its file is read only if one of them is new.
    package static func concerns(image path: String, needs needed: [String]?, _ trust: FileTrust) -> [String] {
        if let needed, needed.allSatisfy(NewDependencies.isPresent) { return [] }
        guard let bytes = try? ImageBytes(path: path), let image = try? ELFImage(bytes),
            let dynamic = DynamicSection(image), !image.neededLibraries(dynamic).allSatisfy(NewDependencies.isPresent)
        else { return [] }
        return concerns(DependencyClosure(of: image, dynamic), trust)
    }

    /// The same for a library that the dynamic linker finds by its name.
    package static func concerns(library name: String, _ trust: FileTrust) -> [String] {
        guard !NewDependencies.isPresent(name) else { return [] }
        let result = LibrarySearch(architecture: .host).find(name, for: .program)
        let own = concerns(
            of: name,
            neededBy: "the manifest",
            paths: result.hits.map(\.path),
            folders: result.folders,
            trust
        )
        return result.hits.reduce(into: own) { concerns, hit in
            guard let dynamic = DynamicSection(hit.image) else { return }
            concerns += Self.concerns(DependencyClosure(of: hit.image, dynamic), trust)
        }
    }

    private static func concerns(_ closure: DependencyClosure, _ trust: FileTrust) -> [String] {
        closure.members.dropFirst().flatMap { member -> [String] in
            // One that is missing stops the plugin from loading.
            guard !member.isLoaded, let path = member.path else { return [] }
            let requester = member.requester.map { closure.members[$0] }
            return concerns(
                of: member.name,
                neededBy: requester?.path ?? requester?.name ?? "it",
                paths: [path],
                folders: member.folders,
                trust
            )
        }
    }

    /// Why other users choose what a name leads to: by its file, or by a folder that is searched before.
    private static func concerns(
        of name: String,
        neededBy requester: String,
        paths: [String],
        folders: [String],
        _ trust: FileTrust
    ) -> [String] {
        var reasons: Set<String> = []
        var concerns: [String] = []
        for path in paths {
            guard let reason = trust.concern(path), reasons.insert(reason).inserted else { continue }
            concerns.append("\(name), which \(requester.excerpt) needs, is \(path): \(reason)")
        }
        for folder in folders {
            guard let reason = trust.concern(directory: folder), reasons.insert(reason).inserted else { continue }
            concerns.append("\(name), which \(requester.excerpt) needs, is looked for in \(folder): \(reason)")
        }
        return concerns
    }
}
