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
    /// - Parameter name: The name to call the operation by.
    /// - Throws: `unsupported` if this system lets no process make code.
    static func address(of operation: Operation, as name: String) throws(ConnectorError) -> UInt {
        try made.withLock { made throws(ConnectorError) in
            let key = "\(name)\(operation.signature)"
            if let address = made[key] { return address }
            let layout = try CallLayout(operation.signature)
            let address = try MadeFunction.make(layout) { arguments in
                UInt64(bitPattern: Int64(call(name, layout, arguments)))
            }
            made[key] = address
            return address
        }
    }

    /// Forwards a call; the status of the function.
    private static func call(_ name: String, _ layout: CallLayout, _ arguments: MadeFunction.Arguments) -> Int32 {
        guard let index = layout.instanceArgument, let pointer = unsafe arguments.pointer(at: index) else {
            return Int32(CONNECTOR_MISUSE)
        }
        let forwarder = unsafe Unmanaged<Forwarder>.fromOpaque(pointer).takeUnretainedValue()
        let object = unsafe layout.errorArgument.flatMap { unsafe arguments.pointer(at: $0) }
        do throws(ConnectorError) {
            var inputs: [(name: String, value: CallValue)] = []
            for index in unsafe layout.inputs.indices {
                let value = unsafe arguments.value(of: layout.inputs[index])
                // A handle that is null is no address.
                let isNone = if case .handle(0) = value { true } else { false }
                inputs.append((unsafe layout.inputs[index].name, isNone ? .none : value))
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
            let values = unsafe layout.answers.map { answer in
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
