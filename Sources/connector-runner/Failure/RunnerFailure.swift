// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorIsolation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What goes wrong in the runner itself.
enum RunnerFailure {
    /// Prints a line for the host's log.
    static func report(_ text: String) {
        let bytes = Array("connector-runner: \(text)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Ends the process because it has no room for what the host sends, or because what it shares with the host is not what the host
    /// has left there.
    static func end(because error: ConnectorError) -> Never {
        report(error.message)
        _exit(error.code == .unavailable ? RunnerEnd.outOfDescriptors : RunnerEnd.overwritten)
    }

    /// Ends the process because a function of a plugin has ended the thread of a lane, whose caller waits.
    static func endWithoutLane() -> Never { _exit(RunnerEnd.withoutLane) }
}
