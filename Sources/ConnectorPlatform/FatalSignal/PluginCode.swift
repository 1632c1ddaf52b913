// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal

/// Marks calls into plugins, for ``CrashNote``.
///
/// Most plugins are found on the stack without marks. The exception is a function that ends in a tail call, such as a
/// `release` that only calls `free`.
package enum PluginCode {
    /// Runs a body that calls a plugin's functions, or functions that the plugin passed to the host.
    ///
    /// Costs two nanoseconds, and once per thread the creation of an alternate signal stack.
    package static func running<Result, Failure: Error>(
        _ function: UnsafeRawPointer?,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let before = fatal_signal_set_calling(UInt(bitPattern: function))
        defer { _ = fatal_signal_set_calling(before) }
        return try body()
    }

    /// Runs a body that calls a function of a foreign library, whose code names the plugin only meanwhile.
    ///
    /// - Parameter image: The library, as the plugin that describes it; nil if notes do not name it.
    package static func running<Result, Failure: Error>(
        _ function: UnsafeRawPointer?,
        of image: NamedImage?,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        fatal_signal_set_library(image?.index ?? -1)
        let before = fatal_signal_set_calling(UInt(bitPattern: function))
        defer {
            _ = fatal_signal_set_calling(before)
            // A foreign library cannot call the host, so no such call is inside another one.
            fatal_signal_set_library(-1)
        }
        return try body()
    }

    /// Marks the start of a function's call, without a body: for a function of the host that does little else.
    ///
    /// - Returns: The mark of the call around it, for ``end(_:)``.
    package static func begin(_ function: UnsafeRawPointer?) -> UInt {
        fatal_signal_set_calling(UInt(bitPattern: function))
    }

    /// Ends the mark that ``begin(_:)`` made, on the same thread.
    package static func end(_ before: UInt) { _ = fatal_signal_set_calling(before) }
}

/// Ensures that only the program itself can end the process with a status of success.
package enum ExitGuard {
    /// Makes every call of `exit` and `quick_exit` leave a note, and replaces the status 0 by 70.
    package static func begin() { fatal_signal_guard_exit(1) }

    /// Lifts the guard, so that the program can exit normally.
    package static func end() { fatal_signal_guard_exit(0) }
}
