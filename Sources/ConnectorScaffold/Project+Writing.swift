// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension Project {
    /// Makes the project in a folder that is not there.
    ///
    /// - Returns: The paths of its files.
    /// - Throws: `invalid` for an empty path; `conflict` if there is anything at the path; `failed` if a file cannot be written.
    package func create(at path: String, version: String) throws(ConnectorError) -> [String] {
        let folder = try ProjectFolder(path: path)
        guard !folder.has() else {
            throw ConnectorError(
                .conflict,
                "there is something at \(path.excerpt) already",
                fix: "choose another name or folder; --update brings a project that is there to this host"
            )
        }
        let files = files(version: version)
        let record = ProjectRecord(self, version: version, files).file
        for file in files { try folder.write(file) }
        // Last: what is here is whole.
        try folder.write(record)
        return (files.map(\.path) + [record.path]).sorted()
    }
}

/// What an update did to a project.
package struct ProjectUpdate: Sendable {
    /// The release of the host that had written the project's files, and that of this one.
    package var versions: (old: String, new: String)
    /// Files that the author had not touched, and that are now as this host has them.
    package var written: [String] = []
    /// Files that this host has no more, and that the author had not touched.
    package var removed: [String] = []
    /// Files that the author edited and that this host has otherwise: they stay, and its text is in `PATH.new`.
    package var conflicts: [String] = []
    /// Files that the author edited and that this host has as before, or has no more: they stay.
    package var kept: [String] = []

    /// Brings the project in a folder to this host: the files in `generated/` that have not been edited since a host wrote them. It
    /// touches no other file.
    ///
    /// - Throws: `invalid` for an empty path; `missing` if there is no project; `invalid-value` for a record that was edited;
    ///   `unsupported` for a newer host's.
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
                folder.remove(path)
                removed.append(path)
            } else {
                kept.append(path)
            }
        }
        let record = ProjectRecord(old.project, version: version, files).file
        if record.text != text { try folder.write(record) }
    }

    /// Whether a path of a record stays within the files that belong to the host.
    private static func isBelow(_ path: String) -> Bool {
        path.hasPrefix("generated/") && !path.split(separator: "/").contains("..")
    }

    /// Whether a release comes after another one, number by number.
    private static func isNewer(_ version: String, than other: String) -> Bool {
        let numbers = [version, other].map { $0.split(separator: ".").map { Int($0) ?? 0 } }
        return numbers[1].lexicographicallyPrecedes(numbers[0])
    }
}
