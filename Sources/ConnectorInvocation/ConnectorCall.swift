// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector

extension connector_call {
    /// What a plugin is told of a call that completes later.
    ///
    /// - Parameters:
    ///   - operation: The id that it completes.
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
