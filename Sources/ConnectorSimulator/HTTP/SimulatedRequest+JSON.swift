// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer

extension SimulatedRequest {
    /// The body as JSON, which may hold values as deep as any of the host's; throws if it is not JSON.
    package func json() throws(ConnectorError) -> JSONValue {
        try JSONValue(document: request.body)
    }
}
