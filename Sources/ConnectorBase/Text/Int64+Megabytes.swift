// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Int64 {
    /// A number of bytes in readable form, in megabytes with one decimal: `4.7 MB`.
    package var megabytes: String {
        let tenths = (self + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10) MB"
    }
}
