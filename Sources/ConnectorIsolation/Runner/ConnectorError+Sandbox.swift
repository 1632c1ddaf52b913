// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension ConnectorError {
    /// The error for a required sandbox that is not whole.
    ///
    /// - Parameter evidence: What holds and what does not.
    package static func sandboxDoesNotHold(_ evidence: String) -> ConnectorError {
        ConnectorError(
            .unsupported,
            "the sandbox that the connector requires does not hold: \(evidence)",
            fix: "run the host where it does, or write \"level\": \"default\" in its \"sandbox\""
        )
    }
}
