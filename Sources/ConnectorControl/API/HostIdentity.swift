// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorHost

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The identity of a host. Clients query it first, to check that the host runs on their file.
package struct HostIdentity: Sendable, Hashable {
    /// The release of the host.
    package var release: String
    /// The path of the configuration by ``path(of:)``; empty if the host has no file.
    package var file: String
    /// The process id.
    package var process: Int64

    /// Describes a host in this process.
    package init(of host: ConnectorHost) {
        release = ConnectorHost.version
        file = Self.path(of: host.configuration.path)
        process = Int64(getpid())
    }

    /// The path by which a host and its clients know a file: without symbolic links or, while the file is missing, its place.
    package static func path(of file: String) -> String {
        let path = file.realPath
        return file.isEmpty || path != file ? path : file.placePath ?? file
    }

    /// Parses a document; nil if it is not an identity.
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
