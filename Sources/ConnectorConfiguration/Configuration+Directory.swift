// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorServices

extension Configuration {
    /// Where a host of this configuration can be reached, and where its outbox lies unless that is on servers: what the file
    /// names as `state`, or the application's folder below the user's own. Nil if neither it nor the environment names a
    /// directory.
    ///
    /// - Parameter state: The directory for the state of this user's hosts; nil for the usual one.
    package func hostDirectory(state: String? = nil) -> String? {
        stateDirectory ?? StateDirectory(state, application: StateDirectory.folder(name: name, file: file)).path
    }
}
