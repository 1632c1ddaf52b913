// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorManifest
package import ConnectorPlatform

/// Finds users who could change a plugin: its image, its sidecar, the libraries that it brings along, or the
/// directories that contain them.
///
/// A plugin runs with all permissions of the process, and so does any user who can write one of these.
package enum PluginTrust {
    /// The reasons that users other than root and this process's user could change a plugin; empty if none can.
    ///
    /// - Parameters:
    ///   - directories: The directories that were searched; those that contain the plugin are checked too.
    ///   - trust: The cached trust of directories.
    package static func concerns(
        _ candidate: PluginCandidate,
        within directories: [String] = [],
        _ trust: FileTrust = FileTrust()
    ) -> [String] {
        switch candidate.image {
        case .file:
            concerns(image: candidate.path, sidecar: candidate.sidecar, within: directories, trust)
                + LibraryTrust.concerns(image: candidate.path, needs: candidate.neededLibraries, trust)
        case .library(let name):
            concerns(image: nil, sidecar: candidate.sidecar, within: directories, trust)
                + LibraryTrust.concerns(library: name, trust)
        case .linked: []
        }
    }

    /// The reasons that others could change a file in a plugin directory, usable or not; empty if none can.
    package static func concerns(_ entry: PluginEntry, within directories: [String], _ trust: FileTrust) -> [String] {
        if let candidate = entry.candidate { return concerns(candidate, within: directories, trust) }
        let image = entry.path == entry.sidecar ? nil : entry.path
        return concerns(image: image, sidecar: entry.sidecar, within: directories, trust)
    }

    /// The reasons that others could change an image, a sidecar, or the directories that contain them.
    private static func concerns(
        image: String?,
        sidecar: String?,
        within directories: [String],
        _ trust: FileTrust
    ) -> [String] {
        let files = [image, sidecar].compactMap(\.self)
        let folders =
            files.map(\.parentPath)
            + directories.filter { folder in
                files.contains { $0.hasPrefix(folder + "/") }
            }
        var concerns: [String] = []
        for concern in files.compactMap({ trust.concern($0) }) + folders.compactMap({ trust.concern(directory: $0) })
        where !concerns.contains(concern) {
            concerns.append(concern)
        }
        return concerns
    }

    /// The error for a plugin that is not trusted; nil if it is.
    package static func refusal(
        _ candidate: PluginCandidate,
        within directories: [String],
        _ trust: FileTrust = FileTrust()
    ) -> ConnectorError? {
        let concerns = concerns(candidate, within: directories, trust)
        guard !concerns.isEmpty else { return nil }
        return ConnectorError(
            .denied,
            "the plugin \"\(candidate.manifest.id)\" is not trusted: \(concerns.joined(separator: "; "))",
            fix: "make this user or root own its files, its libraries and the directories that lead to them, and let "
                + "no other user write them: chmod go-w"
        )
    }
}
