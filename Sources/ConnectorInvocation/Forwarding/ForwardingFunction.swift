// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorManifest
internal import Synchronization

/// The C functions of operations whose instances are elsewhere.
///
/// A function has the C type of its signature and finds the ``Forwarder`` in its first argument, so one serves every instance.
enum ForwardingFunction {
    private static let made = Mutex<[String: UInt]>([:])

    /// The address of an operation's function, which exists until the process ends.
    ///
    /// - Parameters:
    ///   - name: The name to call the operation by.
    ///   - position: The operation's position among all operations of the manifest.
    /// - Throws: `unsupported` if this system does not let a process make code.
    static func address(of operation: Operation, as name: String, at position: Int) throws(ConnectorError) -> UInt {
        try made.withLock { made throws(ConnectorError) in
            let key = "\(position) \(name)\(operation.signature)"
            if let address = made[key] { return address }
            let layout = try CallLayout(operation.signature)
            let address = try FunctionClosure.make(layout) { arguments in
                let call = ForwardedCall(position: position, name: name, layout: layout, arguments: arguments)
                return UInt64(bitPattern: Int64(forward(call)))
            }
            made[key] = address
            return address
        }
    }

    /// Forwards a call, and returns the status of the function.
    private static func forward(_ call: ForwardedCall) -> Int32 {
        let (name, layout, arguments) = (call.name, call.layout, call.arguments)
        guard let index = layout.shape.instanceArgument, let pointer = unsafe arguments.pointer(at: index) else {
            return Int32(CONNECTOR_MISUSE)
        }
        let forwarder = unsafe Unmanaged<Forwarder>.fromOpaque(pointer).takeUnretainedValue()
        let object = unsafe layout.shape.errorArgument.flatMap { unsafe arguments.pointer(at: $0) }
        do throws(ConnectorError) {
            if layout.callArgument == nil, let status = try forwarder.exchange(call) { return status }
            var inputs: [(name: String, value: CallValue)] = []
            for index in unsafe layout.shape.inputs.indices {
                let value = unsafe arguments.value(of: layout.shape.inputs[index])
                // A handle that is null is not an address.
                let isNone = if case .handle(0) = value { true } else { false }
                inputs.append((unsafe layout.shape.inputs[index].name, isNone ? .none : value))
            }
            try requireNoAddress(among: inputs.map(\.value), layout.signature, name)
            if let index = layout.callArgument {
                guard let call = unsafe arguments.pointer(at: index)?.load(as: connector_call.self) else {
                    return Int32(CONNECTOR_MISUSE)
                }
                forwarder.start(call.operation, name, CallArguments(encoded: inputs), by: call.deadline_ns)
                return Int32(CONNECTOR_OK)
            }
            let outputs = try forwarder.answer(name, CallArguments(encoded: inputs)).get().outputs
            let values = unsafe layout.shape.answers.map { answer in
                outputs.first { $0.name == answer.name }?.value ?? .none
            }
            return arguments.write(values, layout)
        } catch {
            return unsafe ForwardedErrors.leave(error, for: object)
        }
    }

    /// Refuses a call that passes addresses, which mean nothing in another process.
    private static func requireNoAddress(
        among values: [CallValue],
        _ signature: Signature,
        _ name: String
    ) throws(ConnectorError) {
        let outputs = signature.parameters.filter { $0.direction == .out }.map(\.type) + signature.results.map(\.type)
        let isPassed = values.contains { if case .handle = $0 { true } else { false } }
        guard isPassed || outputs.contains(.handle) else { return }
        throw ConnectorError(
            .unsupported,
            "\(name)\(signature) passes an address, and the plugin runs in a separate process",
            fix: "call the operation by name"
        )
    }
}
