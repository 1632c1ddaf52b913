// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension PluginConformance {
    /// A broken rule, and how the plugin broke it.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The rule.
        public var rule: Rule
        /// What the plugin did.
        public var message: String

        init(_ rule: Rule, _ message: String) {
            self.rule = rule
            self.message = message
        }

        /// The rule and the message in one line.
        public var description: String { "\(rule.id): \(message)" }
    }
}
