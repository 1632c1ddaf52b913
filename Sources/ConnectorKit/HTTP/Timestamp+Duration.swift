// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension Timestamp {
    /// The time from another moment to this one; zero if this one is not later.
    func duration(since other: Timestamp) -> Duration {
        self <= other ? .zero : .nanoseconds(Int64(clamping: nanoseconds - other.nanoseconds))
    }
}
