// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Asks the user at a terminal.
enum Confirmation {
    /// Whether there is a terminal to ask on.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && StandardStream.error.isTerminal }

    /// Asks a question; returns false for any answer but yes.
    static func ask(_ question: String) -> Bool {
        StandardStream.error.write("\(question) [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        return answer == "y" || answer == "yes"
    }
}
