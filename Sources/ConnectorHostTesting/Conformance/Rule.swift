// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension PluginConformance {
    /// A rule that every plugin must keep, and how the suite checks it.
    ///
    /// Rules are added over time; none is ever renamed.
    public struct Rule: Sendable, Hashable, Identifiable {
        /// The stable name, in kebab case.
        public let id: String
        /// The level that the rule belongs to, from 1 to 10; a plugin has a level if it keeps every rule up to it.
        public let level: Int
        /// The theme, as a heading.
        public let theme: Theme
        /// What is checked, in a few words.
        public let title: String
        /// What a plugin must do.
        public let expectation: String
        /// What to do about a plugin that breaks the rule.
        public let fix: String
        /// What the check needs.
        let need: Need
        /// Whether the check looks at the whole process, so that nothing else may run in it.
        let ownsProcess: Bool
        /// Whether a plugin can reach the level without the check on a system that cannot make it.
        let isOptional: Bool
        /// Checks a plugin.
        let check: Check

        /// Runs a rule's scenario, and reports what the plugin broke.
        typealias Check = @Sendable (RuleRun) async throws -> Void

        /// What a check needs; each case includes those before it.
        enum Need: Int, Sendable, Comparable {
            /// The file, which is read but not run.
            case file
            /// An image that loads.
            case image
            /// Instances that open and complete.
            case instance
            /// A gate that is open in a host.
            case gate

            static func < (left: Need, right: Need) -> Bool { left.rawValue < right.rawValue }
        }

        init(
            _ id: String,
            level: Int,
            _ theme: Theme,
            _ title: String,
            expects expectation: String,
            fix: String,
            needs need: Need = .instance,
            ownsProcess: Bool = false,
            isOptional: Bool = false,
            check: @escaping Check
        ) {
            self.id = id
            self.level = level
            self.theme = theme
            self.title = title
            self.expectation = expectation
            self.fix = fix
            self.need = need
            self.ownsProcess = ownsProcess
            self.isOptional = isOptional
            self.check = check
        }

        /// Rules are equal if their ids are.
        public static func == (left: Rule, right: Rule) -> Bool { left.id == right.id }

        /// Hashes the id.
        public func hash(into hasher: inout Hasher) { hasher.combine(id) }

        /// What rules are about.
        public enum Theme: String, Sendable, CaseIterable {
            case manifest = "Manifest"
            case image = "Image and symbols"
            case life = "Life cycle"
            case completion = "Completion"
            case cancellation = "Cancellation and deadlines"
            case threads = "Threads"
            case errors = "Errors"
            case leaks = "Leaks"
            case process = "The host's process"
            case services = "Services, hosts and secrets"
            case operations = "Operations and payloads"
            case isolation = "Isolation"
        }
    }
}

extension PluginConformance.Rule {
    /// Every rule, by theme.
    public static let all: [PluginConformance.Rule] =
        manifestRules + imageRules + lifeRules + completionRules + cancellationRules + threadRules + errorRules
        + leakRules + processRules + serviceRules + operationRules + isolationRules

    /// The rule with an id; nil if there is none.
    public static func named(_ id: String) -> PluginConformance.Rule? { all.first { $0.id == id } }
}
