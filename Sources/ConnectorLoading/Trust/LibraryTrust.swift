// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorPlatform

/// Determines whether other users control which libraries an image brings into the process.
package enum LibraryTrust {
    /// The reasons that other users could choose or change the libraries that an image would load; empty if none can.
    ///
    /// Libraries that the process has already loaded are not checked, because their code has already run.
    ///
    /// - Parameter needed: The libraries that the image needs, if known: the file is read only if one of them is not
    ///   loaded yet.
    package static func concerns(image path: String, needs needed: [String]?, _ trust: FileTrust) -> [String] {
        if let needed, needed.allSatisfy(NewDependencies.isPresent) { return [] }
        guard let bytes = try? ImageBytes(path: path), let image = try? ELFImage(bytes),
            let dynamic = DynamicSection(image), !image.neededLibraries(dynamic).allSatisfy(NewDependencies.isPresent)
        else { return [] }
        return concerns(DependencyClosure(of: image, dynamic), trust)
    }

    /// Like ``concerns(image:needs:_:)``, for a library that the dynamic linker finds by its name.
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
            // A missing library prevents the plugin from loading anyway.
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

    /// The reasons that other users control what a name resolves to: through its file, or a folder searched earlier.
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
            concerns.append("\(name), which \(requester.excerpt) needs, is searched for in \(folder): \(reason)")
        }
        return concerns
    }
}
