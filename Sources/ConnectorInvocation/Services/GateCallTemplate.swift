// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector

/// A copy of a plugin's call of a gate that it uses, with unparsed arguments.
package struct GateCallTemplate: Sendable {
    /// The name in the manifest's `uses`.
    package var use: String
    /// The operation's name in the capability.
    package var operation: String
    /// The arguments as JSON; empty for none.
    package var arguments: [UInt8]
    /// The deadline, in nanoseconds on the monotonic clock; `.max` leaves it to the host.
    package var deadline: UInt64
    /// The plugin's own call that this one serves; 0 for the one that the current thread runs.
    package var during: UInt64

    /// Creates a call.
    package init(
        use: String,
        operation: String,
        arguments: [UInt8] = [],
        deadline: UInt64 = .max,
        during: UInt64 = 0
    ) {
        self.use = use
        self.operation = operation
        self.arguments = arguments
        self.deadline = deadline
        self.during = during
    }

    /// About what the arguments occupy once they are parsed, in bytes: their text, and something for each value.
    package var parsedSize: Int {
        let marks = arguments.count {
            $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[")
        }
        return arguments.count + 16 * marks
    }

    /// The maximum size of the arguments: 64 MiB, the same as for a result.
    private static let argumentLimit = 64 << 20

    /// Copies a call from the plugin's memory.
    package init(copying pointer: UnsafePointer<connector_gates_call>?) throws(ServiceFailure) {
        guard let pointer = unsafe pointer else { throw .misuse("the call is null") }
        guard unsafe Int(pointer.pointee.struct_size) >= MemoryLayout<connector_gates_call>.size else {
            throw .misuse("the call's struct_size is too small for version 1")
        }
        let call = unsafe pointer.pointee
        guard let use = unsafe PluginMemory.text(call.use, call.use_length, limit: 64) else {
            throw .invalid("the name of the used gate is null, not UTF-8 or longer than 64 bytes")
        }
        guard let operation = unsafe PluginMemory.text(call.operation, call.operation_length, limit: 256) else {
            throw .invalid("the name of the operation is null, not UTF-8 or longer than 256 bytes")
        }
        let limit = Self.argumentLimit
        guard unsafe call.arguments_length <= UInt64(limit) else {
            throw .tooLarge("the arguments have more than \(limit >> 20) MiB")
        }
        guard let arguments = unsafe PluginMemory.bytes(call.arguments, call.arguments_length, limit: limit) else {
            throw .misuse("the arguments are null with a length")
        }
        self.use = use
        self.operation = operation
        self.arguments = arguments
        deadline = unsafe call.deadline_ns
        during = unsafe call.during
    }
}
