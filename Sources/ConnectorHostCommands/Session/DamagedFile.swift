// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorPlatform

/// A configuration file that currently cannot be parsed, while its host still runs on an earlier version.
enum DamagedFile {
    /// A configuration without connectors but with the host's state directory, which depends only on `name` and `state`.
    ///
    /// - Returns: Nil if the file cannot be read, or if these two members have become invalid.
    static func configuration(_ path: String) -> Configuration? {
        guard let text = try? SystemFile.bytes(of: path, limit: 4 << 20) else { return nil }
        var document: JSONObject = ["version": 1, "connectors": []]
        for (name, value) in strings(in: text) where ["name", "state"].contains(name) {
            document[name] = .string(value)
        }
        return try? Configuration(parsing: JSONValue.object(document).description, file: path)
    }

    /// The members of the outermost object whose values are strings, as far as the damaged text can be parsed.
    private static func strings(in text: [UInt8]) -> [(name: String, value: String)] {
        var found: [(name: String, value: String)] = []
        var depth = 0
        // The last string of the object, and whether a colon followed it.
        var name: String?
        var hasColon = false
        var index = 0
        while index < text.count {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\""):
                guard let (string, end) = string(at: index, in: text) else { return found }
                index = end
                guard depth == 1 else { continue }
                if hasColon, let known = name { found.append((known, string)) }
                (name, hasColon) = (hasColon ? nil : string, false)
                continue
            case UInt8(ascii: ":"): hasColon = name != nil
            case UInt8(ascii: ","): (name, hasColon) = (nil, false)
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            index += 1
        }
        return found
    }

    /// The string that begins at an index, and the index after it; nil if it does not end or is not valid.
    private static func string(at start: Int, in text: [UInt8]) -> (String, Int)? {
        var end = start + 1
        while end < text.count, text[end] != UInt8(ascii: "\"") { end += text[end] == UInt8(ascii: "\\") ? 2 : 1 }
        guard end < text.count, let string = try? JSONValue(parsing: Array(text[start...end])).string else {
            return nil
        }
        return (string, end + 1)
    }
}
