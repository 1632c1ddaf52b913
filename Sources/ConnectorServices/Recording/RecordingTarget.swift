// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Where a gate is recorded.
package struct RecordingTarget: Sendable, Hashable {
    /// The path of the file or, for a part of a session, of the directory in which each process writes a file of its own.
    package var path: String
    /// Whether it is a part of a session of `connector-host record`, which also records what is simulated.
    package var isSession: Bool
    /// The time of day that the plugin reads while it is recorded; nil for the time at which the recording begins.
    package var time: Timestamp?

    /// Names a file, or the directory of a session.
    package init(_ path: String, isSession: Bool = false, time: Timestamp? = nil) {
        self.path = path
        self.isSession = isSession
        self.time = time
    }
}
