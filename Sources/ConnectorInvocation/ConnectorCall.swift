// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector

extension connector_call {
    /// Creates the description of an asynchronous call for the plugin.
    ///
    /// - Parameters:
    ///   - operation: The id that the plugin must complete.
    ///   - deadline: The deadline in monotonic time, in nanoseconds.
    package init(operation: UInt64, deadline: UInt64) {
        self.init(
            struct_size: UInt32(MemoryLayout<connector_call>.size),
            flags: 0,
            operation: operation,
            deadline_ns: deadline
        )
    }
}
