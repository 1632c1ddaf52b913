// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A `json` argument that was neither parsed nor checked, for methods that only pass it on.
public struct JSONText: Sendable {
    /// The text, as the host passed it.
    public let utf8: [UInt8]

    /// Wraps a text without checking it.
    public init(utf8: [UInt8]) {
        self.utf8 = utf8
    }
}
