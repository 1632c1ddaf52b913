// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A public key of minisign(1), which signs plugins.
package struct MinisignKey: Sendable, Hashable, CustomStringConvertible {
    /// The number that a signature names its key by.
    package let id: ID
    /// The Ed25519 key.
    let bytes: [UInt8]

    /// Reads the second line of a file `NAME.pub`: Base64 of the algorithm, the key's id and the key; nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 56, let bytes = Base64.decode(text), bytes.count == 42, bytes.starts(with: "Ed".utf8)
        else { return nil }
        id = ID(bytes[2..<10])
        self.bytes = Array(bytes[10...])
    }

    /// The key's id, as minisign prints it.
    package var description: String { id.description }

    /// The number of a key, chosen at random when the key was made.
    package struct ID: Sendable, Hashable, CustomStringConvertible {
        private let number: UInt64

        /// Reads 8 bytes, the least significant first.
        init(_ bytes: ArraySlice<UInt8>) {
            number = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// 16 hexadecimal digits in upper case.
        package var description: String { number.hexadecimal(uppercase: true) }
    }
}
