// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a runner tells the host about one of its instances; called on one of the host's threads for the runner, which it must not
/// block.
package protocol RunnerClient: AnyObject, Sendable {
    /// The gate's path, for the log.
    var path: String { get }

    /// The file of the plugin's image, as the runner names it; nil until there is one.
    var imagePath: String? { get }

    /// Takes a message about the instance.
    func receive(_ frame: consuming Frame)

    /// The runner has ended. Every client learns of it before any of them ends a call.
    func runnerIsLost(_ end: RunnerEnd)

    /// The runner has ended, and every client knows: fails what is pending.
    ///
    /// - Parameter taken: How many messages the runner had taken; nil if that is not known.
    func runnerEnded(_ end: RunnerEnd, taken: UInt64?)
}

extension RunnerClient {
    package var imagePath: String? { nil }
}
