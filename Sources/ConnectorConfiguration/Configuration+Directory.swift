// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorServices

extension Configuration {
    /// The directory of a host's control socket, and of its outbox unless servers store that.
    ///
    /// It is the file's `state`, or else the application's folder in the user's state directory.
    ///
    /// - Parameter state: The directory for the state of this user's hosts; nil for the default.
    /// - Returns: Nil if neither the file nor the environment names a directory.
    package func hostDirectory(state: String? = nil) -> String? {
        stateDirectory ?? StateDirectory(state, application: StateDirectory.folder(name: name, file: file)).path
    }
}
