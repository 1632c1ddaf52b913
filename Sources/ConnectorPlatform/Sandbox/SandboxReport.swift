// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The layers that hold, as a process found from inside the sandbox.
public struct SandboxReport: Sendable, Equatable {
    /// The outcome of each layer, once.
    public var outcomes: [SandboxOutcome]
    /// The attempts at what is forbidden.
    public var attempts: [SandboxAttempt]

    /// Creates a report.
    public init(outcomes: [SandboxOutcome], attempts: [SandboxAttempt] = []) {
        self.outcomes = outcomes
        self.attempts = attempts
    }

    /// Whether every layer holds, with nothing missing, and everything that was tried was refused.
    public var isWhole: Bool { faults.isEmpty }

    /// What is missing, as people read it.
    public var faults: [String] {
        var faults = outcomes.compactMap { outcome in
            if !outcome.holds { return "no \(outcome.layer.name) (\(outcome.detail))" }
            return outcome.detail.isEmpty ? nil : outcome.detail
        }
        let possible = attempts.filter { $0.refusal == nil }.map(\.name)
        if !possible.isEmpty { faults.append("possible: " + possible.joined(separator: ", ")) }
        return faults
    }

    /// One line for reports and logs: `sandbox: filter, landlock 7, namespaces`, and what is missing.
    public var evidence: String {
        let named: [SandboxLayer] = [.filter, .landlock, .namespaces]
        let held = outcomes.filter { $0.holds && named.contains($0.layer) }.map { outcome in
            outcome.layer == .landlock ? "\(outcome.layer.name) \(outcome.version)" : outcome.layer.name
        }
        let layers = held.isEmpty ? "none" : held.joined(separator: ", ")
        return "sandbox: " + ([layers] + faults).joined(separator: "; ")
    }
}
