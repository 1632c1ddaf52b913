// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

/// What the checks of the rules found.
package struct ConformanceReport: Sendable {
    /// The result of one rule.
    package struct Result: Sendable {
        /// The rule.
        package var rule: PluginConformance.Rule
        /// How the check ended.
        package var verdict: Verdict
        /// What the plugin did, for a broken rule.
        package var got: [String] = []
        /// The id of the rule whose check found it, if that is another one.
        package var foundBy: String?
        /// The last calls before the process ended, oldest first.
        package var calls: [String] = []
        /// How the process crashed; nil if it did not.
        package var crash: CrashNote?
        /// How long the check took.
        package var duration: Duration = .zero

        /// A result without details.
        package init(_ rule: PluginConformance.Rule, _ verdict: Verdict) {
            self.rule = rule
            self.verdict = verdict
        }
    }

    /// How the check of a rule ended.
    package enum Verdict: Sendable, Equatable {
        case kept
        case broken
        /// The process that checked the rule ended.
        case crashed
        /// The rule says nothing about this plugin.
        case inapplicable(String)
        /// The rule could not be checked.
        case unchecked(String)

        /// Whether the plugin breaks the rule.
        package var isFailure: Bool { self == .broken || self == .crashed }
    }

    /// The plugin's file.
    package var path: String
    /// The plugin's id and version; nil without a manifest.
    package var plugin: String?
    /// The SHA-256 of the image, in hexadecimal.
    package var sha256: String?
    /// The seed of generated values.
    package var seed: UInt64
    /// The level that was asked for.
    package var strict: Int
    /// The results, in the order of the rules.
    package var results: [Result]
    /// How long everything took.
    package var duration: Duration

    /// Creates a report.
    package init(
        path: String,
        plugin: String?,
        sha256: String?,
        seed: UInt64,
        strict: Int,
        results: [Result],
        duration: Duration
    ) {
        self.path = path
        self.plugin = plugin
        self.sha256 = sha256
        self.seed = seed
        self.strict = strict
        self.results = results
        self.duration = duration
    }

    /// The level that the plugin has, at most the one that was asked for.
    ///
    /// It is one below the lowest level of a rule that the plugin breaks, or that was required and not checked; 0 if it keeps no rule.
    package var level: Int {
        guard results.contains(where: { $0.verdict == .kept }) else { return 0 }
        let limits = results.compactMap { result -> Int? in
            switch result.verdict {
            case .kept, .inapplicable: nil
            case .broken, .crashed: result.rule.level - 1
            case .unchecked: result.rule.mayBeUnchecked ? nil : result.rule.level - 1
            }
        }
        return min(strict, limits.min() ?? strict)
    }

    /// Whether the results cover every rule up to the level that was asked for; a selection of rules gives no level.
    package var isWhole: Bool {
        let rules = Set(results.map(\.rule))
        return PluginConformance.Rule.all.allSatisfy { $0.level > strict || rules.contains($0) }
    }

    /// Whether the plugin has the level that was asked for.
    package var isPassed: Bool { level >= strict }

    /// The number of rules whose verdict satisfies a condition.
    package func count(where isCounted: (Verdict) -> Bool) -> Int { results.count { isCounted($0.verdict) } }

    /// Adds what the check of one rule found about that rule and about others.
    package mutating func add(_ result: Result, _ answer: RuleAnswer?) {
        var result = result
        for broken in answer?.broken ?? [] {
            if broken.rule == result.rule.id {
                if !result.verdict.isFailure { result.verdict = .broken }
                result.got.append(broken.got)
            } else {
                mark(broken, foundBy: result.rule.id)
            }
        }
        if let index = results.firstIndex(where: { $0.rule == result.rule }) {
            // An earlier check may have found the rule broken already.
            let known = results[index]
            if known.verdict == .broken, !result.verdict.isFailure {
                result.verdict = .broken
                result.foundBy = known.foundBy
            }
            result.got = known.got + result.got.filter { !known.got.contains($0) }
            results[index] = result
        }
    }

    private mutating func mark(_ broken: RuleAnswer.Broken, foundBy id: String) {
        guard let index = results.firstIndex(where: { $0.rule.id == broken.rule }) else { return }
        if !results[index].verdict.isFailure {
            results[index].verdict = .broken
            results[index].foundBy = id
        }
        if !results[index].got.contains(broken.got) { results[index].got.append(broken.got) }
    }
}
