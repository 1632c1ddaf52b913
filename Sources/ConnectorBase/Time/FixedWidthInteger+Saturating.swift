// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
    /// Adds a number, stopping at the greatest and the least value of the type.
    @inlinable
    package func saturatingAdding(_ other: Self) -> Self {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? (other < 0 ? .min : .max) : sum
    }
}
