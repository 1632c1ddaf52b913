// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension PluginConformance {
    /// A rule that a plugin broke, and how.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// Which rule.
        public var rule: Rule
        /// What the plugin did, and what it should have done.
        public var message: String

        init(_ rule: Rule, _ message: String) {
            self.rule = rule
            self.message = message
        }

        /// The rule and the message in one line.
        public var description: String { "\(rule.rawValue): \(message)" }
    }

    /// Something that the ABI asks of every plugin.
    ///
    /// A struct, so that rules can be added without breaking a `switch` elsewhere.
    public struct Rule: RawRepresentable, Sendable, Hashable {
        /// The stable name, in kebab case.
        public var rawValue: String

        /// Any text names a rule; the known ones are static members.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }
}

extension PluginConformance.Rule {
    /// The image carries a manifest that can be read, and passes preflight.
    public static let manifest = Self(rawValue: "manifest")
    /// The configuration that the suite was given fits the manifest.
    public static let configuration = Self(rawValue: "configuration")
    /// The dynamic linker takes the image, and its entry function returns a good table.
    public static let loading = Self(rawValue: "loading")
    /// Every function that the manifest names is exported.
    public static let symbols = Self(rawValue: "symbols")
    /// `create` makes an instance, or says why not and leaves none.
    public static let creation = Self(rawValue: "creation")
    /// A failure carries a status of `connector/error.h`, the same in the error object, and a message in UTF-8.
    public static let errors = Self(rawValue: "errors")
    /// What `open` and `probe` complete with is evidence.
    public static let evidence = Self(rawValue: "evidence")
    /// Every call that was taken on completes exactly once, and one that was refused never does.
    public static let completion = Self(rawValue: "completion")
    /// Functions return; none holds the thread.
    public static let blocking = Self(rawValue: "blocking")
    /// `cancel` can be called at any time, any number of times.
    public static let cancellation = Self(rawValue: "cancellation")
    /// After `destroy` returned nothing of the instance calls the host.
    public static let destruction = Self(rawValue: "destruction")
    /// Standard output belongs to the application.
    public static let standardOutput = Self(rawValue: "standard-output")
}
