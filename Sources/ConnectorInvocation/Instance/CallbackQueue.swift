// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The callbacks into one instance, which run one at a time, in order. Its owner provides the lock, and the thread that runs them.
package struct CallbackQueue: Sendable {
    private var queued = Deque<@Sendable () -> Void>()
    /// Whether a thread runs callbacks, or is about to.
    package private(set) var isDelivering = false
    /// Since when the callback that runs is inside the plugin; nil if none is.
    package private(set) var callbackSince: UInt64?
    /// Whether a callback runs inside the plugin.
    package var isInCallback: Bool { callbackSince != nil }

    /// Creates a queue without a callback.
    package init() {}

    /// Adds a callback, which counts as pending until it has returned.
    ///
    /// - Returns: Whether the caller must start the thread that runs callbacks.
    package mutating func append(_ callback: @escaping @Sendable () -> Void) -> Bool {
        queued.append(callback)
        defer { isDelivering = true }
        return !isDelivering
    }

    /// The callback that the thread runs next; nil if there is none, and the thread ends.
    ///
    /// - Parameter now: The monotonic time.
    package mutating func next(at now: UInt64) -> (@Sendable () -> Void)? {
        let callback = queued.popFirst()
        callbackSince = callback == nil ? nil : now
        isDelivering = callback != nil
        return callback
    }
}
