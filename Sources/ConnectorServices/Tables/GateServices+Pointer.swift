// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension GateServices {
    /// The gate behind the `context` of a table; nil for null.
    ///
    /// ``table(_:)`` gave the pointer out, and this object retains itself until ``invalidate()``. A plugin that passes
    /// anything else corrupts its own process's memory.
    package static func at(_ context: UnsafeMutableRawPointer?) -> GateServices? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<GateServices>.fromOpaque(context).takeUnretainedValue()
    }
}
