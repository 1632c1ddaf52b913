// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import CConnector
public import ConnectorManifest

/// An operation of a gate whose signature a client was written for: a ``TypedOperation`` without its C type.
@usableFromInline
struct OperationHandle: Sendable {
    private let gate: Gate
    /// The operation's name.
    @usableFromInline let name: String
    /// What the manifest and the client agree on.
    let signature: Signature

    /// How a call begins: the function, the instance, the call and the error object.
    @usableFromInline typealias Start =
        (
            UnsafeMutableRawPointer, UnsafeMutableRawPointer?, UnsafePointer<connector_call>,
            UnsafeMutablePointer<connector_error>
        ) -> Int32

    /// Compares the signature with the manifest's.
    init(_ gate: Gate, _ name: String, _ signature: Signature) throws(ConnectorError) {
        guard let manifest = gate.manifest, let found = manifest.operation(named: name)?.operation else {
            throw gate.manifest?.unknownOperation(name) ?? ConnectorError(.notOpen, "no plugin was found for the gate")
        }
        guard found.signature == signature, found.foreign == nil else {
            throw ConnectorError(
                .signatureMismatch,
                "\(name) is \(found.signature), but the client was written for \(signature)",
                fix: "change the client, or use a plugin of the version that it was written for",
                connector: gate.plan.path
            )
        }
        self.gate = gate
        self.name = name
        self.signature = signature
    }

    /// The gate's path.
    var path: String { gate.plan.path }

    /// The error as it may be shown: with the gate's path, and without secrets.
    @usableFromInline
    func described(_ error: ConnectorError) -> ConnectorError { gate.described(error) }

    /// Lets the caller into the gate until it calls ``Admission/end()``.
    @usableFromInline
    func admit() async throws(ConnectorError) -> Admission {
        do throws(ConnectorError) {
            let instance = try gate.usableInstance()
            let operation = try instance.operation(named: name)
            if !instance.admitNow() { try await instance.admit(name, by: .max) }
            return unsafe Admission(instance: instance, function: operation.function)
        } catch {
            throw described(error)
        }
    }

    /// Calls an asynchronous operation and waits for its completion.
    @usableFromInline
    func call(_ options: CallOptions, _ start: Start) async throws(ConnectorError) -> [UInt8] {
        do throws(ConnectorError) {
            let instance = try gate.usableInstance()
            let operation = try instance.operation(named: name)
            let deadline = gate.environment.deadline(after: options.timeoutNanoseconds)
            if !instance.admitNow() { try await instance.admit(name, by: deadline) }
            defer { instance.dismiss() }
            let id = try gate.begin(on: instance, progress: options.onProgress)
            unsafe self.start(operation, on: instance, id: id, deadline: deadline, start)
            if let outcome = instance.operations.endIfNow(of: id) { return try outcome.get() }
            return try await gate.end(of: id, name, on: instance, deadline: deadline).get()
        } catch {
            throw described(error)
        }
    }

    private func start(
        _ operation: ResolvedOperation,
        on instance: PluginInstance,
        id: UInt64,
        deadline: UInt64,
        _ start: Start
    ) {
        var call = connector_call(operation: id, deadline: deadline)
        unsafe ErrorObject.with { error in
            let status = unsafe start(operation.function, instance.pointer, &call, error)
            if status != Int32(CONNECTOR_OK) { unsafe instance.refuse(id, status, error, name) }
        }
    }

    /// The right to be inside a gate, which does not close before that ends.
    @usableFromInline
    @safe
    struct Admission {
        private let instance: PluginInstance
        /// The operation's function.
        @usableFromInline let function: UnsafeMutableRawPointer

        init(instance: PluginInstance, function: UnsafeMutableRawPointer) {
            self.instance = instance
            unsafe self.function = function
        }

        /// What the function takes first.
        @usableFromInline var pointer: UnsafeMutableRawPointer? { unsafe instance.pointer }

        /// Lets the gate go; called exactly once.
        @usableFromInline
        func end() { instance.dismiss() }
    }
}
