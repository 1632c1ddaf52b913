// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension Timestamp {
    /// Creates a moment from milliseconds since 1970, clamped to the type's range.
    init(milliseconds: Int64) {
        let (product, overflows) = UInt64(clamping: milliseconds).multipliedReportingOverflow(by: 1_000_000)
        self.init(nanoseconds: overflows ? .max : product)
    }

    /// Whole milliseconds since 1970, rounded down.
    var milliseconds: Int64 { Int64(nanoseconds / 1_000_000) }
}
