// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration

extension Tree {
    /// The enabled connectors, each once, and the paths that lead to them.
    struct Outline {
        /// Parents before their own children, in the order of the file.
        private(set) var connectors: [Connector] = []
        /// Whether each connector, with everything above it, is required at any of its places.
        private(set) var isRequired: [Bool] = []
        /// The index of each path.
        private(set) var indices: [String: Int] = [:]
        /// The further paths of leaves.
        private(set) var places: [Int: [String]] = [:]
        private var further: [(connector: Connector, target: String, isRequired: Bool)] = []

        /// Adds the enabled connectors among siblings, and everything below them.
        mutating func add(_ siblings: [Connector], under policy: CompositePolicy?, isRequired isParentRequired: Bool) {
            for connector in siblings where connector.isEnabled {
                let isRequired = isParentRequired && connector.isRequired(under: policy)
                if let target = connector.same {
                    further.append((connector, target, isRequired))
                    continue
                }
                indices[connector.path] = connectors.count
                connectors.append(connector)
                self.isRequired.append(isRequired)
                add(connector.children, under: connector.policy, isRequired: isRequired)
            }
        }

        /// Adds the further places of leaves. A leaf that is disabled at its own place has no others.
        mutating func addPlaces() {
            for (connector, target, isRequired) in further {
                guard let index = indices[target] else { continue }
                indices[connector.path] = index
                places[index, default: []].append(connector.path)
                self.isRequired[index] = self.isRequired[index] || isRequired
            }
        }

        /// The enabled connectors among siblings, each once, and those that their parent requires.
        func children(_ siblings: [Connector], of policy: CompositePolicy?) -> (indices: [Int], required: Set<Int>) {
            var children: [Int] = []
            var seen: Set<Int> = []
            var required: Set<Int> = []
            for connector in siblings where connector.isEnabled {
                guard let index = indices[connector.path] else { continue }
                if seen.insert(index).inserted { children.append(index) }
                if connector.isRequired(under: policy) { required.insert(index) }
            }
            return (children, required)
        }
    }
}
