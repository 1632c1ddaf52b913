// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration in whole nanoseconds, which measurements are far from overflowing.
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
