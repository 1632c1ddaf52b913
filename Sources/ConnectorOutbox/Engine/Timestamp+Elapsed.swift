// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension Timestamp {
    /// The time from an earlier moment to this one, in nanoseconds; zero if that moment is later.
    package func nanoseconds(after earlier: Timestamp) -> UInt64 { nanoseconds - min(nanoseconds, earlier.nanoseconds) }
}
