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
    package func hostDirectory(state: String? = nil) -> String? { possibleDirectories(state: state).first }

    /// The directory of a host, followed by those that it would have if the file had no `state`, and no `name` either, and the one that
    /// it would then have had in an earlier version.
    ///
    /// - Parameter state: The directory for the state of this user's hosts; nil for the default.
    package func possibleDirectories(state: String? = nil) -> [String] {
        let names = name == nil ? [nil] : [name, nil]
        let earlier = StateDirectory.earlierFolder(file: file)
        let folders = names.map { StateDirectory.folder(name: $0, file: file) } + [earlier]
        return ([stateDirectory] + folders.map { StateDirectory(state, application: $0).path }).compactMap(\.self)
    }
}
