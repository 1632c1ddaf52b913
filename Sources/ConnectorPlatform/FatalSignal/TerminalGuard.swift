// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal

/// The terminal that this process has put into full-screen mode, and restores however the process ends.
///
/// `exit`, the handlers of ``CrashNote``, and signals that the process does not handle restore it first. Code that calls `_exit` must
/// call ``leave()``.
package enum TerminalGuard {
    /// Puts a terminal into full-screen mode: see `terminal_guard.h`.
    ///
    /// - Parameters:
    ///   - input: The descriptor that keys are read from.
    ///   - output: The descriptor of the screen.
    ///   - messages: The descriptor that standard output and standard error are redirected to meanwhile.
    /// - Returns: 0, or an `errno`.
    package static func enter(input: Int32, output: Int32, messages: Int32) -> Int32 {
        terminal_guard_enter(input, output, messages)
    }

    /// Writes to the terminal as write(2) does, from one thread at a time. What comes after ``leave()`` is dropped.
    ///
    /// - Returns: The number of bytes that were written or dropped; -1 on an error, which `errno` has.
    package static func write(_ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe terminal_guard_write($0.baseAddress, $0.count) }
    }

    /// Restores the terminal; does nothing if it is not in full-screen mode.
    package static func leave() {
        terminal_guard_leave()
    }
}
