// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorServices

/// What a plugin asks of its host, and what it does with secrets.
extension PluginConformance.Rule {
    static let serviceRules: [Self] = [servicesDeclared, survivesNoServices, hostsDeclared, secretsHidden]

    static let servicesDeclared: Self = Self(
        "services-declared",
        level: 3,
        .services,
        "Only declared services are asked for",
        expects: "The plugin asks for services that its manifest names.",
        fix: "add the service to \"services\" in the manifest",
        needs: .image
    ) { run in try await run.bench().lifeCycle() }

    static let survivesNoServices: Self = Self(
        "services-optional",
        level: 5,
        .services,
        "Optional services may be missing",
        expects: "An instance lives and completes on a host that lends no optional service.",
        fix: "check that service() did not return null"
    ) { run in
        let manifest = try run.manifest()
        guard !manifest.optionalServices.isEmpty else { throw RuleStop.inapplicable("there are no optional services") }
        try await run.bench().with(services: manifest.requiredServices).lifeCycle()
    }

    static let hostsDeclared: Self = Self(
        "hosts-declared",
        level: 4,
        .services,
        "Only declared hosts are reached",
        expects: "Requests go to hosts of \"egress\", and to those of the configuration's URLs.",
        fix: "add the host to \"egress\" in the manifest",
        needs: .image
    ) { run in
        let manifest = try run.manifest()
        guard (manifest.requiredServices + manifest.optionalServices).contains("http/1") else {
            throw RuleStop.inapplicable("it makes no requests")
        }
        let bench = try await run.bench(hasVendor: false)
        let declared = bench.configuration.leaf?.egress ?? []
        // Deny every request: the error names the host that it was for.
        let outcome = try await bench.with(hosts: []).lifeCycle(probing: false)
        guard case .failed(_, let message) = outcome, let host = deniedHost(in: message),
            let url = URLParts("http://\(host)"),
            !declared.contains(where: { $0.permits(host: url.host, port: url.port ?? 443) })
        else { return }
        run.report(
            hostsDeclared,
            "asked the host \(host), which neither \"egress\" nor a URL of the configuration names"
        )
    }

    /// The host in the error of a request that the host denied.
    private static func deniedHost(in message: String) -> String? {
        let words = message.split(separator: " ")
        guard let index = words.indices.dropLast(2).first(where: { words[$0] == "host" && words[$0 + 2] == "is" })
        else {
            return nil
        }
        return String(words[index + 1])
    }

    static let secretsHidden: Self = Self(
        "secrets-hidden",
        level: 9,
        .services,
        "Secrets appear nowhere",
        expects: "A key that the vendor repeats in its answer appears in no error and no evidence, in whatever form.",
        fix: "pass on what the vendor said as it is, so that the host can take secrets out; transform no answer",
        needs: .image
    ) { run in
        let manifest = try run.manifest()
        guard let field = manifest.configuration.first(where: { $0.isSecret }) else {
            throw RuleStop.inapplicable("there are no secrets")
        }
        let canary = SecretCanary()
        var options = run.options
        options.config[field.name] = field.type == .url ? nil : .string(canary.value)
        options.answers = canary.answers
        let gate: ConformanceGate
        do {
            gate = try await run.part(options).gate(mayFail: true)
        } catch RuleStop.unchecked(let reason) {
            throw RuleStop.inapplicable(reason)
        }
        var texts = gate.report.evidence.map(\.detail)
        if let error = gate.report.error { texts += [error.message, error.cause ?? "", error.fix ?? ""] }
        for text in texts {
            if let form = canary.form(in: text) {
                run.report(secretsHidden, "a text of the plugin has the key \(form)")
            }
        }
    }
}
