// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorManifest

/// The same plugin in a process of its own, and in a sandbox.
extension PluginConformance.Rule {
    static let isolationRules: [Self] = [opensInRunner, answersInRunner, opensInSandbox]

    static let opensInRunner: Self = Self(
        "runner-opens",
        level: 8,
        .isolation,
        "The gate opens in a runner as in the host",
        expects: "With \"isolation\": \"process\", the gate opens with the same kinds of evidence.",
        fix: "use nothing of the host's process, such as its environment variables or open descriptors",
        needs: .gate,
        isOptional: true
    ) { run in
        let here = try await run.gate(isIsolated: false)
        let there = try await run.gate(isIsolated: true, sandbox: "off", mayFail: true)
        try compare(here, there, opensInRunner, "in a runner", run)
    }

    static let answersInRunner: Self = Self(
        "runner-answers",
        level: 8,
        .isolation,
        "Operations answer in a runner as in the host",
        expects: "The first operation that may be called ends in a runner as it does in the host.",
        fix: "use nothing of the host's process, such as its environment variables or open descriptors",
        needs: .gate,
        isOptional: true
    ) { run in
        let here = try await run.gate(isIsolated: false)
        guard let (capability, operation) = here.callable.first(where: { $0.operation.signature.parameters.isEmpty })
        else { throw RuleStop.inapplicable("there is no operation without parameters that may be called") }
        let there = try await run.gate(isIsolated: true, sandbox: "off", mayFail: true)
        guard there.report.state == .open else { throw RuleStop.inapplicable("the gate does not open in a runner") }
        let name = here.name(capability, operation)
        let (first, second) = (await code(of: name, here), await code(of: name, there))
        if first != second {
            run.report(answersInRunner, "\(name) ended with \(first) here, and with \(second) in a runner")
        }
    }

    static let opensInSandbox: Self = Self(
        "sandbox-opens",
        level: 9,
        .isolation,
        "The gate opens in the sandbox",
        expects: "With the default sandbox, without files and network of its own, the gate opens as in the host.",
        fix: "use the services of the host for requests and storage, or say in docs what the sandbox must allow",
        needs: .gate,
        isOptional: true
    ) { run in
        let here = try await run.gate(isIsolated: false)
        let there = try await run.gate(isIsolated: true, sandbox: "default", mayFail: true)
        try compare(here, there, opensInSandbox, "in the sandbox", run)
    }

    private static func compare(
        _ here: ConformanceGate,
        _ there: ConformanceGate,
        _ rule: Self,
        _ place: String,
        _ run: RuleRun
    ) throws {
        guard there.report.state == .open else {
            let error = there.report.error
            if error?.code == .notFound, error?.message.contains("connector-runner") == true {
                throw RuleStop.unchecked(error?.description ?? "")
            }
            run.report(rule, "the gate opens here, but not \(place): \(error?.description ?? "no reason")")
            return
        }
        let kinds = (Set(here.report.evidence.map(\.kind)), Set(there.report.evidence.map(\.kind)))
        if kinds.0 != kinds.1 {
            let (first, second) = (kinds.0.map(\.rawValue).sorted(), kinds.1.map(\.rawValue).sorted())
            run.report(rule, "the evidence is \(first) here, and \(second) \(place)")
        }
    }

    private static func code(of name: String, _ gate: ConformanceGate) async -> String {
        do throws(ConnectorError) {
            _ = try await gate.client.call(name)
            return "a result"
        } catch {
            return "\(error.code)"
        }
    }
}
