// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Quotes command lines for a shell.
package enum CommandLineText {
    /// The command line; words that a shell would interpret, and empty ones, are quoted.
    package static func command(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { $0.isLetterOrDigit || "-._/:=@%,+".utf8.contains($0) }
        guard !isPlain || word.isEmpty else { return word }
        return "'" + word.split(ascii: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
