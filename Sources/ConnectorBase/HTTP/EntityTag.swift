// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Entity tags (RFC 9110, section 8.8.3): quoted in HTTP, and unquoted as the tags of `files/1`.
package enum EntityTag {
    /// The tag in a field such as `ETag`; nil if there is none.
    ///
    /// `"1a"` has the tag `1a`, and the weak `W/"1a"` has `W/1a`. Some servers leave the quotes out.
    package static func tag(_ field: String?) -> String? {
        guard var text = field?.utf8.filter({ $0 > 0x20 })[...] else { return nil }
        let isWeak = text.starts(with: "W/\"".utf8)
        if isWeak { text = text.dropFirst(2) }
        if text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") {
            text = text.dropFirst().dropLast()
        }
        let tag = String(decoding: text, as: UTF8.self)
        return isTag(tag) ? (isWeak ? "W/" : "") + tag : nil
    }

    /// The value of `If-Match` or `ETag` for a tag; nil for text that is not a tag.
    ///
    /// Text with two adjacent braces is not a tag, so a tag in a request's header is never read as a placeholder.
    package static func field(_ tag: String) -> String? {
        guard tag.utf8.starts(with: "W/".utf8) else { return isTag(tag) ? "\"\(tag)\"" : nil }
        let tag = String(tag.dropFirst(2))
        return isTag(tag) ? "W/\"\(tag)\"" : nil
    }

    /// A tag without its mark of weakness. A server may make a weak tag strong later: Apache does, a second after the last change.
    package static func opaque(_ tag: String) -> String {
        tag.utf8.starts(with: "W/".utf8) ? String(tag.dropFirst(2)) : tag
    }

    private static func isTag(_ tag: String) -> Bool {
        !tag.isEmpty && tag.utf8.count <= 1024 && !tag.contains("{{") && !tag.contains("}}")
            && tag.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
    }
}
