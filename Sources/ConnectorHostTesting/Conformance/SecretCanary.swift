// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A key that appears nowhere else, and the answers of a vendor that repeats it.
struct SecretCanary: Sendable {
    /// The key.
    let value = "canary-7Qx2Wm9Kd4Tz8Lp1"

    /// Answers that repeat the key: in the clear, in Base64, percent-encoded, and in escapes.
    var answers: JSONValue {
        let text = "the key \(value) (\(base64), \(percent), \(escaped)) is not valid"
        return [
            "version": 1,
            "answers": [["path": "/*", "status": 401, "json": ["error": .string(text), "message": .string(text)]]],
        ]
    }

    /// How the key appears in a text; nil if it does not.
    func form(in text: String) -> String? {
        let text = text.lowercased()
        let forms = [
            (value, "in clear"), (base64, "in Base64"), (percent, "percent-encoded"), (escaped, "in escapes"),
            (String(value.reversed()), "backwards"),
            (value.utf8.hexadecimal, "in hexadecimal"),
        ]
        return forms.first { text.contains($0.0.lowercased()) }?.1
    }

    private var percent: String { value.utf8.map { "%" + $0.hexadecimal() }.joined() }
    private var escaped: String { value.utf8.map { "\\u00" + $0.hexadecimal() }.joined() }

    private var base64: String {
        // Whole groups of three bytes only: the Base64 of a partial group depends on what follows.
        let bytes = Array(value.utf8)
        return Base64.encode(Array(bytes.prefix(bytes.count - bytes.count % 3)))
    }
}
