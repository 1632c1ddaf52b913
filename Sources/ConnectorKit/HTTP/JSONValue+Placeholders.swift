// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension JSONValue {
    /// JSON text in which nothing can be read as a secret's placeholder: `{{` in a string becomes `{\u007b`.
    ///
    /// For bodies that hold both foreign text and a secret.
    public func utf8WithoutPlaceholders() -> [UInt8] {
        let brace = UInt8(ascii: "{")
        var bytes: [UInt8] = []
        for byte in utf8() {
            // Outside strings, two opening braces are never adjacent: an object starts with a name.
            if byte == brace, bytes.last == brace {
                bytes += Array("\\u007b".utf8)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
