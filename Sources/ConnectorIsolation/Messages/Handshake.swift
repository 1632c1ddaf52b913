// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase

/// What both sides compare before anything else is said: a runner of another version refuses, and is refused.
package struct Handshake: Sendable, Hashable {
    /// The first four bytes, `CRUN`.
    package static let magic: UInt32 = 0x4E55_5243
    /// The version of the messages.
    package static let version: UInt32 = 12
    /// The sizes of the structs that travel as raw memory.
    package static var layout: UInt32 {
        UInt32(MemoryLayout<connector_error>.size) << 8 | UInt32(FrameHeader.size)
    }

    /// The version that the other side speaks.
    package var version: UInt32
    /// The sizes that the other side has.
    package var layout: UInt32

    /// What this process says.
    package static var own: Handshake { Handshake(version: version, layout: layout) }

    /// Creates a handshake.
    package init(version: UInt32, layout: UInt32) {
        self.version = version
        self.layout = layout
    }

    /// Reads what the other side says.
    package init(_ message: inout MessageReader) throws(ConnectorError) {
        guard try message.integer(UInt32.self) == Self.magic else {
            throw ConnectorError(
                .protocolViolation,
                "the other side is neither a runner nor a host of connector-host"
            )
        }
        version = try message.integer()
        layout = try message.integer()
    }

    /// Writes what this side says.
    package func put(to message: inout MessageWriter) {
        message.put(Self.magic)
        message.put(version)
        message.put(layout)
    }

    /// Why these two cannot talk to each other; nil if they can.
    ///
    /// - Parameters:
    ///   - host: What the host says.
    ///   - runner: What the runner says.
    package static func mismatch(host: Handshake, runner: Handshake) -> ConnectorError? {
        guard host != runner else { return nil }
        return ConnectorError(
            .unsupported,
            "the runner speaks version \(runner.version) (layout \(runner.layout)), "
                + "but the host version \(host.version) (layout \(host.layout))",
            fix: "install connector-host and connector-runner of one build"
        )
    }
}
