// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest
internal import ConnectorHTTPServer

/// A request to compare with answers: each part is parsed at most once, when it is first needed.
final class AnsweredRequest {
    let request: SimulatedRequest
    /// The path below the vendor's root, percent-encoded.
    private(set) lazy var path = request.path
    private(set) lazy var query = request.query.items
    private(set) lazy var text = request.text
    /// The body as JSON; nil if it is not JSON.
    private(set) lazy var json = try? request.json()

    /// The body.
    var bytes: [UInt8] { request.request.body }
    /// The SHA-256 of the body, in hexadecimal.
    private(set) lazy var digest = SHA256Digest(of: bytes).description

    init(_ request: SimulatedRequest) {
        self.request = request
    }
}
