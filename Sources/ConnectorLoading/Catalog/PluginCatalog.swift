// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorManifest
package import ConnectorPlatform

/// The contents of the plugin directories, examined without running any code.
///
/// An unusable file that looks like a plugin is an entry too, with the reason. Creating a catalog blocks while it reads
/// the start of every image, about 10 µs each. The value is a snapshot: create a new one to search again.
package struct PluginCatalog: Sendable {
    /// The searched directories, in order.
    package let directories: [String]
    /// Whether the catalog refuses plugins that other users could change.
    package let requiresTrust: Bool
    /// The cached trust of the directories that lead to plugins.
    package let trust = FileTrust()
    /// The entries, by directory, then by name.
    package private(set) var entries: [PluginEntry] = []
    /// The indices of the entries with an id.
    private var indices: [String: [Int]] = [:]
    /// Directories that could not be read, with the reason.
    private var unreadable: [String: String] = [:]

    /// Searches directories and the folders directly inside them.
    ///
    /// - Parameters:
    ///   - directories: The paths to search. A missing directory is a warning, and part of the error if a plugin is not found.
    ///   - requiresTrust: Whether to refuse plugins that other users could change.
    ///   - earlier: An earlier catalog. An image that has not changed since is not read again.
    package init(directories: [String], requiresTrust: Bool = false, after earlier: PluginCatalog? = nil) {
        self.directories = directories
        self.requiresTrust = requiresTrust
        let known = earlier.map { Dictionary($0.entries.map { ($0.path, $0) }) { first, _ in first } } ?? [:]
        var seen: Set<String> = []
        for directory in directories where seen.insert(directory).inserted {
            for folder in scan(directory, known) { _ = scan("\(directory)/\(folder)", known) }
        }
        // A sidecar in a plugin's source folder is not broken if the plugin's image was found elsewhere.
        if entries.contains(where: \.isNotBuilt) {
            let usable = Set(entries.compactMap(\.candidate?.manifest.id))
            entries.removeAll { $0.isNotBuilt && $0.id.map(usable.contains) ?? false }
        }
        let serving = PluginLibraries.serving(entries)
        if !serving.isEmpty { entries.removeAll { serving.contains($0.path) } }
        for (index, entry) in entries.enumerated() {
            guard let id = entry.id else { continue }
            indices[id, default: []].append(index)
        }
    }

    /// The directories in which no plugin can be found, with the reason.
    package var warnings: [String] {
        unreadable.sorted { $0.key < $1.key }.map { "no plugin is found in \($0.key.withGivenPaths): \($0.value)" }
    }

    private mutating func scan(_ directory: String, _ known: [String: PluginEntry]) -> [String] {
        let listing: DirectoryListing
        do throws(SystemError) {
            listing = try DirectoryListing(path: directory)
        } catch {
            unreadable[directory] = error.description
            return []
        }
        var unmatched = Set(listing.sidecars)
        var pairs: [PluginScan.Pair] = []
        for image in listing.images {
            let names = unmatched.isEmpty ? [] : DirectoryListing.sidecarNames(forImage: image)
            let sidecar = names.first(where: unmatched.contains)
            if let sidecar { unmatched.remove(sidecar) }
            pairs.append(("\(directory)/\(image)", sidecar.map { "\(directory)/\($0)" }))
        }
        entries += PluginScan.entries(of: pairs, known)
        for sidecar in listing.sidecars where unmatched.contains(sidecar) {
            entries.append(PluginEntry(sidecar: "\(directory)/\(sidecar)"))
        }
        entries += listing.misnamed.map { PluginEntry(misnamed: "\(directory)/\($0)") }
        return listing.folders
    }

    /// The usable plugin with an id: the highest version, unless one is required.
    ///
    /// - Parameters:
    ///   - id: The plugin's id, by which connectors name it.
    ///   - version: The required version; nil for the highest.
    /// - Throws: `ambiguous-plugin` if two files of that id and version differ; `denied` if other users could change the
    ///   plugin and trust is required; the reason that the only file of that name is unusable; otherwise
    ///   `unknown-plugin` with a suggestion and the searched directories.
    package func find(_ id: String, version: SemanticVersion? = nil) throws(ConnectorError) -> PluginCandidate {
        let best = try best(id, version: version)
        if requiresTrust, let refusal = PluginTrust.refusal(best, within: directories, trust) { throw refusal }
        return best
    }

    private func best(_ id: String, version: SemanticVersion?) throws(ConnectorError) -> PluginCandidate {
        let all = indices[id]?.compactMap { entries[$0].candidate } ?? []
        // Nearly always, there is exactly one.
        if all.count == 1, version == nil { return all[0] }
        let suitable = all.filter { version == nil || $0.manifest.version == version }
        guard let best = suitable.max(by: { $0.manifest.version < $1.manifest.version }) else {
            throw unusable(id, version: version, others: all.map(\.manifest.version))
        }
        for other in suitable where other.manifest.version == best.manifest.version && other.path != best.path {
            guard try !Self.isSame(best, other) else { continue }
            throw ConnectorError(
                .ambiguousPlugin,
                "\(best.path) and \(other.path) are both \(id) \(best.manifest.version), but differ",
                fix: "remove one of them, or give the newer one a higher version"
            )
        }
        return best
    }

    /// The plugin of a file: an image, or a sidecar.
    ///
    /// - Throws: The reason that the plugin is unusable.
    package static func candidate(path: String) throws(ConnectorError) -> PluginCandidate {
        try entry(path: path).usable(at: path)
    }

    /// The entry of a file, usable or not: an image or a sidecar.
    ///
    /// - Parameter earlier: An earlier entry of the file. An image that has not changed since is not read again.
    package static func entry(path: String, after earlier: PluginEntry? = nil) -> PluginEntry {
        let place = place(of: path)
        if let earlier, place.image == earlier.path, earlier.isCurrent(sidecar: place.sidecar) { return earlier }
        if let image = place.image { return PluginEntry(image: image, sidecar: place.sidecar) }
        return PluginEntry(sidecar: path)
    }

    /// The image and the sidecar that belong together, from the path of either; at least one is not nil.
    package static func place(of path: String) -> (image: String?, sidecar: String?) {
        let directory = path.contains(ascii: "/") ? path.parentPath : "."
        func beside(_ names: [String]) -> String? {
            names.map { directory == "/" ? "/\($0)" : "\(directory)/\($0)" }.first(where: DirectoryListing.exists)
        }
        let name = path.lastPathComponent
        guard name.hasSuffix(DirectoryListing.sidecarEnding) else {
            return (path, beside(DirectoryListing.sidecarNames(forImage: name)))
        }
        return (beside(DirectoryListing.imageNames(forSidecar: name)), path)
    }

    /// Whether two files are copies of one plugin.
    private static func isSame(_ first: PluginCandidate, _ second: PluginCandidate) throws(ConnectorError) -> Bool {
        guard case .file = first.image, case .file = second.image else { return first.manifest == second.manifest }
        return try ImageBytes(path: first.path).sha256() == ImageBytes(path: second.path).sha256()
    }
}

/// The errors for a plugin that cannot be found.
extension PluginCatalog {
    private func unusable(_ id: String, version: SemanticVersion?, others: [SemanticVersion]) -> ConnectorError {
        if let version, !others.isEmpty {
            let found = others.sorted().map(\.description).joined(separator: ", ")
            return ConnectorError(
                .unknownPlugin,
                "there is no version \(version) of the plugin \"\(id)\"",
                fix: "use one of: \(found)",
                cause: searched
            )
        }
        let broken = entries.filter { entry in
            entry.error != nil
                && (entry.id == id || entry.path.pluginStem == id
                    || DirectoryListing.imageNames(forSidecar: entry.path.lastPathComponent).contains {
                        $0.pluginStem == id
                    })
        }
        if let first = broken.first, var error = first.error {
            let rest = broken.dropFirst().compactMap { entry in entry.error.map { "\(entry.path): \($0)" } }
            if !rest.isEmpty { error.cause = ([error.cause].compactMap(\.self) + rest).joined(separator: "; ") }
            return error
        }
        let known = indices.filter { $0.value.contains { entries[$0].candidate != nil } }.keys.sorted()
        return ConnectorError(
            .unknownPlugin,
            "there is no plugin \"\(id)\"",
            fix: fileNameRemedy(for: id, among: known) ?? suggestion(for: id, among: known)
                ?? "put lib\(id)\(DirectoryListing.imageEnding) into a directory of \"plugins\", of CONNECTOR_PLUGIN_PATH, "
                + "or of the application's own (Options.pluginDirectories)",
            cause: searched
        )
    }

    /// What to write in place of a file's name where an id belongs; nil for anything but a file's name.
    private func fileNameRemedy(for name: String, among known: [String]) -> String? {
        let isSidecar = name.hasSuffix(DirectoryListing.sidecarEnding)
        guard isSidecar || name.hasSuffix(".so") || name.hasSuffix(".dylib") else { return nil }
        let id = isSidecar ? String(name.dropLast(DirectoryListing.sidecarEnding.count)) : name.pluginStem
        let named = known.contains(id) ? "\"\(id)\"" : "the plugin's id"
        return "write \(named), or the path of the file, with a slash: \"./\(name)\""
    }

    /// The searched directories, for messages.
    private var searched: String {
        guard !directories.isEmpty else { return "no directory was searched" }
        return "searched "
            + directories.map { directory in unreadable[directory].map { "\(directory) (\($0))" } ?? directory }
            .joined(separator: ", ")
    }
}
