// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension Int {
    /// Adds a number, stopping at `Int.max` and `Int.min`.
    package func saturatingAdding(_ other: Int) -> Int {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? (other < 0 ? .min : .max) : sum
    }
}

extension Timestamp {
    /// The time from an earlier moment to this one, in nanoseconds; zero if that moment is later.
    package func nanoseconds(after earlier: Timestamp) -> UInt64 { nanoseconds - min(nanoseconds, earlier.nanoseconds) }
}
