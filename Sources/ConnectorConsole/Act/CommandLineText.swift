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
        // A display would show an escape of its own in place of a hidden character, which a shell would take literally.
        guard !word.hasHiddenCharacters else { return escaped(word) }
        let isPlain = word.utf8.allSatisfy { $0.isLetterOrDigit || "-._/:=@%,+".utf8.contains($0) }
        guard !isPlain || word.isEmpty else { return word }
        return "'" + word.split(ascii: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// A word as bash, zsh and POSIX.1-2024 read it: `$'a\342\200\256b'`, with the bytes of hidden characters in octal.
    private static func escaped(_ word: String) -> String {
        var text = "$'"
        word.forEachScalar { scalar, isHidden in
            switch scalar {
            case "\n": text += "\\n"
            case "'", "\\": text += "\\\(scalar)"
            case _ where isHidden:
                for byte in String(scalar).utf8 {
                    let digits = String(byte, radix: 8)
                    text += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "'"
    }
}
