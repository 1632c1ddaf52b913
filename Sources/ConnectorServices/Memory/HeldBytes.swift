// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorInvocation
internal import Synchronization

/// The bytes that the host holds for one gate's work in progress, and the most of them: a plugin in a runner must not fill the
/// memory of the host.
package final class HeldBytes: Sendable {
    private let what: String
    private let limit: Int
    private let count = Mutex(0)

    /// Holds nothing yet.
    ///
    /// - Parameters:
    ///   - what: What has the bytes, as a message says it: `the bodies of …`.
    ///   - limit: The most bytes.
    package init(_ what: String, limit: Int) {
        self.what = what
        self.limit = limit
    }

    /// Counts bytes in; ``giveBack(_:)`` must follow.
    ///
    /// - Throws: `CONNECTOR_RATE_LIMITED` if there would be too many; none are counted then.
    package func take(_ bytes: Int) throws(ServiceFailure) {
        let held = count.withLock { count -> Int? in
            guard bytes <= limit - count else { return count }
            count += bytes
            return nil
        }
        guard let held else { return }
        throw ServiceFailure(
            status: Int32(CONNECTOR_RATE_LIMITED),
            message: "\(what) have \(held) bytes, and may have \(limit)",
            isRetryable: true
        )
    }

    /// Counts bytes out that the host no longer holds.
    package func giveBack(_ bytes: Int) {
        count.withLock { $0 -= bytes }
    }
}
