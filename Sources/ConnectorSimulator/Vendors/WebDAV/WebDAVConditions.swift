// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads the field `If` (RFC 4918, section 10.4): lists such as `(["tag"])`, after a URL or for the resource of the request.
///
/// There are no locks here, so a condition on a lock token never holds.
struct WebDAVConditions {
    /// The unread rest.
    private var rest: Substring.UTF8View

    /// Whether one of the lists holds, that is, all its conditions; nil if the field is malformed.
    ///
    /// - Parameter tag: The entity tag at a URL, or of the resource of the request for nil; nil if there is none.
    static func hold(_ field: String, tag: (String?) -> String?) -> Bool? {
        var conditions = WebDAVConditions(rest: Substring(field).utf8)
        var (url, holds, count): (String?, Bool, Int) = (nil, false, 0)
        while let byte = conditions.next() {
            switch byte {
            case UInt8(ascii: "<"):
                guard let text = conditions.text(until: ">") else { return nil }
                url = text
            case UInt8(ascii: "("):
                guard let list = conditions.list(tag(url)) else { return nil }
                holds = holds || list
                count += 1
            default: return nil
            }
        }
        return count > 0 ? holds : nil
    }

    /// The next byte that is not blank; nil at the end.
    private mutating func next() -> UInt8? {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        return rest.popFirst()
    }

    /// Consumes the text up to and including a character, and returns it without that; nil if the character is absent.
    private mutating func text(until end: Unicode.Scalar) -> String? {
        guard let index = rest.firstIndex(of: UInt8(ascii: end)) else { return nil }
        defer { rest = rest[rest.index(after: index)...] }
        return String(Substring(rest[..<index]))
    }

    /// Whether the conditions of a list hold for a resource with a tag; nil if the list is malformed.
    private mutating func list(_ tag: String?) -> Bool? {
        let own = EntityTag.tag(tag).map(EntityTag.opaque)
        var (holds, count, isNegated) = (true, 0, false)
        while let byte = next() {
            var isMet = false
            switch byte {
            case UInt8(ascii: ")"): return count > 0 && !isNegated ? holds : nil
            case UInt8(ascii: "N"):
                guard !isNegated, rest.starts(with: "ot".utf8) else { return nil }
                rest = rest.dropFirst(2)
                isNegated = true
                continue
            case UInt8(ascii: "<"): guard text(until: ">") != nil else { return nil }
            case UInt8(ascii: "["):
                guard let given = text(until: "]") else { return nil }
                if let own, given.hasSuffix("\"") { isMet = EntityTag.tag(given).map(EntityTag.opaque) == own }
            default: return nil
            }
            holds = holds && isMet != isNegated
            (count, isNegated) = (count + 1, false)
        }
        return nil
    }
}
