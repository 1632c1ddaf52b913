// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The rules for paths in `files/1`: the same for every store, so that a file can move from one to another.
///
/// A path is 1 to 1024 bytes of UTF-8 without control characters: segments of 1 to 255 bytes with `/` between them. No segment is `.` or
/// `..`, and the path neither begins nor ends with `/`. Paths are compared, and ordered, by their bytes.
public enum FilePathRule {
    /// The longest path, in bytes.
    public static let pathLimit = 1024
    /// The longest segment of a path, in bytes.
    public static let segmentLimit = 255

    /// Checks the path of a file.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` that quotes the path and says what is wrong with it.
    public static func check(_ path: String) throws(ConnectorError) {
        try checkText(path, "path")
        if path.isEmpty { throw error("the path is empty", "name a file, such as reports/2026.pdf") }
        for segment in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            switch segment.count {
            case 0:
                throw error(
                    "the path \(quoted(path)) has an empty segment",
                    "write no / at its ends, and no two in a row"
                )
            case 1...2 where segment.allSatisfy { $0 == UInt8(ascii: ".") }:
                throw error(
                    "the path \(quoted(path)) has the segment \"\(Substring(segment))\"",
                    "write the path without it"
                )
            case 1...segmentLimit: break
            default:
                throw error(
                    "the path \(quoted(path)) has a segment of \(segment.count) bytes",
                    "use at most \(segmentLimit) between two /"
                )
            }
        }
    }

    /// Checks a prefix of paths, or the path that a page begins after: at most ``pathLimit`` bytes without control
    /// characters, maybe empty.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` that quotes the text.
    public static func checkText(_ text: String, _ name: String) throws(ConnectorError) {
        guard text.utf8.count <= pathLimit else {
            throw error("the \(name) \(quoted(text)) has \(text.utf8.count) bytes", "use at most \(pathLimit)")
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw error("the \(name) \(quoted(text)) has a control character", "use printable characters alone")
        }
    }

    private static func error(_ message: String, _ fix: String) -> ConnectorError {
        ConnectorError(.invalid, message, fix: fix)
    }

    private static func quoted(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(40)
            .map { $0.properties.generalCategory == .control ? "\u{FFFD}" : Character($0) }
        return "\"\(String(start))\(text.unicodeScalars.count > 40 ? "…" : "")\""
    }
}
