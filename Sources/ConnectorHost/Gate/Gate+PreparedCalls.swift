// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension Gate {
    /// Calls an operation that answers at once, without waiting for anybody.
    ///
    /// - Parameter store: Puts the values in place.
    /// - Returns: The answer; nil, and nothing was called, if the operation answers later or another call has its turn.
    func callNow(
        _ name: String,
        _ store: (borrowing PreparedCall) throws(ConnectorError) -> Void
    ) throws(ConnectorError) -> JSONValue? {
        do throws(ConnectorError) {
            guard let admission = admitNow() else {
                _ = try usableInstance()
                return nil
            }
            defer { admission.end() }
            return try admission.with { instance throws(ConnectorError) in
                let operation = try instance.operation(named: name)
                guard operation.answersAtOnce else { return nil }
                return try PreparedCall.with(operation, on: instance) { call throws(ConnectorError) in
                    try store(call)
                    try call()
                    return try call.json()
                }
            }
        } catch {
            throw described(error)
        }
    }

    /// Lends a prepared call, and keeps the gate from closing meanwhile.
    func withPrepared<Result>(
        _ name: String,
        _ options: CallOptions,
        _ body: (borrowing PreparedCall) throws(ConnectorError) -> Result
    ) async throws(ConnectorError) -> Result {
        do throws(ConnectorError) {
            let admission = if let admission = admitNow() { admission } else { try await admit(name, within: options) }
            defer { admission.end() }
            return try admission.with { instance throws(ConnectorError) in
                try PreparedCall.with(instance.operation(named: name), on: instance, body)
            }
        } catch {
            throw described(error)
        }
    }
}
