// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import CConnector
public import ConnectorManifest

/// An operation whose C type is known at compile time: the pointer is cast once and called directly.
///
/// This is what a typed client for a capability of one's own is made of: see <doc:OwnCapability>. Where one of the ready-made
/// types of ``OperationFunction`` fits, the operation is called like a function:
///
/// ```swift
/// let add = try host.gate("calculator").typed("add", "(a: f64, b: f64) -> f64", as: OperationFunction.Numbers2.self)
/// let sum = try await add(2, 3)
/// ```
///
/// Any other signature needs a C type of the client's own, which is what `connector/operation.h` says for that signature; that
/// it is, nobody can check. The signature itself is compared with the manifest's when the operation is asked for.
///
/// ```swift
/// typealias Power = @convention(c) (
///     OperationFunction.Instance, Double, UInt32, UnsafeMutablePointer<Double>, OperationFunction.Failure
/// ) -> Int32
///
/// let power = try host.gate("calculator").typed("power", "(base: f64, exponent: u32) -> f64", as: Power.self)
/// let kibi = try await power.withLease { lease throws(ConnectorError) in
///     var result = 0.0
///     try unsafe lease.call { unsafe $0($1, 2, 10, &result, $2) }
///     return result
/// }
/// ```
///
/// A value; from any thread.
public struct TypedOperation<Function>: Sendable {
    private let gate: Gate
    /// The operation's name.
    let name: String
    /// What the manifest and the client agree on.
    let signature: Signature

    /// Compares the signature with the manifest's, and with the form if the C type is a ready-made one.
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
        if let form = OperationForm(Function.self), !form.fits(signature) {
            throw ConnectorError(
                .invalid,
                "\(name)\(signature) cannot be called with the C type of \(form)",
                fix: "ask for it with the C type that connector/operation.h derives from its signature",
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
    func described(_ error: ConnectorError) -> ConnectorError { gate.described(error) }

    /// Calls the operation any number of times while the gate is kept from going away.
    ///
    /// Taking the lease costs some tens of nanoseconds, a call through it what C pays for a function pointer. The gate does
    /// not close before the lease ends, so keep it short; on a `serial` gate nobody else is let in meanwhile.
    ///
    /// - Throws: `not-open`, or what the body throws.
    public func withLease<Result>(
        _ body: (borrowing OperationLease<Function>) throws(ConnectorError) -> Result
    ) async throws(ConnectorError) -> Result {
        do throws(ConnectorError) {
            let instance = try gate.usableInstance()
            let operation = try instance.operation(named: name)
            try await instance.admit(name, by: .max)
            defer { instance.dismiss() }
            return try unsafe body(
                OperationLease(
                    function: unsafe unsafeBitCast(operation.function, to: Function.self),
                    instance: instance.pointer,
                    name: name
                )
            )
        } catch {
            throw described(error)
        }
    }

    /// Calls an asynchronous operation and waits for its completion.
    ///
    /// One that completes inside the call costs no continuation.
    ///
    /// - Parameters:
    ///   - options: How long it may take.
    ///   - start: Calls the function with the instance, the call and the error object.
    /// - Returns: The bytes that it completed with.
    public func call(
        _ options: CallOptions = CallOptions(),
        _ start: (
            Function, UnsafeMutableRawPointer?, UnsafePointer<connector_call>, UnsafeMutablePointer<connector_error>
        ) -> Int32
    ) async throws(ConnectorError) -> [UInt8] {
        do throws(ConnectorError) {
            let instance = try gate.usableInstance()
            let operation = try instance.operation(named: name)
            let deadline = gate.environment.deadline(after: options.timeout)
            try await instance.admit(name, by: deadline)
            defer { instance.dismiss() }
            let id = try gate.begin(on: instance, progress: options.onProgress)
            unsafe startTyped(operation, on: instance, id: id, deadline: deadline, start)
            if let outcome = instance.operations.endIfNow(of: id) { return try outcome.get() }
            return try await gate.end(of: id, name, on: instance, deadline: deadline).get()
        } catch {
            throw described(error)
        }
    }

    private func startTyped(
        _ operation: ResolvedOperation,
        on instance: PluginInstance,
        id: UInt64,
        deadline: UInt64,
        _ start: (
            Function, UnsafeMutableRawPointer?, UnsafePointer<connector_call>, UnsafeMutablePointer<connector_error>
        ) -> Int32
    ) {
        var call = connector_call(
            struct_size: UInt32(MemoryLayout<connector_call>.size),
            flags: 0,
            operation: id,
            deadline_ns: deadline
        )
        let function = unsafe unsafeBitCast(operation.function, to: Function.self)
        unsafe ErrorObject.with { error in
            let status = unsafe start(function, instance.pointer, &call, error)
            if status != Int32(CONNECTOR_OK) { unsafe instance.refuse(id, status, error.pointee, name) }
        }
    }
}

/// The right to call an operation's function for a while: see ``TypedOperation/withLease(_:)``.
@safe
public struct OperationLease<Function>: ~Copyable {
    @usableFromInline let function: Function
    @usableFromInline let instance: UnsafeMutableRawPointer?
    @usableFromInline let name: String

    init(function: Function, instance: UnsafeMutableRawPointer?, name: String) {
        self.function = function
        unsafe self.instance = instance
        self.name = name
    }

    /// Calls the function once.
    ///
    /// Nothing is allocated, locked or counted: the body is inlined around the call of the pointer.
    ///
    /// - Parameter body: Calls the function with the instance and the error object, and returns its status.
    /// - Throws: What the plugin said, for any status but success.
    @inlinable
    @inline(__always)
    public func call(
        _ body: (Function, UnsafeMutableRawPointer?, UnsafeMutablePointer<connector_error>) -> Int32
    ) throws(ConnectorError) {
        var failure: ErrorObject.Failure?
        unsafe ErrorObject.with { error in
            let status = unsafe body(function, instance, error)
            if status != 0 { failure = unsafe ErrorObject.read(error, status, name) }
        }
        if let failure { throw failure.error }
    }
}
