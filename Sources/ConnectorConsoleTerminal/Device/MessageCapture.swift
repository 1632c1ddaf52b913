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

/// What the process writes to standard output and standard error while its terminal shows something else: logs, and what
/// plugins print.
final class MessageCapture: Sendable {
    private struct State {
        var lines: [String] = []
        var forgotten = 0
        var partial: [UInt8] = []
    }

    /// Where the streams lead.
    let writing: Int32
    private let reading: Int32
    private let state = Mutex(State())

    /// The most lines that are kept.
    static let limit = 500
    /// The most bytes of a line.
    private static let lineLimit = 4096

    /// Makes the pipe; nil if the process can have no more descriptors.
    init?() {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return nil }
        (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// Reads on a thread of its own until ``stop()``.
    ///
    /// - Parameter onChange: Called when there are new lines.
    /// - Returns: Whether the system had a thread to give.
    func start(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        HostThread.start("connector-lines") { [self] in
            while let bytes = DeviceBytes.read(reading) {
                note(bytes)
                onChange()
            }
            close(reading)
        }
    }

    /// Ends the reading; nobody may write any more.
    func stop() { close(writing) }

    /// The last lines, and how many came before.
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
