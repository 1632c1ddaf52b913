// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorLoading
internal import ConnectorManifest

/// The page of a plugin, which is written by hand except for a part between two marks, made from the manifest.
struct PluginPage {
    /// The plugin's manifest.
    let manifest: Manifest

    private static let begin = "<!-- manifest -->"
    private static let end = "<!-- /manifest -->"

    /// Reads the manifest from a file, which is a manifest as JSON or an image.
    ///
    /// - Throws: `invalid-manifest`, or the error of a file that cannot be read.
    init(of file: String) throws(ConnectorError) {
        if file.hasSuffix(".json") {
            manifest = try Manifest(parsing: SmallFile(reading: file, limit: Manifest.sizeLimit).bytes, file: file)
            return
        }
        let inspection = PluginInspection(path: file)
        guard let manifest = inspection.manifest else {
            throw inspection.problems.first ?? ConnectorError(.invalidManifest, "\(file.excerpt) has no manifest")
        }
        self.manifest = manifest
    }

    /// The page's file name.
    var name: String { "\(manifest.id).md" }

    /// The page of a plugin that has none yet.
    var text: String {
        "# \(manifest.id)\n\n\(manifest.documentation.inMarkdown)\n\n\(part)\n"
    }

    /// A page with the part from the manifest up to date and everything else unchanged.
    ///
    /// - Throws: `invalid-value` if the page lacks the marks.
    func updated(_ page: String, file: String) throws(ConnectorError) -> String {
        guard let start = page.firstRange(of: Self.begin), let stop = page[start.upperBound...].firstRange(of: Self.end)
        else {
            throw ConnectorError(
                .invalidValue,
                "\(file.excerpt) has no place for what the manifest says",
                fix: "write \"\(Self.begin)\" and \"\(Self.end)\" where it is to stand, each on a line of its own"
            )
        }
        return page[..<start.lowerBound] + part + page[stop.upperBound...]
    }

    /// The part from the manifest, between the marks.
    private var part: String {
        let rows = facts.map { MarkdownTable.row([$0.name, $0.text]) }
        let fields = manifest.configuration.map { field in
            let marks = [field.isRequired ? "required" : nil, field.isSecret ? "secret" : nil].compactMap(\.self)
            let name = "`\(field.name)`" + (marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))")
            let cells = [name, field.kind, field.documentation, field.defaultValue.map { "`\($0)`" } ?? ""]
            return MarkdownTable.row(cells)
        }
        let tables =
            ["| | |\n|---|---|\n" + rows.joined(separator: "\n")]
            + (fields.isEmpty
                ? []
                : ["| in `config` | value | meaning | default |\n|---|---|---|---|\n" + fields.joined(separator: "\n")])
        return "\(Self.begin)\n\n\(tables.joined(separator: "\n\n"))\n\n\(Self.end)"
    }

    private var facts: [(name: String, text: String)] {
        var facts = [("version", "\(manifest.version)")]
        facts += manifest.callable.map { capability in
            let standard = CapabilityDefinition.standard(capability.id)?.operations.map(\.name) ?? []
            let names = capability.operations.map(\.name)
            let missing = standard.filter { !names.contains($0) }
            var text = "`\(capability.id)`: \(Self.list(names))"
            if !missing.isEmpty { text += "; not \(Self.list(missing))" }
            return ("capability", text)
        }
        let hosts = manifest.egress.map { host in
            host.hasPrefix("{") ? "the host of `\(host.dropFirst().dropLast())`" : "`\(host)`"
        }
        if !hosts.isEmpty { facts.append(("sends to", hosts.joined(separator: ", ") + ", and nowhere else")) }
        let optional =
            manifest.optionalServices.isEmpty ? "" : "; if the host has them, \(Self.list(manifest.optionalServices))"
        if !manifest.requiredServices.isEmpty || !optional.isEmpty {
            facts.append(("services", Self.list(manifest.requiredServices) + optional))
        }
        facts += manifest.uses.map { ("uses", "`\($0.name)`: `\($0.capability)`") }
        let bounds = [
            manifest.batchCount.map { "\($0) events" }, manifest.batchBytes.map { "\($0) bytes" },
        ].compactMap(\.self)
        if !bounds.isEmpty { facts.append(("one delivery", "at most \(bounds.joined(separator: ", "))")) }
        return facts
    }

    private static func list(_ names: [String]) -> String {
        names.map { "`\($0)`" }.joined(separator: ", ")
    }
}

extension ConfigurationField {
    /// The kind of value, in a few words.
    fileprivate var kind: String {
        guard allowedValues.isEmpty else { return allowedValues.map { "`\($0)`" }.joined(separator: ", ") }
        func text(_ bound: Double) -> String { Int64(exactly: bound).map { "\($0)" } ?? "\(bound)" }
        return switch (minimum, maximum) {
        case (let low?, let high?): "\(type.rawValue), \(text(low)) to \(text(high))"
        case (let low?, nil): "\(type.rawValue) from \(text(low))"
        case (nil, let high?): "\(type.rawValue) to \(text(high))"
        case (nil, nil): type.rawValue
        }
    }
}
