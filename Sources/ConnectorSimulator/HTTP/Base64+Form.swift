// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension Base64 {
    /// Decodes a value of a form or query whose client may not have escaped `+`, which then reads as a space; nil unless it is Base64.
    static func bytes(ofFormValue value: String) -> [UInt8]? {
        decode(value.replacing(" ", with: "+"))
    }
}
