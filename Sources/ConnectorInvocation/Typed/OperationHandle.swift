// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import CConnector
public import ConnectorManifest
internal import ConnectorPlatform

/// A gate's operation, checked against the client's signature: a ``TypedOperation`` without the C type.
@usableFromInline
package struct OperationHandle: Sendable {
    private let gate: any CalledGate
    private let rundown: RundownGuard
    private let watch: CallWatch
    /// The operation's name.
    @usableFromInline package let name: String
    /// The signature that the manifest and the client share.
    package let signature: Signature
    /// Keeps plugins with another signature from taking over.
    private let entry: TypedHandles.Entry
    /// Whether the application had a tracer when the handle was created: checking at every call would take as long as the call.
    private let isTraced: Bool

    /// Starts a call with the function, the instance, the call and the error object.
    @usableFromInline package typealias Start =
        (
            UnsafeMutableRawPointer, UnsafeMutableRawPointer?, UnsafePointer<connector_call>,
            UnsafeMutablePointer<connector_error>
        ) -> Int32

    /// Looks up the operation and compares the signature with the manifest's.
    package init(_ gate: any CalledGate, _ name: String, _ signature: Signature) throws(ConnectorError) {
        try Self.compare(gate, name, signature)
        guard let entry = gate.typedHandles.add(name, signature) else { throw Self.mismatch(gate, name, signature) }
        // A reload that was over before the handle was added has not counted it.
        try Self.compare(gate, name, signature)
        self.gate = gate
        self.entry = entry
        self.rundown = gate.rundown
        watch = gate.watch
        self.name = name
        self.signature = signature
        isTraced = CallSpan.isWanted
    }

    /// Throws if the plugin, or another one whose instance may receive the calls, has no such operation.
    private static func compare(
        _ gate: any CalledGate,
        _ name: String,
        _ signature: Signature
    ) throws(ConnectorError) {
        // Read first: if the gate has gone back to its earlier plugin by then, that one is in `manifest`, even without an instance.
        let callable = gate.callableManifests
        guard let manifest = gate.manifest, let found = manifest.operation(named: name)?.operation else {
            let unknown = gate.manifest?.unknownOperation(name)
            throw gate.described(unknown ?? ConnectorError(.notOpen, "no plugin was found for the gate"))
        }
        guard manifest.offersTyped(name, signature) else {
            throw ConnectorError(
                .signatureMismatch,
                "\(name) has the signature \(found.signature), but the client was written for \(signature)",
                fix: "change the client, or use the plugin version that it was written for",
                connector: gate.path
            )
        }
        guard callable.allSatisfy({ $0.offersTyped(name, signature) }) else {
            throw mismatch(gate, name, signature)
        }
    }

    private static func mismatch(_ gate: any CalledGate, _ name: String, _ signature: Signature) -> ConnectorError {
        ConnectorError(
            .signatureMismatch,
            "another version of the plugin may receive calls, and its \(name) does not have the signature \(signature)",
            fix: "ask again once the reload or the trial of the new version has ended",
            connector: gate.path,
            isRetryable: true
        )
    }

    /// The gate's path.
    package var path: String { gate.path }

    /// Counts a call's error, adds the gate's path to it, and redacts secrets.
    @usableFromInline
    package func described(_ error: ConnectorError) -> ConnectorError {
        rundown.failed(error)
        return gate.described(error)
    }

    /// Admits the caller to the gate for as long as it holds the target.
    ///
    /// - Parameter options: The timeout of the wait for a turn.
    @usableFromInline
    package func admit(_ options: CallOptions) async throws(ConnectorError) -> Target {
        var watched: WatchedCaller?
        do throws(ConnectorError) {
            guard options.timeoutNanoseconds > 0 else { throw CallOptions.noTime(for: name) }
            if watch.isOn { watched = try WatchedCaller(leaseOf: gate) }
            let admission =
                if let admission = rundown.admitNow(.typed) {
                    admission
                } else {
                    try await gate.admit(name, within: options)
                }
            let (function, pointer) = unsafe try admission.with { instance throws(ConnectorError) in
                unsafe (try instance.function(of: name), instance.pointer)
            }
            return unsafe Target(admission: admission, function: function, instance: pointer, watched: watched)
        } catch {
            watched?.failed(error)
            throw described(error)
        }
    }

    /// Calls an asynchronous operation and awaits its result.
    @usableFromInline
    package func call(_ options: CallOptions, _ start: Start) async throws(ConnectorError) -> [UInt8] {
        guard isTraced, let span = CallSpan(of: gate.path, name) else {
            return unsafe try await makeWatchedCall(options, start)
        }
        return try await span.run { () throws(ConnectorError) in unsafe try await makeWatchedCall(options, start) }
    }

    private func makeWatchedCall(_ options: CallOptions, _ start: Start) async throws(ConnectorError) -> [UInt8] {
        do throws(ConnectorError) {
            try options.begin(name)
        } catch {
            throw described(error)
        }
        guard watch.isOn else { return unsafe try await makeCall(options, start) }
        return try await gate.watched { () async throws(ConnectorError) in unsafe try await makeCall(options, start) }
    }

    private func makeCall(_ options: CallOptions, _ start: Start) async throws(ConnectorError) -> [UInt8] {
        do throws(ConnectorError) {
            let deadline = rundown.dependencies.deadline(after: options.timeoutNanoseconds)
            let admission =
                if let admission = rundown.admitNow(.typed) {
                    admission
                } else {
                    try await gate.admit(name, by: deadline, .typed)
                }
            guard rundown.dependencies.clock.now() < deadline else {
                throw CallOptions.noTime(for: name, isRetryable: true)
            }
            var services: (any InstanceServices)?
            let id = try admission.with { instance throws(ConnectorError) in
                let function = unsafe try instance.function(of: name)
                if instance.usesGates { services = instance.services }
                return try instance.start(options.onProgress) { id in
                    guard instance.usesGates else {
                        return unsafe self.start(function, on: instance, id: id, deadline: deadline, start)
                    }
                    // The calls of used gates that the function makes belong to this call.
                    let trace = TraceContext.current.during(id, by: deadline)
                    instance.services.callBegins(trace)
                    trace.run { unsafe self.start(function, on: instance, id: id, deadline: deadline, start) }
                }
            }
            defer { services?.callEnds(id) }
            if let outcome = rundown.dependencies.operations.takeOutcome(of: id) { return try outcome.get() }
            let channel = admission.channel
            defer { extendLifetime(admission) }
            let instance = if let known = channel.instance { known } else { try channel.forwardingInstance() }
            return try await instance.awaitOutcome(of: id, name, by: deadline).get()
        } catch {
            throw described(error)
        }
    }

    private func start(
        _ function: UnsafeMutableRawPointer,
        on instance: PluginInstance,
        id: UInt64,
        deadline: UInt64,
        _ start: Start
    ) {
        var call = connector_call(operation: id, deadline: deadline)
        unsafe ErrorObject.with { error in
            let mark = unsafe PluginCode.begin(function)
            let status = unsafe start(function, instance.pointer, &call, error)
            PluginCode.end(mark)
            if status != Int32(CONNECTOR_OK) { unsafe instance.refuse(id, status, error, name) }
        }
    }

    /// A function and its instance, with the admission that makes them callable.
    @usableFromInline
    @safe
    package struct Target: ~Copyable {
        private let admission: Admission
        /// The operation's function.
        @usableFromInline package let function: UnsafeMutableRawPointer
        /// The plugin's instance, its first argument.
        @usableFromInline package let instance: UnsafeMutableRawPointer?
        /// What is notified of failed calls, if anything. The target owns it: counting references to an optional in memory would
        /// take as long as the rest of the lease.
        @usableFromInline package let watched: Unmanaged<WatchedCaller>?

        package init(
            admission: consuming Admission,
            function: UnsafeMutableRawPointer,
            instance: UnsafeMutableRawPointer?,
            watched: WatchedCaller?
        ) {
            unsafe self.watched = watched.map { unsafe .passRetained($0) }
            self.admission = admission
            unsafe self.function = function
            unsafe self.instance = instance
        }

        deinit { unsafe watched?.release() }
    }
}
