// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector

extension connector_call {
    /// Describes an asynchronous call to the plugin.
    ///
    /// - Parameters:
    ///   - operation: The id that the plugin completes.
    ///   - deadline: On the clock's monotonic time, in nanoseconds.
    package init(operation: UInt64, deadline: UInt64) {
        self.init(
            struct_size: UInt32(MemoryLayout<connector_call>.size),
            flags: 0,
            operation: operation,
            deadline_ns: deadline
        )
    }
}
