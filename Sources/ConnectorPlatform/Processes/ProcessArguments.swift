// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The words that this process was started with.
package enum ProcessArguments {
    /// The program's name and its arguments; empty if they are unknown, as on Linux without `/proc`.
    ///
    /// Swift's own list is also empty if a library that was loaded before the program has moved the environment, beside which the
    /// runtime looks for the arguments.
    package static let all: [String] = words.map(\.shown)

    /// The first argument that is not UTF-8, and its number, counted from 1 for the one after the program's name; nil if there is none.
    ///
    /// ``all`` has it with `\xNN` for each such byte, which is not what the user gave.
    package static let damaged: (number: Int, shown: String)? = words.dropFirst().firstIndex { $0.text == nil }
        .map { (number: $0, shown: words[$0].shown) }

    private static let words: [SystemText] = {
        let given = (0..<Int(CommandLine.argc)).compactMap { index -> SystemText? in
            unsafe CommandLine.unsafeArgv[index].map { unsafe SystemText(cString: $0) }
        }
        guard given.isEmpty, let text = try? SystemFile.bytes(of: "/proc/self/cmdline", limit: 4 << 20) else {
            return given
        }
        // A zero ends each of them.
        return text.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { SystemText(Array($0)) }
    }()
}
