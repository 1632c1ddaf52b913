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

/// Captures the standard output and standard error of the process, such as logs and the output of plugins, while the console
/// occupies the terminal.
final class MessageCapture: Sendable {
    private struct State {
        var lines: [String] = []
        var dropped = 0
        var partial: [UInt8] = []
    }

    /// The write end of the pipe, which replaces the two streams.
    let writing: Int32
    private let reading: Int32
    private let state = Mutex(State())

    /// The maximum number of lines kept.
    static let limit = 500
    /// The maximum number of bytes kept of a line.
    private static let lineLimit = 4096

    /// Creates the pipe; nil if the process is out of file descriptors.
    init?() {
        guard let pipe = try? Pipe() else { return nil }
        (reading, writing) = (pipe.reading, pipe.writing)
    }

    /// Reads on a separate thread until ``stop()``.
    ///
    /// - Parameter onChange: Called on that thread after new output.
    /// - Returns: Whether the thread could be created.
    func start(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        HostThread.start("connector-lines") { [self] in
            while let bytes = DeviceBytes.read(reading) {
                append(bytes)
                onChange()
            }
            close(reading)
        }
    }

    /// Stops reading. The streams must no longer write to the pipe.
    func stop() { close(writing) }

    /// The last lines, and the number of earlier ones that were dropped.
    var lines: (lines: [String], dropped: Int) { state.withLock { ($0.lines, $0.dropped) } }

    private func append(_ bytes: [UInt8]) {
        state.withLock { state in
            for byte in bytes {
                if byte != UInt8(ascii: "\n") {
                    if state.partial.count < Self.lineLimit { state.partial.append(byte) }
                    continue
                }
                if state.lines.count == Self.limit {
                    state.lines.removeFirst()
                    state.dropped += 1
                }
                state.lines.append(String(decoding: state.partial, as: UTF8.self))
                state.partial = []
            }
        }
    }
}
