// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorError {
    /// The error of whatever is asked of a host that is closing or has closed.
    package static var hostClosed: ConnectorError {
        ConnectorError(.notOpen, "the host has closed", fix: "create a new host from the same file")
    }
}
