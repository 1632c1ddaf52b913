// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorDigest
internal import ConnectorLoading
internal import ConnectorPlatform

/// What the files of a configuration contained at one moment: digests of texts and secrets, stamps of plugins.
struct WatchedContent: Sendable, Hashable {
    /// A small file; one that cannot be read has no digest.
    struct Text: Sendable, Hashable {
        var digest: SHA256Digest?
        /// The file's permissions: a secret that others may read cannot be used.
        var permissions: UInt32 = 0
    }

    /// The configuration, its includes and its lock, by path.
    private(set) var texts: [String: Text] = [:]
    /// The secret files, by path.
    private(set) var secrets: [String: Text] = [:]
    /// Images, sidecars and signatures, by path.
    private(set) var plugins: [String: FileStamp] = [:]

    /// Reads everything. Blocks.
    init(_ files: ConfigurationFiles) {
        for path in files.texts { texts[path] = Self.text(path) }
        for path in files.secrets { secrets[path] = Self.text(path) }
        for path in Self.pluginFiles(files) { plugins[path] = FileStamp(path: path) }
    }

    private static func text(_ path: String) -> Text {
        guard let file = try? SmallFile(reading: path, limit: Configuration.sizeLimit) else { return Text() }
        let digest = unsafe file.bytes.withUnsafeBytes { unsafe SHA256Digest(of: $0) }
        return Text(digest: digest, permissions: file.permissions)
    }

    /// The paths of the files that differ from an earlier moment: those of the configuration and its plugins, and those
    /// of secrets.
    func changes(since earlier: WatchedContent) -> (configuration: [String], secrets: [String]) {
        func changed<Value: Equatable>(_ now: [String: Value], _ then: [String: Value]) -> [String] {
            Set(now.keys).union(then.keys).filter { now[$0] != then[$0] }
        }
        return (
            (changed(texts, earlier.texts) + changed(plugins, earlier.plugins)).sorted(),
            changed(secrets, earlier.secrets).sorted()
        )
    }

    // MARK: Plugins

    private static let pluginEndings = [DirectoryListing.imageEnding, DirectoryListing.sidecarEnding, ".minisig"]

    /// The files that make up plugins: those in the plugin directories and the folders in them, and those named by
    /// path.
    private static func pluginFiles(_ files: ConfigurationFiles) -> [String] {
        var paths = files.plugins.flatMap { path in
            let place = PluginCatalog.place(of: path)
            return [path, path + ".minisig"] + [place.image, place.sidecar].compactMap(\.self)
        }
        for directory in pluginDirectories(files) {
            for entry in (try? Directory.entries(of: directory)) ?? []
            where pluginEndings.contains(where: entry.name.hasSuffix) {
                paths.append("\(directory)/\(entry.name)")
            }
        }
        return paths
    }

    /// The directories of plugins, and the folders in them.
    private static func pluginDirectories(_ files: ConfigurationFiles) -> [String] {
        files.pluginDirectories.flatMap { directory in
            let folders = (try? Directory.entries(of: directory)) ?? []
            return [directory]
                + folders.map { ($0, "\(directory)/\($0.name)") }.filter { entry, path in
                    !entry.name.hasPrefix(".") && entry.isDirectory ?? DirectoryListing.isDirectory(path)
                }.map(\.1)
        }
    }

    // MARK: Directories

    /// What to watch in each directory so that every change is noticed. Blocks.
    ///
    /// This covers every directory that the system enters to follow a path, including through symbolic links. A change
    /// is therefore noticed whether a file is written, replaced, or reached through a link that is replaced, and even
    /// if the file does not exist yet.
    static func interests(in files: ConfigurationFiles) -> [String: DirectoryWatch.Interest] {
        var interests: [String: DirectoryWatch.Interest] = [:]
        func add(_ directory: String, _ interest: DirectoryWatch.Interest) {
            interests[directory, default: interest].add(interest)
        }
        func follow(_ path: String) -> String? {
            let route = PathLookups(of: path)
            for (index, lookup) in route.lookups.enumerated() {
                let isLast = index == route.lookups.count - 1
                add(lookup.directory, .init(names: [lookup.name], includesWriting: isLast))
            }
            return route.target
        }
        for path in files.texts.union(files.secrets).union(files.plugins) { _ = follow(path) }
        for path in pluginDirectories(files) {
            guard let directory = follow(path) else { continue }
            add(directory, .init(names: nil, includesWriting: true))
        }
        return interests
    }
}
