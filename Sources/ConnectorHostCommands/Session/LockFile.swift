// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform

/// Writes locks.
enum LockFile {
    /// Replaces a lock, so that a host that starts meanwhile reads the old one or the new one.
    static func write(_ lock: PluginLock) throws(ConnectorError) {
        do throws(SystemError) {
            try OutputFile.replace(lock.file, with: Array(lock.text.utf8))
        } catch {
            throw ConnectorError(
                .failed,
                "\(lock.file) cannot be written",
                fix: "check the permissions of its directory",
                cause: error.description
            )
        }
    }
}
