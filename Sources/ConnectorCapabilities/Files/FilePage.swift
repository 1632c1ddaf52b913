// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// One page of a list of files, in the order of their paths' bytes.
///
/// ```json
/// {"files": [{"path": "a.txt", "size": 5, "modified": "2026-01-31T09:30:00.000Z", "tag": "1a2b"}], "hasMore": true}
/// ```
public struct FilePage: Sendable, Hashable {
    /// The files of the page.
    public var files: [FileEntry]
    /// Whether more files follow; list them with the last path of this page as `after`.
    public var hasMore: Bool

    /// The allowed page sizes.
    public static let limitRange = 1...1000

    /// Creates a page.
    public init(files: [FileEntry], hasMore: Bool) {
        self.files = files
        self.hasMore = hasMore
    }

    /// Checks the arguments of a list.
    ///
    /// - Parameters:
    ///   - prefix: What the paths start with.
    ///   - after: The path that the page begins after.
    ///   - limit: The most files.
    /// - Throws: A ``ConnectorError`` of code `invalid` that says what is wrong.
    public static func check(prefix: String, after: String, limit: Int) throws(ConnectorError) {
        try FilePathRule.checkText(prefix, "prefix")
        try FilePathRule.checkText(after, "text \"after\"")
        guard limitRange.contains(limit) else {
            throw ConnectorError(.invalid, "limit is \(limit); it must be 1 to \(limitRange.upperBound)")
        }
    }

    /// Reads a page.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` that names the member, or for paths out of order or an empty
    ///   page that is not the last: a list that continued from such a page might never end.
    public init(json: JSONValue, path: String = "page") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        files = try reader.models("files") { json, path throws(ConnectorError) in
            try FileEntry(json: json, path: path)
        }
        hasMore = try reader.bool("hasMore") ?? false
        for (first, second) in zip(files, files.dropFirst())
        where !first.path.utf8.lexicographicallyPrecedes(second.path.utf8) {
            throw ConnectorError(.invalid, "\(path).files has \"\(second.path)\" after \"\(first.path)\"")
        }
        if hasMore, files.isEmpty { throw ConnectorError(.invalid, "\(path) is empty, but is not the last") }
    }

    /// The JSON form that `list` returns.
    public var json: JSONValue {
        ["files": .array(files.map(\.json)), "hasMore": .bool(hasMore)]
    }
}
