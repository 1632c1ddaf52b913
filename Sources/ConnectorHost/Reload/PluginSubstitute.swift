// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform

/// An image that is about to replace another, so that the configuration can be read as if it had.
package struct PluginSubstitute: Sendable {
    /// The path of the image to be replaced, with symbolic links resolved.
    let target: String
    /// The image that takes its place, at its present path.
    let candidate: PluginCandidate

    /// Whether an image is the one to be replaced.
    func replaces(_ other: PluginCandidate) -> Bool {
        guard case .file = other.image else { return false }
        return other.path.absolutePath.realPath == target
    }

    /// Throws unless the image has the version that the file names.
    func require(_ version: SemanticVersion) throws(ConnectorError) {
        guard candidate.manifest.version != version else { return }
        throw ConnectorError(
            .conflict,
            "the file asks for version \(version), and \(candidate.path) is \(candidate.name)",
            fix: "change \"version\" in the file and reload"
        )
    }

    /// Throws if another plugin of the same id has a higher version, and would be loaded instead.
    func requireHighest(of entries: [PluginEntry]) throws(ConnectorError) {
        for case let other? in entries.map(\.candidate)
        where other.manifest.id == candidate.manifest.id && other.manifest.version > candidate.manifest.version
            && !replaces(other)
        {
            throw ConnectorError(
                .conflict,
                "\(other.path) has the version \(other.manifest.version), higher than \(candidate.manifest.version), and would be "
                    + "loaded instead",
                fix: "remove it, or name the version in the file"
            )
        }
    }

    /// The path to show for an image: for the substitute, the path that it takes.
    func shownPath(of other: PluginCandidate) -> String {
        other === candidate ? target : other.path
    }
}
