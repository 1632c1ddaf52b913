// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Captures what the process writes to standard output and standard error while the console has the terminal: logs, and what
/// plugins print.
final class MessageCapture: Sendable {
    private struct State {
        var lines: [String] = []
        var forgotten = 0
        var partial: [UInt8] = []
    }

    /// The pipe's end that the streams write to.
    let writing: Int32
    private let reading: Int32
    private let state = Mutex(State())

    /// The most lines kept.
    static let limit = 500
    /// The most bytes kept of a line.
    private static let lineLimit = 4096

    /// Creates the pipe; nil if the process has no free file descriptors.
    init?() {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return nil }
        (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// Reads on a separate thread until ``stop()``.
    ///
    /// - Parameter onChange: Called when there are new lines.
    /// - Returns: Whether the thread could be created.
    func start(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        HostThread.start("connector-lines") { [self] in
            while let bytes = DeviceBytes.read(reading) {
                note(bytes)
                onChange()
            }
            close(reading)
        }
    }

    /// Stops reading. Nothing may write to the pipe any more.
    func stop() { close(writing) }

    /// The last lines, and how many earlier ones were dropped.
    var lines: (lines: [String], forgotten: Int) { state.withLock { ($0.lines, $0.forgotten) } }

    private func note(_ bytes: [UInt8]) {
        state.withLock { state in
            for byte in bytes {
                if byte != UInt8(ascii: "\n") {
                    if state.partial.count < Self.lineLimit { state.partial.append(byte) }
                    continue
                }
                if state.lines.count == Self.limit {
                    state.lines.removeFirst()
                    state.forgotten += 1
                }
                state.lines.append(String(decoding: state.partial, as: UTF8.self))
                state.partial = []
            }
        }
    }
}
