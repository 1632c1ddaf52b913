// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A place in a text file, as editors count it.
public struct FilePosition: Sendable, Hashable, CustomStringConvertible {
    /// The file's path as the user gave it; empty if the text came from no file.
    public var file: String
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1 in Unicode scalars.
    public var column: Int

    /// Makes a position.
    public init(file: String = "", line: Int, column: Int) {
        self.file = file.withGivenPaths
        self.line = line
        self.column = column
    }

    /// The position of a byte of UTF-8 text; an offset past the end means the end.
    package init(file: String = "", offset: Int, in text: [UInt8]) {
        var line = 1
        var column = 1
        for index in 0..<max(0, min(offset, text.count)) {
            if text[index] == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if text[index] & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.init(file: file, line: line, column: column)
    }

    /// `file:line:column`, as compilers print it.
    public var description: String {
        file.isEmpty ? "\(line):\(column)" : "\(file):\(line):\(column)"
    }
}
