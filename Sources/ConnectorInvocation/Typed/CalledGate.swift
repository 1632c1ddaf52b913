// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A gate, as seen by its callers.
package protocol CalledGate: AnyObject, Sendable {
    /// The connector's path.
    var path: String { get }
    /// The plugin's manifest; nil if no plugin was found.
    var manifest: Manifest? { get }
    /// The manifests of the plugins whose instances receive calls, or may do so at any time. During a trial, and shortly
    /// after a reload, there are others than ``manifest``.
    var callableManifests: [Manifest] { get }
    /// The rundown guard that admits calls.
    var rundown: RundownGuard { get }
    /// The typed handles that callers hold.
    var typedHandles: TypedHandles { get }
    /// Whether typed calls have to ask, by ``beginWatched()``.
    var watch: CallWatch { get }
    /// The error of a call that is not admitted.
    var refusal: ConnectorError { get }

    /// Adds the gate's path to an error of a call and, unless a plugin made the call, redacts secrets.
    func described(_ error: ConnectorError, isForPlugin: Bool) -> ConnectorError

    /// Admits one call of a gate that watches its calls.
    ///
    /// - Throws: `not-open` if the gate wants none at present.
    func beginWatched() throws(ConnectorError) -> CallTicket

    /// Notes how an admitted call has ended.
    func endWatched(_ ticket: CallTicket, _ error: ConnectorError?)
}

extension CalledGate {
    /// Adds the gate's path to an error of an application's call, and redacts secrets.
    package func described(_ error: ConnectorError) -> ConnectorError { described(error, isForPlugin: false) }

    /// Makes a call of a gate that watches its calls: it is admitted before, and its end is noted.
    ///
    /// - Throws: `not-open` if the gate wants none at present; what `body` throws.
    package func watched<Value>(
        _ body: () async throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        let ticket: CallTicket
        do throws(ConnectorError) {
            ticket = try beginWatched()
        } catch {
            throw described(error)
        }
        do throws(ConnectorError) {
            let value = try await body()
            endWatched(ticket, nil)
            return value
        } catch {
            endWatched(ticket, error)
            throw error
        }
    }

    /// Calls an operation.
    ///
    /// The call is validated before any plugin code runs. A call that an instance had not taken when it was lost goes to the instance
    /// that has taken over, if there is one.
    package func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> CallResult {
        do throws(ConnectorError) {
            let deadline = rundown.dependencies.deadline(after: options.timeoutNanoseconds)
            var admission =
                if let admission = rundown.admitNow() { admission } else { try await admit(name, by: deadline) }
            while true {
                let channel = admission.channel
                do throws(ConnectorError) {
                    var result = try await channel.call(name, arguments, options, by: deadline, admission)
                    result.gate = path
                    return result
                } catch {
                    guard error.sending == .no, let next = rundown.admitNow(), next.channel !== channel else {
                        throw error
                    }
                    admission = next
                }
            }
        } catch {
            throw described(error, isForPlugin: options.isForPlugin)
        }
    }

    /// Lends the body a prepared call, and keeps the gate open until the body returns.
    package func withPrepared<Result>(
        _ name: String,
        _ options: CallOptions,
        _ body: (borrowing PreparedCall) throws(ConnectorError) -> Result
    ) async throws(ConnectorError) -> Result {
        do throws(ConnectorError) {
            guard options.timeoutNanoseconds > 0 else { throw CallOptions.noTime(for: name) }
            let admission =
                if let admission = rundown.admitNow(.typed) { admission } else {
                    try await admit(name, within: options)
                }
            return try admission.with { instance throws(ConnectorError) in
                try PreparedCall.with(
                    instance.operation(named: name),
                    on: instance,
                    watched: watch.isOn ? WatchedCaller(self) : nil,
                    body
                )
            }
        } catch {
            rundown.failed(error)
            throw described(error)
        }
    }

    /// Admits a typed call that ``RundownGuard/admitNow(_:)`` did not, waiting up to the options' timeout.
    package func admit(_ name: String, within options: CallOptions) async throws(ConnectorError) -> Admission {
        try await admit(name, by: rundown.dependencies.deadline(after: options.timeoutNanoseconds), .typed)
    }

    /// Admits a call that ``RundownGuard/admitNow(_:)`` did not; it may wait in line.
    ///
    /// Callers that need not wait skip this async path.
    ///
    /// - Throws: `not-open` or `unknown-operation` before it waits; `timed-out` or `cancelled` while it waits.
    package func admit(
        _ name: String,
        by deadline: UInt64,
        _ kind: RundownGuard.CallKind = .named
    ) async throws(ConnectorError) -> Admission {
        while true {
            guard let instance = rundown.instance else {
                if let admission = rundown.admitNow(kind) { return admission }
                throw refusal
            }
            _ = try instance.operation(named: name)
            guard let serialGate = instance.serialGate else {
                if let admission = rundown.admitNow(kind) { return admission }
                continue
            }
            try await serialGate.enter(name, by: deadline, rundown.dependencies.clock)
            // If a successor has replaced the instance in the meantime, wait in the successor's line.
            if let admission = rundown.admitNow(kind, insideSerialGateOf: instance) { return admission }
            serialGate.leave()
        }
    }
}
