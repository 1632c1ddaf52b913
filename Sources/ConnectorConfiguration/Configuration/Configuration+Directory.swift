// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import ConnectorServices

extension Configuration {
    /// The directory of a host's control socket, and of its outbox unless servers store that.
    ///
    /// It is the file's `state`, or else the application's folder in the user's state directory.
    ///
    /// - Parameter state: The directory for the state of this user's hosts; nil for the default.
    /// - Returns: Nil if neither the file nor the environment names a directory.
    package func hostDirectory(state: String? = nil) -> String? {
        statePath ?? StateDirectory(state, name: name, file: path).path
    }

    /// The directory of a host, followed by those that it would have if the file had no `state`, and no `name` either, and those that
    /// it would then have had in earlier versions.
    ///
    /// - Parameter state: The directory for the state of this user's hosts; nil for the default.
    package func possibleDirectories(state: String? = nil) -> [String] {
        let names = name == nil ? [nil] : [name, nil]
        let folders = names.map { StateDirectory.folder(name: $0, file: path) }.compactMap(\.self)
        let all = folders + StateDirectory.earlierFolders(file: path)
        return ([statePath] + all.map { StateDirectory(state, application: $0).path }).compactMap(\.self)
    }

    /// A warning for people if the application's state is found by the file's path, and that leads through a symbolic link to another
    /// directory; nil otherwise.
    package var placeWarning: String? {
        guard name == nil, !file.isEmpty else { return nil }
        let directory = path.withUnmarkedPaths.rootedPath.parentPath
        guard directory.absolutePath != directory.realPath else { return nil }
        return "\(directory) leads through a symbolic link: when that is replaced, the host no longer finds its outbox "
            + "and stored values, nor do commands find the host; give the file a \"name\""
    }
}
