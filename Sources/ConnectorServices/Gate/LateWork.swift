// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation

/// The requests and calls that have ended at their deadlines a moment ago.
///
/// A request often has the deadline of the operation that it serves, and may end just before it. The plugin then has no time to complete
/// the operation with the failure.
struct LateWork: Sendable {
    private struct Entry: Sendable {
        var served: ServedOperation
        var failure: ServiceFailure
        var end: UInt64
    }

    /// In the order of their ends.
    private var entries: [Entry] = []

    /// Adds work that has failed, if its time was over.
    ///
    /// - Parameter now: The monotonic time, in nanoseconds.
    mutating func add(_ served: ServedOperation, _ failure: ServiceFailure, at now: UInt64) {
        guard failure.code == .timedOut else { return }
        let oldest = now - min(now, MissedDeadline.leastWait)
        entries.removeFirst(entries.firstIndex { $0.end >= oldest } ?? entries.count)
        entries.append(Entry(served: served, failure: failure, end: now))
    }

    /// The failure of work that has ended so shortly before an operation's deadline that the plugin could not pass it on.
    func failure(
        of operation: UInt64,
        during span: ClosedRange<UInt64>,
        by mark: ServedOperation.Mark
    ) -> ServiceFailure? {
        let oldest = span.upperBound - min(span.upperBound, MissedDeadline.leastWait)
        return entries.last { $0.end >= oldest && $0.served.isFor(operation, during: span, by: mark) }?.failure
    }
}
