// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension HTTPField {
    /// Parses a header line (RFC 9112, section 5).
    init(line: [UInt8]) throws(RequestFault) {
        guard line.first?.isBlank != true else { throw RequestFault("a header field is folded onto a second line") }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            line[..<colon].allSatisfy(\.isTokenCharacter)
        else {
            throw RequestFault("a header field has no valid name")
        }
        var value = line[(colon + 1)...].drop(while: \.isBlank)
        while value.last?.isBlank == true { value.removeLast() }
        guard value.allSatisfy(\.isFieldValueCharacter) else {
            throw RequestFault("a header field contains a control character")
        }
        self.init(name: String(decoding: line[..<colon], as: UTF8.self), value: String(decoding: value, as: UTF8.self))
    }
}
