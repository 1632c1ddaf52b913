// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Which of the plugin's operations a request or a call serves, as far as the host knows.
struct ServedOperation: Sendable {
    /// The operation that the plugin names; nil for none.
    var named: UInt64?
    /// The operation whose function or callback began it; nil on a thread of the plugin's own.
    var running: UInt64?
    /// When it began, in monotonic nanoseconds.
    var begun: UInt64
    /// The deadline that the plugin set, in monotonic nanoseconds; nil for none.
    var deadline: UInt64?

    /// How the host recognizes an operation, the surest way first.
    enum Mark: CaseIterable {
        /// The plugin names it, or began the work inside it.
        case identifier
        /// The work, begun on a thread of the plugin's own, has the operation's deadline to the nanosecond: it has inherited it.
        case deadline
        /// The work has no deadline, and was begun on a thread of the plugin's own during the operation. This says nothing while the plugin
        /// has other operations.
        case time
    }

    /// Whether it serves an operation, by a mark.
    ///
    /// - Parameter span: From the operation's beginning to its deadline, in monotonic nanoseconds.
    func isFor(_ operation: UInt64, during span: ClosedRange<UInt64>, by mark: Mark) -> Bool {
        switch mark {
        case .identifier: named == operation || running == operation
        case .deadline: named == nil && running == nil && deadline == span.upperBound
        case .time: named == nil && running == nil && deadline == nil && span.contains(begun)
        }
    }
}
