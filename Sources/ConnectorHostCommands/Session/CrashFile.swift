// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorServices

/// The file in which a command leaves a crash note for the next `status` on the same configuration.
enum CrashFile {
    /// The file for a configuration, in the user's state directory; nil if there is no such directory.
    static func path(for configuration: String) -> String? {
        StateDirectory(name: nil, file: configuration).path.map { "\($0).crash" }
    }
}
