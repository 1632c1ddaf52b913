// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads the settings of composites with the policies `canary` and `shadow`.
extension ConfigurationReader {
    /// Reads how a canary divides calls.
    mutating func canary(in object: JSONObject, at path: JSONPath, _ policy: CompositePolicy?) -> CanaryPolicy {
        var canary = CanaryPolicy()
        let here = path.appending("canary")
        guard let value = object["canary"] else { return canary }
        guard case .canary? = policy else {
            if let policy {
                json.report(
                    .invalidValue,
                    "the policy \"\(policy)\" has no canary; only \"canary\" does",
                    at: here,
                    .name
                )
            }
            return canary
        }
        guard let members = json.members(of: value, at: here, allowed: CanaryPolicy.keys) else { return canary }
        canary.share = json.number("share", in: members, at: here, within: 0...100) ?? canary.share
        canary.failures = json.number("failures", in: members, at: here, within: 0...100) ?? canary.failures
        canary.slower = json.number("slower", in: members, at: here, within: 1...1_000_000) ?? canary.slower
        canary.calls =
            json.integer("calls", in: members, at: here, within: 1...1_000_000).map { Int($0) } ?? canary.calls
        if let key = json.string("key", in: members, at: here) {
            canary.key = key
            if JSONPointer(key) == nil {
                json.report(
                    .invalidValue,
                    "key is \"\(key.excerpt)\"; it must be a JSON pointer such as /userId",
                    at: here.appending("key")
                )
            }
        }
        return canary
    }

    /// Checks the number of children of a policy that tells them apart, and requires the first one.
    mutating func checkRoles(_ policy: CompositePolicy, _ children: inout [Connector], at path: JSONPath) {
        guard policy.firstIsRequired else { return }
        let count = children.count(where: \.isEnabled)
        let isCanary = policy.description == "canary"
        if isCanary ? count != 2 : count < 2, !children.isEmpty {
            json.report(
                .invalidValue,
                "the policy \"\(policy)\" needs \(isCanary ? "two" : "at least two") connectors, the one in use first, "
                    + "but \(count) \(count == 1 ? "is" : "are") enabled",
                at: path.appending("connectors"),
                .name
            )
        }
        guard let first = children.firstIndex(where: \.isEnabled), children[first].isRequired == nil else { return }
        children[first] = children[first].changing { $0.isRequired = true }
    }
}
