// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorLoading
internal import ConnectorManifest

/// What a plugin says of itself.
extension PluginConformance.Rule {
    static let manifestRules: [Self] = [
        manifest, configurable, manifestMatches, manifestABI, manifestText, manifestOperations, manifestFields,
        manifestLanguage, manifestServices, manifestEgress, manifestSecrets, manifestSafe,
    ]

    /// The image carries a readable manifest.
    public static let manifest: Self = Self(
        "manifest",
        level: 1,
        .manifest,
        "The manifest can be read",
        expects: "The image has a manifest, or a sidecar beside it has one, without a fault.",
        fix: "correct what connector-host inspect shows; connector-host reference manifest has the keys",
        needs: .file
    ) { run in
        guard let inspection = run.inspection else { throw RuleStop.inapplicable("the plugin is linked") }
        let problems = inspection.problems.filter { Fault($0) == .manifest }
        for problem in problems { run.report(manifest, problem.description) }
        if inspection.manifest == nil, problems.isEmpty {
            run.report(manifest, inspection.problems.first?.description ?? "there is no manifest")
        }
    }

    /// The configuration given to the suite fits the manifest.
    public static let configuration = configurable

    private static let configurable: Self = Self(
        "configuration",
        level: 1,
        .manifest,
        "The configuration fits the manifest",
        expects:
            "The given configuration fits the manifest; for fields that it lacks, the plugin takes made-up values.",
        fix: "pass what the plugin needs: --config JSON, or PluginConformance.Options(config:)",
        needs: .image
    ) { run in _ = try await run.bench(hasVendor: false) }

    static let manifestMatches: Self = Self(
        "manifest-sidecar",
        level: 1,
        .manifest,
        "The sidecar says what the image says",
        expects: "A sidecar beside an image has the manifest of the image.",
        fix: "build the image again, or remove the sidecar",
        needs: .file
    ) { run in try Fault.mismatch.report(as: manifestMatches, run) }

    static let manifestABI: Self = Self(
        "manifest-abi",
        level: 1,
        .manifest,
        "The ABI is one that this host speaks",
        expects: "The range \"abi\" of the manifest has a version of this host.",
        fix: "compile with the headers of this host",
        needs: .file
    ) { run in try Fault.abi.report(as: manifestABI, run) }

    static let manifestText: Self = Self(
        "manifest-documentation",
        level: 6,
        .manifest,
        "The plugin says what it is",
        expects: "\"documentation\" is a sentence.",
        fix: "add \"documentation\" to the manifest",
        needs: .file
    ) { run in
        if try run.manifest().documentation.isEmpty { run.report(manifestText, "there is no \"documentation\"") }
    }

    static let manifestOperations: Self = Self(
        "manifest-operations",
        level: 6,
        .manifest,
        "Each operation says what it does",
        expects: "Each operation has a \"documentation\"; those of standard capabilities have one already.",
        fix: "add \"documentation\" to the operation",
        needs: .file
    ) { run in
        let manifest = try run.manifest()
        guard !manifest.capabilities.isEmpty else { throw RuleStop.inapplicable("there are no operations") }
        for capability in manifest.capabilities where CapabilityDefinition.standard(capability.id) == nil {
            for operation in capability.operations where operation.documentation.isEmpty {
                run.report(manifestOperations, "\(capability.id) \(operation.name) has no \"documentation\"")
            }
        }
    }

    static let manifestFields: Self = Self(
        "manifest-fields",
        level: 6,
        .manifest,
        "Each field of the configuration says what it is for",
        expects: "Each field has a \"documentation\".",
        fix: "add \"documentation\" to the field",
        needs: .file
    ) { run in
        let fields = try run.manifest().configuration
        guard !fields.isEmpty else { throw RuleStop.inapplicable("there are no fields") }
        for field in fields where field.documentation.isEmpty {
            run.report(manifestFields, "the field \(field.name) has no \"documentation\"")
        }
    }

    static let manifestLanguage: Self = Self(
        "manifest-language",
        level: 7,
        .manifest,
        "The plugin says its language",
        expects: "\"language\" names the language of the source, for those who read a crash.",
        fix: "add \"language\" to the manifest",
        needs: .file
    ) { run in
        if (try run.manifest().language ?? "").isEmpty { run.report(manifestLanguage, "there is no \"language\"") }
    }

    static let manifestServices: Self = Self(
        "manifest-services",
        level: 2,
        .manifest,
        "The required services are there",
        expects: "Hosts of this version lend every service that the manifest requires.",
        fix: "move the service to \"optional\", and do without it",
        needs: .file
    ) { run in
        for service in try run.manifest().requiredServices
        where !Manifest.hostServices.contains(service) && service != "gates/1" {
            run.report(manifestServices, "it requires \(service), which no host of this version lends")
        }
    }

    static let manifestEgress: Self = Self(
        "manifest-hosts",
        level: 4,
        .manifest,
        "The hosts are declared",
        expects: "A plugin with http/1 names the hosts that it reaches, or has them from a field of type url.",
        fix: "add \"egress\" to the manifest: names, or {field}",
        needs: .file
    ) { run in
        let manifest = try run.manifest()
        guard (manifest.requiredServices + manifest.optionalServices).contains("http/1") else {
            throw RuleStop.inapplicable("it makes no requests")
        }
        let hasURL = manifest.configuration.contains { $0.type == .url || $0.isSecret }
        if manifest.egress.isEmpty, !hasURL {
            run.report(manifestEgress, "it uses http/1, and no \"egress\" says which hosts it reaches")
        }
    }

    static let manifestSecrets: Self = Self(
        "manifest-secrets",
        level: 4,
        .manifest,
        "Fields for keys are secret",
        expects: "A field whose name says password, secret, token or key is marked \"secret\".",
        fix: "add \"secret\": true to the field, and send {{secret:NAME}}; "
            + "without http/1, take the path of a file instead",
        needs: .file
    ) { run in
        for field in try run.manifest().configuration where !field.isSecret && field.type == .string {
            let name = field.name.lowercased()
            let words = ["password", "passwd", "secret", "token", "apikey", "api_key", "privatekey", "accesskey"]
            if words.contains(where: { name.hasSuffix($0) }) {
                run.report(manifestSecrets, "the field \(field.name) is not marked \"secret\"")
            }
        }
    }

    static let manifestSafe: Self = Self(
        "manifest-safe",
        level: 8,
        .manifest,
        "Operations that only read are marked",
        expects: "An operation named get, list, read, find, query, head or search is marked \"safe\".",
        fix: "add \"safe\": true to the operation, or rename it",
        needs: .file
    ) { run in
        let readers: Set<String> = ["get", "list", "read", "find", "query", "head", "search"]
        let capabilities = try run.manifest().capabilities
        guard capabilities.contains(where: { $0.operations.contains { readers.contains($0.name) } }) else {
            throw RuleStop.inapplicable("no operation has such a name")
        }
        for capability in capabilities {
            for operation in capability.operations where readers.contains(operation.name) && !operation.isSafe {
                run.report(manifestSafe, "\(capability.id) \(operation.name) is not marked \"safe\"")
            }
        }
    }
}
