// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The words that this process was started with.
package enum ProcessArguments {
    /// The program's name and its arguments; empty if they are unknown, as on Linux without `/proc`.
    ///
    /// Swift's own list is also empty if a library that was loaded before the program has moved the environment, beside which the
    /// runtime looks for the arguments.
    package static let all: [String] = {
        let found = CommandLine.arguments
        guard found.isEmpty, let text = try? SystemFile.bytes(of: "/proc/self/cmdline", limit: 4 << 20) else {
            return found
        }
        // A zero ends each of them.
        let words = text.split(separator: 0, omittingEmptySubsequences: false).dropLast()
        return words.map { String(decoding: $0, as: UTF8.self) }
    }()
}
