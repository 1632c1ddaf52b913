// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import CConnector
public import ConnectorManifest

/// An operation whose C type is known at compile time: the pointer is cast once and called directly.
///
/// Build typed clients for your own capabilities from it: see the article `OwnCapability` of `ConnectorHost`. If one of the
/// predefined types of ``OperationFunction`` fits, call the operation like a function:
///
/// ```swift
/// let add = try host.gate("calculator").typed("add", "(a: f64, b: f64) -> f64", as: OperationFunction.Numbers2.self)
/// let sum = try await add(2, 3)
/// ```
///
/// For any other signature, define a C type in the client. Derive it from the signature by the rules of
/// `connector/operation.h`: the host compares the signature with the manifest's, but cannot check the C type.
///
/// ```swift
/// typealias Power = @convention(c) (
///     OperationFunction.Instance, Double, UInt32, UnsafeMutablePointer<Double>, OperationFunction.Failure
/// ) -> Int32
///
/// let power = try unsafe host.gate("calculator").typed("power", "(base: f64, exponent: u32) -> f64", as: Power.self)
/// let kibi = try await power.withLease { lease throws(ConnectorError) in
///     var result = 0.0
///     try unsafe lease.call { unsafe $0($1, 2, 10, &result, $2) }
///     return result
/// }
/// ```
///
/// Thread-safe.
public struct TypedOperation<Function>: Sendable {
    /// The operation without its C type.
    @usableFromInline package let handle: OperationHandle

    /// Looks up the operation, and compares the signature with the manifest's and with a predefined C type.
    package init(_ gate: any CalledGate, _ name: String, _ signature: Signature) throws(ConnectorError) {
        handle = try OperationHandle(gate, name, signature)
        let isFunction = MemoryLayout<Function>.size == MemoryLayout<Int>.size
        if isFunction, OperationForm(Function.self)?.fits(signature) ?? true { return }
        let form =
            OperationForm(Function.self).map { "the C type of \($0)" } ?? "\(Function.self): it is not a C function"
        throw ConnectorError(
            .invalid,
            "\(name)\(signature) cannot be called with \(form)",
            fix: "use the C type that connector/operation.h derives from the signature",
            connector: gate.path
        )
    }

    /// Lends the right to call the operation any number of times; the gate stays open until the body returns.
    ///
    /// Taking the lease takes some tens of nanoseconds, and a call through it as long as through a C function pointer. Keep the
    /// lease short: the gate cannot close before it ends, and a `serial` gate admits no other call.
    ///
    /// - Parameters:
    ///   - options: The timeout of the wait for a turn on a `serial` gate. The body and its calls are not interrupted.
    ///   - body: Calls the operation through the lease.
    /// - Throws: `not-open`; `timed-out` or `cancelled` during the wait for a turn; the body's error.
    @inlinable
    public func withLease<Result>(
        options: CallOptions = CallOptions(),
        _ body: (borrowing OperationLease<Function>) throws(ConnectorError) -> Result
    ) async throws(ConnectorError) -> Result {
        let target = try await handle.admit(options)
        defer { extendLifetime(target) }
        do throws(ConnectorError) {
            return try unsafe body(
                OperationLease(
                    function: unsafe unsafeBitCast(target.function, to: Function.self),
                    instance: target.instance,
                    name: handle.name,
                    watched: unsafe target.watched
                )
            )
        } catch {
            throw handle.described(error)
        }
    }

    /// Calls an asynchronous operation and awaits its result.
    ///
    /// An operation that completes inside its function needs no continuation.
    ///
    /// - Parameters:
    ///   - options: The timeout, from the wait for a turn to the completion.
    ///   - start: Calls the function with the instance, the call and the error object, and returns its status.
    /// - Returns: The bytes of the result.
    /// - Throws: `not-open`; `timed-out`; the plugin's error; `cancelled` if, and only if, the caller's own task is
    ///   cancelled: see the article `Errors` of `ConnectorHost`.
    @inlinable
    public func call(
        _ options: CallOptions = CallOptions(),
        _ start: (
            Function, UnsafeMutableRawPointer?, UnsafePointer<connector_call>, UnsafeMutablePointer<connector_error>
        ) -> Int32
    ) async throws(ConnectorError) -> [UInt8] {
        try await unsafe handle.call(options) { function, instance, call, error in
            unsafe start(unsafeBitCast(function, to: Function.self), instance, call, error)
        }
    }
}

/// The right to call an operation's function: see ``TypedOperation/withLease(options:_:)``.
@safe
public struct OperationLease<Function>: ~Copyable {
    @usableFromInline package let function: Function
    @usableFromInline package let instance: UnsafeMutableRawPointer?
    @usableFromInline package let name: String
    @usableFromInline package let watched: Unmanaged<WatchedCaller>?

    @inlinable
    package init(
        function: Function,
        instance: UnsafeMutableRawPointer?,
        name: String,
        watched: Unmanaged<WatchedCaller>?
    ) {
        unsafe self.watched = watched
        self.function = function
        unsafe self.instance = instance
        self.name = name
    }

    /// Calls the function once.
    ///
    /// It does not allocate, lock or count references: the body is inlined around the call through the pointer.
    ///
    /// - Parameter body: Calls the function with the instance and the error object, and returns its status.
    /// - Throws: The plugin's error, for any status other than success.
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
        if let failure {
            unsafe watched?.takeUnretainedValue().failed(failure.error)
            throw failure.error
        }
    }
}
