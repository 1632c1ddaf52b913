// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a server answered, whole.
public struct HTTPResponse: Sendable, Hashable {
    /// 100 to 999.
    public var status: Int
    /// The fields of the header.
    public var headers: HTTPFields
    /// What came after the header.
    public var body: [UInt8]

    /// Takes the parts as they are.
    public init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
