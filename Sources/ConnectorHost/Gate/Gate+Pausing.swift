// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// The pause that the vendor asks for in answer to a delivery, such as by `Retry-After`.
extension Gate {
    /// Whether the vendor has asked for no delivery until later.
    var isPaused: Bool { dependencies.clock.now() < pausedUntil.load(ordering: .relaxed) }

    /// Notes how long the vendor wants no delivery; a day at most counts.
    ///
    /// - Parameter wait: Nil if it asks for no wait.
    func pause(for wait: Duration?) {
        guard let wait = wait.map({ min($0.nanoseconds, ConnectorError.longestRetryAfter) }), wait > 0 else {
            return endPause()
        }
        pausedUntil.store(dependencies.clock.now().saturatingAdding(wait), ordering: .relaxed)
    }

    /// Forgets what the vendor has asked for: an operator wants an attempt now, or another instance may have another key.
    func endPause() { pausedUntil.store(0, ordering: .relaxed) }
}
