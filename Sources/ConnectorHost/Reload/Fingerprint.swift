// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest

/// Makes fingerprints that show whether a secret has changed and reveal nothing else about it: their key never leaves
/// the process.
struct Fingerprint: Sendable {
    private let key: [UInt8] = (0..<32).map { _ in UInt8.random(in: .min ... .max) }

    /// The fingerprint of a text, 16 hexadecimal digits.
    func callAsFunction(_ text: String) -> String {
        HMACSHA256.code(of: Array(text.utf8), key: key).prefix(8).hexadecimal
    }
}
