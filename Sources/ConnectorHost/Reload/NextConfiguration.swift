// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorLoading

/// A configuration that was read and checked, with the plans of its leaves.
struct NextConfiguration: Sendable {
    /// The configuration.
    let resolved: ResolvedConfiguration
    /// The SHA-256 of its files, in hexadecimal.
    let digest: String
    /// The plan of each enabled leaf, by path, with the plugin that was found for it.
    let plans: [String: GatePlan]
    /// The image that is about to replace another; nil if none is.
    let substitute: PluginSubstitute?

    /// The path to show for an image.
    func shownPath(of candidate: PluginCandidate) -> String {
        (substitute?.shownPath(of: candidate) ?? candidate.path).withGivenPaths
    }
}
