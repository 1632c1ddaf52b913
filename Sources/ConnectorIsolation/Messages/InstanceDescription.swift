// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Everything that a runner needs to load a plugin and to make an instance of it, besides the image.
package struct InstanceDescription: Sendable, Hashable {
    /// The gate's path, for the runner's crash note.
    package var gate: String
    /// The file that the image was read from, or the name of a foreign library.
    package var path: String
    /// Whether the dynamic linker finds the library by ``path``, in which case no image is sent.
    package var isLibrary: Bool
    /// The path of the sidecar; nil if there is none.
    package var sidecar: String?
    /// Whether the manifest is embedded in the image.
    package var isEmbedded: Bool
    /// The text of the manifest.
    package var manifest: [UInt8]
    /// The configuration that `create` receives.
    package var configuration: [UInt8]
    /// The services that the host lends, by their ids.
    package var services: [String]
    /// The lowest level that the application records, a number of `log/1`.
    package var logLevel: Int32
    /// The time of day in a recording or a replay, in nanoseconds since 1970: `clock/1` asks the host, which knows when the recording
    /// has ended. Nil for the machine's time.
    package var time: UInt64?
    /// Whether the host's clock is not the system's, so that the plugin's time and timers are the host's, and deadlines are stated in the
    /// host's monotonic time.
    package var followsHostClock: Bool
    /// The SHA-256 of the image that the host has checked, in hexadecimal, where none is sent, and the runner loads the file at ``path``;
    /// nil otherwise.
    package var sha256: String?

    /// Creates a description.
    package init(
        gate: String,
        path: String,
        isLibrary: Bool,
        sidecar: String?,
        isEmbedded: Bool,
        manifest: [UInt8],
        configuration: [UInt8],
        services: [String],
        logLevel: Int32,
        time: UInt64? = nil,
        followsHostClock: Bool = false,
        sha256: String? = nil
    ) {
        self.gate = gate
        self.path = path
        self.isLibrary = isLibrary
        self.sidecar = sidecar
        self.isEmbedded = isEmbedded
        self.manifest = manifest
        self.configuration = configuration
        self.services = services
        self.logLevel = logLevel
        self.time = time
        self.followsHostClock = followsHostClock
        self.sha256 = sha256
    }

    /// Reads a description.
    package init(_ message: inout MessageReader) throws(ConnectorError) {
        gate = try message.text()
        path = try message.text()
        isLibrary = try message.bool()
        sidecar = try message.optional { message throws(ConnectorError) in try message.text() }
        isEmbedded = try message.bool()
        manifest = try message.data()
        configuration = try message.data()
        services = try message.list(limit: 4096) { message throws(ConnectorError) in try message.text() }
        logLevel = try message.integer()
        time = try message.optional { message throws(ConnectorError) in try message.integer() }
        followsHostClock = try message.bool()
        sha256 = try message.optional { message throws(ConnectorError) in try message.text() }
    }

    /// Writes the description.
    package func put(to message: inout MessageWriter) {
        message.put(gate)
        message.put(path)
        message.put(isLibrary)
        message.put(sidecar) { $0.put($1) }
        message.put(isEmbedded)
        message.put(manifest)
        message.put(configuration)
        message.put(services) { $0.put($1) }
        message.put(logLevel)
        message.put(time) { $0.put($1) }
        message.put(followsHostClock)
        message.put(sha256) { $0.put($1) }
    }
}
