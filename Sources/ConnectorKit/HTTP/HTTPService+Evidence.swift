// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension HTTPService {
    /// Sends a request whose answer only adds evidence to what another answer has proved, such as one with a wrong key.
    ///
    /// It waits for half of the time that the call has left, and at most three seconds. A vendor may never answer such a
    /// request, or a firewall may drop it, and that must not keep a gate shut.
    ///
    /// - Returns: The response, whatever its HTTP status; nil if none came in time.
    public func sendForEvidence(_ request: HTTPRequest) async -> HTTPResponse? {
        var request = request
        let half = (Deadline.remaining ?? .seconds(6)) / 2
        request.timeout = min(request.timeout ?? half, half, .seconds(3))
        return try? await send(request)
    }
}
