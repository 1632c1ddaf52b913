// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// In whole nanoseconds; measurements are far from overflowing them.
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
