// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform

/// What takes the place of a plugin's code: it proves the connection, and answers calls, any number at once.
///
/// Its closures run on threads of the host and of callers, and must not block them.
package final class StandIn: Sendable {
    /// The answer to a call.
    package struct Answer: Sendable {
        /// The result, or the failure.
        package var result: Result<JSONValue, ConnectorError>
        /// How long the answer takes, on the clock of the stand-in. Operations that return at once are never delayed.
        package var delay: Duration
        /// Where the answer is written, for the error of one that does not fit the operation; nil if it is made in code.
        package var place: FilePosition?

        /// Creates an answer.
        package init(
            _ result: Result<JSONValue, ConnectorError>,
            delay: Duration = .zero,
            place: FilePosition? = nil
        ) {
            self.result = result
            self.delay = delay
            self.place = place
        }
    }

    /// The clock of delays.
    let clock: any HostClock
    /// Proves the gate, when it opens and later: what to show a person, or why it fails.
    let proof: @Sendable () -> Result<String, ConnectorError>
    /// Answers a call of an operation, as `capability/operation`, with arguments by name; those without a value are absent.
    let answer: @Sendable (_ label: String, JSONObject) -> Answer

    /// Describes a stand-in by its closures.
    package init(
        clock: any HostClock,
        proof: @escaping @Sendable () -> Result<String, ConnectorError>,
        answer: @escaping @Sendable (_ label: String, JSONObject) -> Answer
    ) {
        self.clock = clock
        self.proof = proof
        self.answer = answer
    }
}
