// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A gate as its callers see it.
package protocol CalledGate: AnyObject, Sendable {
    /// Its place in the tree.
    var path: String { get }
    /// The plugin's manifest; nil if no plugin was found.
    var manifest: Manifest? { get }
    /// The door that calls pass through.
    var door: Door { get }
    /// The error of a call that may not pass.
    var refusal: ConnectorError { get }

    /// Adds the gate's path to an error of a call and redacts secrets.
    func described(_ error: ConnectorError) -> ConnectorError
}

extension CalledGate {
    /// Calls an operation.
    ///
    /// Every mistake in the call is found before any plugin code runs.
    package func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> CallResult {
        do throws(ConnectorError) {
            let deadline = door.environment.deadline(after: options.timeoutNanoseconds)
            let admission =
                if let admission = door.admitNow() { admission } else { try await admit(name, by: deadline) }
            let channel = admission.channel
            var result = try await channel.call(name, arguments, options, by: deadline, admission)
            result.gate = path
            return result
        } catch {
            throw described(error)
        }
    }

    /// Lends a prepared call to the body, and keeps the gate open meanwhile.
    package func withPrepared<Result>(
        _ name: String,
        _ options: CallOptions,
        _ body: (borrowing PreparedCall) throws(ConnectorError) -> Result
    ) async throws(ConnectorError) -> Result {
        do throws(ConnectorError) {
            let admission =
                if let admission = door.admitNow(.typed) { admission } else { try await admit(name, within: options) }
            return try admission.with { instance throws(ConnectorError) in
                try PreparedCall.with(instance.operation(named: name), on: instance, body)
            }
        } catch {
            door.failed(error)
            throw described(error)
        }
    }

    /// Admits a typed call that ``Door/admitNow(_:)`` refused, waiting up to the options' timeout.
    package func admit(_ name: String, within options: CallOptions) async throws(ConnectorError) -> Admission {
        try await admit(name, by: door.environment.deadline(after: options.timeoutNanoseconds), .typed)
    }

    /// Admits a call that ``Door/admitNow(_:)`` refused; it may wait in line.
    ///
    /// Callers that need not wait skip this async path.
    ///
    /// - Throws: `not-open` or `unknown-operation` before it waits; `timed-out` or `cancelled` while it waits.
    package func admit(
        _ name: String,
        by deadline: UInt64,
        _ passage: Door.Passage = .named
    ) async throws(ConnectorError) -> Admission {
        while true {
            guard let instance = door.instance else {
                if let admission = door.admitNow(passage) { return admission }
                throw refusal
            }
            _ = try instance.operation(named: name)
            guard let turn = instance.turn else {
                if let admission = door.admitNow(passage) { return admission }
                continue
            }
            try await turn.take(name, by: deadline, door.environment.clock)
            // A successor may have replaced the instance meanwhile; then stand in the successor's line.
            if let admission = door.admit(holdingTurnOf: instance, passage) { return admission }
            turn.passOn()
        }
    }
}
