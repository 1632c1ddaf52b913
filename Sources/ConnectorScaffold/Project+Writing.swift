// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorManifest

extension Project {
    /// Creates the project in a new folder.
    ///
    /// - Returns: The paths of its files.
    /// - Throws: `invalid` for an empty path; `conflict` if anything exists at the path; `failed` if a file cannot be written.
    package func create(at path: String, version: String) throws(ConnectorError) -> [String] {
        let folder = try ProjectFolder(path: path)
        guard try folder.make() else {
            throw ConnectorError(
                .conflict,
                "there is something at \(path.excerpt) already",
                fix: "choose another name or folder; --update brings a project that is there to this host"
            )
        }
        let files = files(version: version)
        let record = ProjectRecord(self, version: version, files).file
        do throws(ConnectorError) {
            for file in files { try folder.write(file) }
            // Write it last: its presence means that the project is complete.
            try folder.write(record)
        } catch {
            // A part of a project would be in the way of the next attempt.
            folder.removeAll()
            throw error
        }
        return (files.map(\.path) + [record.path]).sorted()
    }
}

/// What an update did to a project.
package struct ProjectUpdate: Sendable {
    /// The release of the host that wrote the project's files, and the release of this host.
    package var versions: (old: String, new: String)
    /// Files that the author had not edited, now in this host's version; deleted ones are back.
    package var written: [String] = []
    /// Files that the author had not edited, removed because this host no longer has them.
    package var removed: [String] = []
    /// Files that the author edited and this host changed too: they stay, and the host's text is in `PATH.new`.
    package var conflicts: [String] = []
    /// Files that the author edited and this host has not changed, or no longer has: they stay.
    package var kept: [String] = []

    /// Updates the project in a folder to this host: replaces the files in `generated/` that no one has edited since a host wrote them.
    ///
    /// The author's own files stay untouched.
    ///
    /// - Throws: `invalid` for an empty path; `missing` if there is no project; `invalid-value` for a record that was edited; `unsupported`
    ///   for the project of a newer host; `failed` if a file cannot be written or removed.
    package init(at path: String, version: String) throws(ConnectorError) {
        let folder = try ProjectFolder(path: path)
        guard let text = try folder.read(ProjectRecord.path) else {
            throw ConnectorError(
                .missing,
                "there is no project in \(path.excerpt): it has no \(ProjectRecord.path)",
                fix: "name the folder that \"connector-host new\" has made"
            )
        }
        let old = try ProjectRecord(parsing: text, file: "\(path)/\(ProjectRecord.path)")
        guard !Self.isNewer(old.version, than: version) else {
            throw ConnectorError(
                .unsupported,
                "the project is for connector-host \(old.version), and this one is \(version)",
                fix: "install connector-host \(old.version) or newer"
            )
        }
        versions = (old.version, version)
        let files = old.project.files(version: version).filter(\.isGenerated)
        for file in files {
            let current = try folder.read(file.path)
            let base = old.digests[file.path]
            if current == file.text { continue }
            let isUntouched = current.map { ProjectFile(path: file.path, text: $0).digest == base } ?? true
            if isUntouched {
                try folder.write(file)
                written.append(file.path)
            } else if file.digest == base {
                kept.append(file.path)
            } else {
                try folder.write(ProjectFile(path: file.path + ".new", text: file.text))
                conflicts.append(file.path)
            }
        }
        let paths = Set(files.map(\.path))
        for (path, digest) in old.digests.sorted(by: { $0.key < $1.key }) where !paths.contains(path) {
            guard Self.isBelow(path), let current = try folder.read(path) else { continue }
            if ProjectFile(path: path, text: current).digest == digest {
                try folder.remove(path)
                removed.append(path)
            } else {
                kept.append(path)
            }
        }
        let record = ProjectRecord(old.project, version: version, files).file
        if record.text != text { try folder.write(record) }
    }

    /// Whether a recorded path stays within the files that belong to the host.
    private static func isBelow(_ path: String) -> Bool {
        path.hasPrefix("generated/") && !path.split(separator: "/").contains("..")
    }

    /// Whether a release is newer than another.
    private static func isNewer(_ version: String, than other: String) -> Bool {
        guard let version = SemanticVersion(version), let other = SemanticVersion(other) else { return false }
        return other < version
    }
}
