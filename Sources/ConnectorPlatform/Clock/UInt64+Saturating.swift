// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension UInt64 {
    /// Adds nanoseconds to a moment, stopping at `UInt64.max`.
    package func saturatingAdding(_ nanoseconds: UInt64) -> UInt64 {
        let (sum, isOverflow) = addingReportingOverflow(nanoseconds)
        return isOverflow ? .max : sum
    }
}
