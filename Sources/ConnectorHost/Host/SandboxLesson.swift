// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform

/// Something that a sandbox would have refused, as a runner prints it.
package struct SandboxLesson: Sendable {
    /// Takes lessons, on the runners' threads.
    package typealias Receiver = @Sendable (SandboxLesson) -> Void

    /// The runner's name, by which connectors share it.
    package let runner: String
    /// The paths of the connectors in the runner; empty while the first one's plugin is being loaded.
    package let connectors: [String]
    /// Either all that a runner has learned so far, as `"sandbox": {…}`, or a sentence about something that no setting allows, or about
    /// why nothing can be learned.
    package let text: String

    /// Reads a line that a runner printed; nil if its plugin did.
    init?(_ line: String, runner: String, connectors: [String]) {
        guard line.hasPrefix(Sandbox.lessonPrefix) else { return nil }
        self.runner = runner
        self.connectors = connectors
        text = String(line.dropFirst(Sandbox.lessonPrefix.count))
    }

    /// The settings that the lesson names; nil for a sentence.
    package var settings: JSONObject? {
        guard text.hasPrefix(#""sandbox": {"#) else { return nil }
        return (try? JSONValue(parsing: Array("{\(text)}".utf8)))?["sandbox"]?.object
    }

    /// Whether it says that the runner learns nothing, and why.
    package var isFailure: Bool { text.hasPrefix(Sandbox.noLesson) }
}
