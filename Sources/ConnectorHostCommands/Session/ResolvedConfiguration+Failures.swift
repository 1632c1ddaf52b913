// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

extension ResolvedConfiguration {
    /// What is probably a mistake in the fields of leaves, although they are valid, and which sources of secrets are passed
    /// over, in the order of the leaves' paths.
    var warnings: [String] {
        leaves.sorted { $0.key < $1.key }.flatMap { path, leaf in
            let plan = try? leaf.get()
            let warnings = (plan?.warnings ?? []) + [plan?.fault?.warning].compactMap(\.self)
            return warnings.map { "\(path): \($0)" }
        }
    }

    /// The error of the first leaf, at or below a connector, that cannot be used; nil if all can.
    func failure(at path: String) -> ConnectorError? {
        let placed = configuration.leaves(placedAt: path)
        let failing = leaves.filter { $0.key == path || $0.key.hasPrefix(path + "/") || placed.contains($0.key) }
            .sorted { $0.key < $1.key }
        for (path, leaf) in failing {
            guard case .failure(var error) = leaf else { continue }
            error.connector = error.connector ?? path
            return error
        }
        return nil
    }
}
