// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

extension JSONValue {
    /// JSON text in which nothing looks like the placeholder of a secret: `{{` within strings is written as `{\u007b`.
    ///
    /// For bodies that hold both text of others and a secret.
    public func utf8WithoutPlaceholders() -> [UInt8] {
        let brace = UInt8(ascii: "{")
        var bytes: [UInt8] = []
        for byte in utf8() {
            // Outside of strings two braces never follow each other: an object starts with a name.
            if byte == brace, bytes.last == brace {
                bytes += Array("\\u007b".utf8)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
