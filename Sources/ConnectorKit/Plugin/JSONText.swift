// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A `json` argument that nothing has parsed or checked: for methods that pass on what it holds.
public struct JSONText: Sendable {
    /// The text.
    public let utf8: [UInt8]

    /// Wraps a text without checking it.
    public init(utf8: [UInt8]) {
        self.utf8 = utf8
    }
}
