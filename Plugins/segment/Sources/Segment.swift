// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Twilio Segment, and everything that speaks its tracking API.
struct Segment: Plugin {
    private let host: Host

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
    }

    func open() async throws -> [Evidence] {
        [.configured("the configuration is complete")]
    }
}
