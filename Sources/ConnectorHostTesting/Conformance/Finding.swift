// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension PluginConformance {
    /// A broken rule, and how the plugin broke it.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The rule.
        public var rule: Rule
        /// What the plugin did, and what the rule requires.
        public var message: String

        init(_ rule: Rule, _ message: String) {
            self.rule = rule
            self.message = message
        }

        /// The rule and the message in one line.
        public var description: String { "\(rule.rawValue): \(message)" }
    }

    /// A rule that the ABI sets for every plugin.
    ///
    /// A struct, so that rules can be added without breaking a `switch` elsewhere.
    public struct Rule: RawRepresentable, Sendable, Hashable {
        /// The stable name, in kebab case.
        public var rawValue: String

        /// Accepts any text; the known rules are static members.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }
}

extension PluginConformance.Rule {
    /// The image carries a readable manifest and passes preflight.
    public static let manifest = Self(rawValue: "manifest")
    /// The configuration given to the suite fits the manifest.
    public static let configuration = Self(rawValue: "configuration")
    /// The dynamic linker loads the image, and its entry function returns a valid table.
    public static let loading = Self(rawValue: "loading")
    /// The image exports every function that the manifest names.
    public static let symbols = Self(rawValue: "symbols")
    /// `create` returns an instance, or fails and leaves none.
    public static let creation = Self(rawValue: "creation")
    /// A failure has a status of `connector/error.h`, the same status in the error object, and a message in UTF-8.
    public static let errors = Self(rawValue: "errors")
    /// `open` and `probe` complete with evidence.
    public static let evidence = Self(rawValue: "evidence")
    /// Every accepted call completes exactly once, and a refused call never completes.
    public static let completion = Self(rawValue: "completion")
    /// Functions return promptly and never block the thread.
    public static let blocking = Self(rawValue: "blocking")
    /// `cancel` can be called at any time, any number of times.
    public static let cancellation = Self(rawValue: "cancellation")
    /// Once `destroy` has returned, the instance never calls the host.
    public static let destruction = Self(rawValue: "destruction")
    /// The plugin writes nothing to standard output, which belongs to the application.
    public static let standardOutput = Self(rawValue: "standard-output")
    /// The operations follow the contract of their standard capability.
    public static let capability = Self(rawValue: "capability")
}
