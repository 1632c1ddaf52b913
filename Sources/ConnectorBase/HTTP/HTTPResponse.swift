// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A server's complete response.
public struct HTTPResponse: Sendable, Hashable {
    /// The status code, 100 to 999.
    public var status: Int
    /// The fields of the header.
    public var headers: HTTPFields
    /// The content after the header.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
