// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest

/// The settings of circuit breakers.
extension ConfigurationReader {
    /// Reads the circuit breaker of a gate; without a setting, that of the composite above applies.
    mutating func breaker(in object: JSONObject, at path: JSONPath, below parent: BreakerPolicy?) -> BreakerPolicy? {
        guard let value = object["breaker"] else { return parent }
        guard value.string != "off" else { return nil }
        let here = path.appending("breaker")
        guard case .object = value else {
            json.report(
                value.string == nil ? .wrongType : .invalidValue,
                "breaker must be \"off\" or an object, not \(value.string.map { "\"\($0.excerpt)\"" } ?? value.kind)",
                fix: "write {\"failures\": 5, \"window\": \"60s\", \"probe\": \"10s\"}, or \"off\"",
                at: here
            )
            return parent
        }
        guard let members = json.members(of: value, at: here, allowed: ["failures", "window", "probe"]) else {
            return parent
        }
        var policy = parent ?? BreakerPolicy()
        if let failures = json.integer("failures", in: members, at: here, within: SettingRange.failures) {
            policy.failures = Int(failures)
        }
        policy.window = duration("window", in: members, at: here) ?? policy.window
        policy.probe = duration("probe", in: members, at: here) ?? policy.probe
        return policy
    }
}
