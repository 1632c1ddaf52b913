// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorDigest

/// Reads whom the host trusts with plugins.
extension ConfigurationReader {
    private static let levels = ["warn", "strict"]

    /// Reads whether plugins that other users can modify, or that are unsigned, are refused; and who may sign them.
    mutating func trust(in object: JSONObject) -> (isRequired: Bool, keys: [MinisignKey]) {
        let here = JSONPath().appending("trust")
        switch object["trust"] {
        case nil: return (false, [])
        case .string(let level)?: return (requiresTrust(level, at: here), [])
        case .object?: break
        case let value?:
            json.report(.wrongType, "trust must be \"warn\", \"strict\" or an object, not \(value.kind)", at: here)
            return (false, [])
        }
        let allowed = ["level", "keys"]
        guard let members = object["trust"].flatMap({ json.members(of: $0, at: here, allowed: allowed) }) else {
            return (false, [])
        }
        let level = json.string("level", in: members, at: here)
        let texts = json.strings("keys", in: members, at: here)
        var keys: [MinisignKey] = []
        for (index, text) in texts.enumerated() {
            guard let key = MinisignKey(text) else {
                json.report(
                    .invalidValue,
                    "\"\(text.excerpt)\" is not a public key of minisign",
                    fix: "copy the second line of the file NAME.pub, which begins with RW",
                    at: here.appending("keys").appending(index)
                )
                continue
            }
            keys.append(key)
        }
        return (level.map { requiresTrust($0, at: here.appending("level")) } ?? false, keys)
    }

    private mutating func requiresTrust(_ level: String, at path: JSONPath) -> Bool {
        if !Self.levels.contains(level) {
            json.report(.invalidValue, "\(json.name(of: path)) must be \"warn\" or \"strict\"", at: path)
        }
        return level == "strict"
    }
}
