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
            concerns(image: candidate.path, candidate.owner, sidecar: candidate.sidecar, within: directories, trust)
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
    ///
    /// - Parameter owner: Who may change the image, if that was read with its stamp: then it is not read again.
    private static func concerns(
        image: String?,
        _ owner: FileTrust.Owner? = nil,
        sidecar: String?,
        within directories: [String],
        _ trust: FileTrust
    ) -> [String] {
        var concerns: [String] = []
        func add(_ concern: String?) {
            if let concern, !concerns.contains(concern) { concerns.append(concern) }
        }
        if let image { add(owner.map { trust.concern(image, $0) } ?? trust.concern(image)) }
        if let sidecar { add(trust.concern(sidecar)) }
        let files = [image, sidecar].compactMap(\.self)
        let folders = files.map(\.parentPath)
        for folder in folders { add(trust.concern(directory: folder)) }
        for directory in directories
        where !folders.contains(directory) && files.contains(where: directory.contains(file:)) {
            add(trust.concern(directory: directory))
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

extension PluginCandidate {
    /// Who may change the file; nil if that is not known, or depends on a symbolic link, too.
    fileprivate var owner: FileTrust.Owner? {
        guard isDirect, let stamp else { return nil }
        return FileTrust.Owner(user: stamp.owner, group: stamp.group, mode: stamp.mode)
    }
}

extension String {
    /// Whether this directory's path is the beginning of a file's.
    fileprivate func contains(file path: String) -> Bool {
        path.hasPrefix(self) && path.utf8.dropFirst(utf8.count).first == UInt8(ascii: "/")
    }
}
