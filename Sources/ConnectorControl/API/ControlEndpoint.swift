// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// One thing that the API does: how it is asked, what it may answer, and how.
///
/// The server routes by endpoints, and ``ControlAPI/document`` describes them: there is no second list.
package struct ControlEndpoint: Sendable {
    /// The name of the operation in the description.
    package var operation: String
    /// The path, without a query.
    package var path: String
    /// What it is for, in one sentence.
    package var summary: String
    /// Every answer that it may give.
    package var answers: [Answer]
    /// Answers a request.
    package var respond: @Sendable () async -> ControlResponse

    /// An answer, as it is described.
    package struct Answer: Sendable {
        /// The HTTP status.
        package var status: Int
        /// When it is given.
        package var meaning: String
        /// The type of the body.
        package var contentType: String
        /// The JSON Schema of the body.
        package var schema: JSONValue
    }
}
