// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform

/// The settings of sandboxes.
extension ConfigurationReader {
    /// Reads what the runner of a plugin may do; the object inherits the settings that it leaves out.
    mutating func sandbox(in object: JSONObject, at path: JSONPath, below parent: SandboxSettings) -> SandboxSettings {
        guard let value = object["sandbox"] else { return parent }
        var sandbox = parent
        let here = path.appending("sandbox")
        if let text = value.string {
            sandbox.level = level(text, at: here) ?? parent.level
            return sandbox
        }
        let allowed = ["level", "read", "write", "network", "memory", "cpu", "threads"]
        guard let members = json.members(of: value, at: here, allowed: allowed) else { return parent }
        if let text = json.string("level", in: members, at: here) {
            sandbox.level = level(text, at: here.appending("level")) ?? parent.level
        }
        if members["read"] != nil { sandbox.read = places("read", in: members, at: here) }
        if members["write"] != nil { sandbox.write = places("write", in: members, at: here) }
        sandbox.network = json.bool("network", in: members, at: here) ?? parent.network
        if let memory = json.integer("memory", in: members, at: here, within: SettingRange.memory) {
            sandbox.memory = Int(memory)
        }
        sandbox.cpu = json.number("cpu", in: members, at: here, within: SettingRange.processors) ?? parent.cpu
        if let threads = json.integer("threads", in: members, at: here, within: SettingRange.threads) {
            sandbox.threads = Int(threads)
        }
        return sandbox
    }

    private mutating func level(_ text: String, at path: JSONPath) -> SandboxSettings.Level? {
        if let level = SandboxSettings.Level(rawValue: text) { return level }
        json.report(
            .invalidValue,
            "the sandbox is \"required\", \"default\", \"learn\" or \"off\", not \"\(text.excerpt)\"",
            at: path
        )
        return nil
    }

    private mutating func places(_ key: String, in members: JSONObject, at path: JSONPath) -> [String] {
        paths(key, to: "file or a directory", "files and directories", in: members, at: path).map(\.path.absolutePath)
    }
}
