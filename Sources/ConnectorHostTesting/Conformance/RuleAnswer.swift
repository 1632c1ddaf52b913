// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// What the check of one rule found, in the form in which the checking process passes it on.
package struct RuleAnswer: Sendable, Hashable {
    /// A broken rule: often the one that was checked, sometimes another one broken on the way.
    package struct Broken: Sendable, Hashable {
        /// The id of the rule.
        package var rule: String
        /// What the plugin did.
        package var got: String
    }

    /// Every broken rule, once for each way it was broken.
    package var broken: [Broken]
    /// Why the rule says nothing about this plugin; nil if it does.
    package var inapplicable: String?
    /// Why the rule could not be checked; nil if it was.
    package var unchecked: String?

    /// How the check of the rule ended, broken rules aside.
    package var verdict: ConformanceReport.Verdict {
        if let unchecked { return .unchecked(unchecked) }
        return inapplicable.map { .inapplicable($0) } ?? .kept
    }

    /// Reads a document that ``json`` made; nil for any other value.
    package init?(_ json: JSONValue) {
        guard let broken = json["broken"]?.array else { return nil }
        self.broken = broken.compactMap { entry in
            guard let rule = entry["rule"]?.string, let got = entry["got"]?.string else { return nil }
            return Broken(rule: rule, got: got)
        }
        inapplicable = json["inapplicable"]?.string
        unchecked = json["unchecked"]?.string
    }

    init(_ findings: [PluginConformance.Finding], _ outcome: PluginConformance.Rule.Outcome) {
        broken = findings.map { Broken(rule: $0.rule.id, got: $0.message) }
        switch outcome {
        case .finished: break
        case .inapplicable(let reason): inapplicable = reason
        case .unchecked(let reason): unchecked = reason
        }
    }

    /// The answer as a document.
    package var json: JSONValue {
        var object: JSONObject = [
            "broken": .array(broken.map { ["rule": .string($0.rule), "got": .string($0.got)] })
        ]
        object["inapplicable"] = inapplicable.map(JSONValue.string)
        object["unchecked"] = unchecked.map(JSONValue.string)
        return .object(object)
    }
}

extension PluginConformance {
    /// Checks one rule in this process.
    ///
    /// - Parameters:
    ///   - path: The path of an image, or of a sidecar that names one.
    ///   - trace: A file to which each call is appended before it is made; nil for none.
    package static func check(
        _ rule: Rule,
        of path: String,
        options: Options,
        trace: String? = nil
    ) async -> RuleAnswer {
        let run = RuleRun(.file(path), options, trace: trace.map(RuleTrace.init(file:)) ?? .none)
        let outcome = await rule.run(run)
        return RuleAnswer(run.findings, outcome)
    }
}

extension PluginConformance.Rule {
    /// When the command checks a rule. A stage begins only if the plugin kept the rules of the stages before.
    package enum Stage: Int, Sendable, CaseIterable {
        /// The file is read, and nothing of it runs.
        case file
        /// The image is loaded.
        case loading
        /// An instance is created and opened.
        case opening
        /// Everything else.
        case living
    }

    /// The stage of the rule.
    package var stage: Stage {
        if need == .file { return .file }
        if self == .loads { return .loading }
        return self == .opens || self == .creates || self == .configuration ? .opening : .living
    }

    /// Whether the check needs a gate that opens.
    package var needsOpening: Bool { need > .image }

    /// Whether a plugin can reach the level without the check on a system that cannot make it.
    package var mayBeUnchecked: Bool { isOptional }
}
