// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal

/// Marks calls into plugins, for ``CrashNote``.
///
/// The stack names most plugins by itself. It does not where a plugin's function ends in a jump, such as a `release` that is only
/// a call of `free`.
package enum PluginCode {
    /// Runs a body that calls a plugin's function, or the functions that it handed out.
    ///
    /// Costs two nanoseconds, and once for each thread the making of an alternate stack.
    package static func running<Result, Failure: Error>(
        _ function: UnsafeRawPointer?,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let before = fatal_signal_set_calling(UInt(bitPattern: function))
        defer { _ = fatal_signal_set_calling(before) }
        return try body()
    }
}

/// Keeps anything but the program itself from ending the process as if it had succeeded.
package enum ExitGuard {
    /// Makes `exit` and `quick_exit` leave a note, and end the process with the status 70 instead of 0, whoever calls them.
    package static func begin() { fatal_signal_guard_exit(1) }

    /// Lets the program end the process.
    package static func end() { fatal_signal_guard_exit(0) }
}
