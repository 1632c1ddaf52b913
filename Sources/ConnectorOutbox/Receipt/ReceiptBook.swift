// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Who wants to know what becomes of which events. It costs nothing while nobody does.
final class ReceiptBook: Sendable {
    /// One who wants to know; ends with ``ReceiptBook/forget(_:of:)``.
    struct Reader: Sendable, Hashable {
        fileprivate let number: UInt64
    }

    private struct Entry {
        let change: @Sendable (DeliveryChange) -> Void
        let end: @Sendable () -> Void
    }

    private struct State {
        var readers: [String: [UInt64: Entry]] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Whether nobody wants to know anything.
    var isEmpty: Bool { state.withLock(\.readers.isEmpty) }

    /// Calls a function for every change of an event from now on, on the thread of the change.
    ///
    /// - Parameter end: Called when the book closes.
    func read(
        _ id: String,
        _ change: @escaping @Sendable (DeliveryChange) -> Void,
        end: @escaping @Sendable () -> Void
    ) -> Reader {
        state.withLock { state in
            state.next += 1
            state.readers[id, default: [:]][state.next] = Entry(change: change, end: end)
            return Reader(number: state.next)
        }
    }

    /// Ends the calls.
    func forget(_ reader: Reader, of id: String) {
        state.withLock { state in
            state.readers[id]?[reader.number] = nil
            if state.readers[id]?.isEmpty == true { state.readers[id] = nil }
        }
    }

    /// Tells everybody who wants to know about an event.
    func publish(_ change: DeliveryChange, of id: String) {
        let readers = state.withLock { $0.readers[id].map { Array($0.values) } ?? [] }
        for reader in readers { reader.change(change) }
    }

    /// Tells everybody that nothing more will come.
    func finish() {
        let readers = state.withLock { $0.readers.values.flatMap(\.values) }
        for reader in readers { reader.end() }
    }
}
