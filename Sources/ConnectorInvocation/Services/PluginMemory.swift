// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Copies memory that a plugin lends for the duration of a call.
///
/// The headers forbid null with a nonzero length; a plugin that passes it gets an error status. An unmapped address
/// cannot be detected, and crashes the process.
package enum PluginMemory {
    /// Copies bytes; nil for null with a nonzero length, or for more bytes than the limit.
    package static func bytes(_ start: UnsafeRawPointer?, _ length: UInt64, limit: Int) -> [UInt8]? {
        guard length > 0 else { return [] }
        guard length <= UInt64(limit), let start = unsafe start else { return nil }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(length)))
    }

    /// Copies text; nil in the same cases, and if the text is not UTF-8.
    package static func text(_ start: UnsafeRawPointer?, _ length: UInt64, limit: Int) -> String? {
        guard length > 0 else { return "" }
        guard length <= UInt64(limit), let start = unsafe start else { return nil }
        return unsafe String(validating: UnsafeRawBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }
}
