// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Manifest {
    /// The keys of the properties that have other names in JSON.
    private static let keys = [
        "requiredServices": "services", "optionalServices": "services", "batchCount": "batch", "batchBytes": "batch",
        "isExclusive": "exclusive",
    ]

    /// The keys whose values differ from those of another manifest, in the order of the properties; empty if the two are equal.
    ///
    /// Every stored property is compared, by reflection, so that a new one cannot be forgotten here.
    package func keys(differingFrom other: Manifest) -> [String] {
        let pairs = zip(Mirror(reflecting: self).children, Mirror(reflecting: other).children)
        return pairs.reduce(into: []) { keys, pair in
            guard let property = pair.0.label, pair.0.value as? AnyHashable != pair.1.value as? AnyHashable else {
                return
            }
            let key = Self.keys[property] ?? property
            if !keys.contains(key) { keys.append(key) }
        }
    }
}
