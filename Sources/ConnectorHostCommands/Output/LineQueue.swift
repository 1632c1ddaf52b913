// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Dispatch
internal import Synchronization

/// Lines on their way to a descriptor whose reader may stall: nothing waits for the reader.
///
/// One line after the other is written on a thread of Dispatch. Those that exceed the limit while the reader stalls are dropped, and a
/// line reports their number once there is room again.
final class LineQueue: Sendable {
    private struct State {
        /// The size of the lines that are not written yet, in bytes.
        var waiting = 0
        /// The number of lines dropped since the last line that reported it.
        var dropped = 0
    }

    private let descriptor: Int32
    private let limit: Int
    private let state = Mutex(State())
    private let writer = DispatchQueue(label: "lines")

    /// Creates a queue that nothing waits in.
    ///
    /// - Parameter limit: How many bytes may wait. A single text may be longer.
    init(to descriptor: Int32, limit: Int = 1 << 20) {
        self.descriptor = descriptor
        self.limit = limit
    }

    /// Writes some lines after those that wait, or drops them. Failures are ignored.
    func write(_ text: String) {
        let size = text.utf8.count
        let notice = state.withLock { state -> String? in
            guard state.waiting == 0 || state.waiting + size <= limit else {
                state.dropped += 1
                return nil
            }
            state.waiting += size
            return Self.takeNotice(&state)
        }
        guard let notice else { return }
        writer.async { [self] in
            put(notice + text)
            let last = state.withLock { state in
                state.waiting -= size
                return state.waiting == 0 ? Self.takeNotice(&state) : ""
            }
            put(last)
        }
    }

    /// Waits until every line so far is written, but no longer than some time.
    func flush(within time: DispatchTimeInterval) {
        let written = DispatchSemaphore(value: 0)
        writer.async { written.signal() }
        _ = written.wait(timeout: .now() + time)
    }

    private func put(_ text: String) {
        guard !text.isEmpty else { return }
        try? OutputFile.write(Array(text.utf8), to: descriptor)
    }

    /// The line about the dropped ones; empty if there are none.
    private static func takeNotice(_ state: inout State) -> String {
        defer { state.dropped = 0 }
        guard state.dropped > 0 else { return "" }
        return "warning: log lines were dropped because the output was not being read count=\(state.dropped)\n"
    }
}
