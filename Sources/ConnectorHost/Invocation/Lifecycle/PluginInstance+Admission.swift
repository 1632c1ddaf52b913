// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension PluginInstance {
    /// Lets an operation in if nobody has to wait for that; whoever got in calls ``dismiss()`` in the end.
    func admitNow() -> Bool {
        if isSerial, !turn.beginNow() { return false }
        if enter(isOperation: true) { return true }
        if isSerial { turn.end() }
        return false
    }

    /// Lets an operation in, one at a time if the plugin is `serial`; whoever got in calls ``dismiss()`` in the end.
    ///
    /// - Throws: `not-open` once the gate begins to close; `timed-out` or `cancelled` while waiting in line.
    func admit(_ name: String, by deadline: UInt64) async throws(ConnectorError) {
        if isSerial { try await turn.begin(name, by: deadline, environment.clock) }
        guard enter(isOperation: true) else {
            if isSerial { turn.end() }
            throw ConnectorError(.notOpen, "the gate is closing", isRetryable: true)
        }
    }

    /// Lets an operation out, and the next one in.
    func dismiss() {
        leave()
        if isSerial { turn.end() }
    }
}
