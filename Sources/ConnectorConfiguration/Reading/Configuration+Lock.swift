// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorPlatform

extension Configuration {
    /// Reads the lock beside the main file, and adds its problems to those of the file.
    static func addingLock(to examination: Examination, of file: String) -> Examination {
        guard var configuration = examination.configuration else { return examination }
        let path = PluginLock.file(of: file)
        do throws(ConnectorError) {
            let content = try SmallFile(reading: path, limit: PluginLock.sizeLimit)
            if configuration.requiresTrust, let concern = FileTrust().concern(path) {
                throw ConnectorError(
                    .denied,
                    "the lock \(path.withGivenPaths.excerpt) is not trusted: \(concern)",
                    fix: "make this user or root own it, and let no other user write it: chmod go-w"
                )
            }
            let (lock, problems, omitted) = PluginLock.read(content.bytes, file: path)
            // Without its lock, nothing of the configuration may be loaded: the problems make it invalid.
            configuration.lock = lock
            return (configuration, examination.problems + problems, examination.omitted + omitted)
        } catch {
            guard error.code == .notFound else {
                return (configuration, examination.problems + [error], examination.omitted)
            }
            // A link to a lock that is absent is not the absence of a lock: it would allow every plugin.
            guard FileStamp(itself: path) != nil else { return examination }
            let lost = ConnectorError(
                .unreadable,
                "the lock \(path.withGivenPaths.excerpt) is a link that leads nowhere",
                fix: "restore the file that it leads to; or remove the link, to load plugins without a lock",
                cause: error.cause
            )
            return (configuration, examination.problems + [lost], examination.omitted)
        }
    }
}
