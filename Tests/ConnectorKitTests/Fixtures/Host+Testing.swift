// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

extension Host {
    /// A host whose vendor answers from a script, at half past nine.
    static func scripted(_ http: ScriptedHTTP, clock: any ClockService = StoppedClock()) -> Host {
        Host(http: http, clock: clock)
    }
}

extension PluginConfiguration {
    /// The fields of a configuration in JSON, where secrets stand as placeholders.
    init(json: JSONValue) {
        self.init(json.object ?? JSONObject())
    }
}
