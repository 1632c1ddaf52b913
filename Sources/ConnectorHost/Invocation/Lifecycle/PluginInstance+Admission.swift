// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension PluginInstance {
    /// Lets an operation in, one at a time if the plugin is `serial`.
    ///
    /// - Throws: `not-open` once the gate begins to close; `timed-out` or `cancelled` while waiting in line.
    func admit(_ name: String, by deadline: UInt64) async throws(ConnectorError) -> Admission {
        try await turn?.begin(name, by: deadline, environment.clock)
        guard enter(isOperation: true) else {
            turn?.end()
            throw ConnectorError(.notOpen, "the gate is closing", isRetryable: true)
        }
        return Admission(self)
    }

    /// For an operation that has been counted in: its turn, if nobody has it; else it is counted out again.
    @inline(__always)
    func takeTurnNow() -> Bool {
        guard let turn, !turn.beginNow() else { return true }
        leave()
        return false
    }

    /// Lets an operation out, and the next one in. Nobody keeps the instance alive for the caller after that.
    func dismiss() {
        turn?.end()
        leave()
    }
}
