// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Who could change a plugin: its image, its sidecar, and the directories that they are in.
///
/// A plugin runs with everything the process may do, so whoever can write one of these can do as much.
package enum PluginTrust {
    /// Why users other than root and this process's own could change a plugin; empty if none can.
    ///
    /// - Parameter directories: The directories that were searched; one that the plugin lies in counts too.
    package static func concerns(_ candidate: PluginCandidate, within directories: [String] = []) -> [String] {
        concerns(image: candidate.isFile ? candidate.path : nil, sidecar: candidate.sidecar, within: directories)
    }

    /// The same for an image and a sidecar, usable or not.
    package static func concerns(image: String?, sidecar: String?, within directories: [String]) -> [String] {
        let files = [image, sidecar].compactMap(\.self)
        var folders: [String] = []
        for folder in files.map(\.parentPath)
            + directories.filter({ folder in files.contains { $0.hasPrefix(folder + "/") } })
        where !folders.contains(folder) {
            folders.append(folder)
        }
        return (files + folders).compactMap(concern)
    }

    /// The error for a plugin that is not trusted; nil if it is.
    package static func refusal(_ candidate: PluginCandidate, within directories: [String]) -> ConnectorError? {
        let concerns = concerns(candidate, within: directories)
        guard !concerns.isEmpty else { return nil }
        return ConnectorError(
            .denied,
            "the plugin \"\(candidate.manifest.id)\" is not trusted: \(concerns.joined(separator: "; "))",
            fix: "give its files and directories to this user or to root, and let nobody else write them: chmod go-w"
        )
    }

    /// Why others could change a file or directory; nil if none can, or there is none.
    private static func concern(_ path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            return "\(path) belongs to the user \(status.st_uid)"
        }
        if status.st_mode & S_IWOTH != 0 { return "everybody can write \(path)" }
        // By the custom of most systems, a user's private group has the user's number; root's group is root.
        if status.st_mode & S_IWGRP != 0, status.st_gid != 0, status.st_gid != status.st_uid {
            return "the group \(status.st_gid) can write \(path)"
        }
        return nil
    }
}

extension PluginCandidate {
    /// Whether its image is a file of its own, not a library of the system.
    fileprivate var isFile: Bool {
        if case .file = image { true } else { false }
    }
}
