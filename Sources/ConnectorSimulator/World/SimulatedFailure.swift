// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The failure of a simulated call or proof.
struct SimulatedFailure: Sendable {
    /// The failure, with an empty message.
    var error: ConnectorError
    /// The message, which may refer to values of the call.
    var message: JSONTemplate

    /// The failure, with the values of a call filled in.
    func filled(_ values: JSONTemplate.Values) throws(ConnectorError) -> ConnectorError {
        var error = error
        error.message = try message.text(values)
        return error
    }
}
