// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorHost

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Which host answers. Clients ask first, so as not to take another file's host for their own.
package struct HostIdentity: Sendable, Hashable {
    /// The release of the host.
    package var release: String
    /// The real path of the configuration; empty if it has none.
    package var file: String
    /// The process.
    package var process: Int64

    /// Describes a host of this process.
    package init(of host: ConnectorHost) {
        release = ConnectorHost.version
        file = host.configuration.file.realPath
        process = Int64(getpid())
    }

    /// Reads a document; nil if it is none.
    package init?(json: JSONValue) {
        guard let release = json["release"]?.string, let file = json["file"]?.string,
            let process = json["process"]?.integer
        else { return nil }
        self.release = release
        self.file = file
        self.process = process
    }

    /// The document.
    package var json: JSONValue {
        ["version": 1, "release": .string(release), "file": .string(file), "process": .integer(process)]
    }
}
