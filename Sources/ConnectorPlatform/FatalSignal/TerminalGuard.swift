// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal

/// The terminal that this process has taken for a full screen, and gives back on every way out.
///
/// The handlers of ``CrashNote`` give it back before they say anything. What ends the process by `_exit` calls ``leave()``
/// itself.
package enum TerminalGuard {
    /// Takes a terminal: see `terminal_guard.h`.
    ///
    /// - Parameters:
    ///   - input: Where keys come from.
    ///   - output: Where the screen is.
    ///   - messages: Where standard output and standard error lead meanwhile.
    /// - Returns: 0, or an `errno`.
    package static func enter(input: Int32, output: Int32, messages: Int32) -> Int32 {
        terminal_guard_enter(input, output, messages)
    }

    /// Gives the terminal back; does nothing if it is not taken.
    package static func leave() {
        terminal_guard_leave()
    }
}
