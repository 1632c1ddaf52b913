// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest

/// The findings about a plugin's file.
struct InspectionDocument: Document {
    /// The findings.
    var inspection: PluginInspection
    /// How the plugin fared in a runner; nil if that was not tried.
    var probe: PluginProbe?

    /// The inspection's own document, with the probe.
    var json: JSONValue {
        guard let probe, var object = inspection.json.object else { return inspection.json }
        object["probe"] = probe.json
        return .object(object)
    }

    func lines(_ style: TextStyle) -> [String] {
        let isLoadable = inspection.problems.isEmpty && probe?.outcome != .fails
        let mark: TextStyle.Mark = isLoadable ? .good : .bad
        let sign = style.paint(style.sign(mark), style.colour(mark))
        var lines = ["\(sign) \(style.paint(style.shown(inspection.path), .strong))"] + facts(style)
        lines += section("Operations", operations(style), style)
        lines += section("Configuration", configuration(style), style)
        lines += section("Functions", functions(style), style)
        lines += section("Libraries", libraries(style), style)
        lines += section("Symbol versions", versions(style), style)
        lines += section("Problems", inspection.problems.flatMap { problem(in: $0, style) }, style)
        lines += section("Probe", probe?.lines(style) ?? [], style)
        return lines + ["", isLoadable ? "would load here" : "would not load here"]
    }

    private func section(_ title: String, _ lines: [String], _ style: TextStyle) -> [String] {
        lines.isEmpty ? [] : ["", style.paint(title, .strong)] + lines.map { "  " + $0 }
    }

    private func facts(_ style: TextStyle) -> [String] {
        var table = Table()
        func add(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            table.append([Table.Cell("  " + name, .faint), Table.Cell(style.shown(value))])
        }
        let manifest = inspection.manifest
        add("plugin", manifest.map { "\($0.id) \($0.version)" })
        add("description", manifest?.documentation)
        add("sidecar", inspection.sidecar)
        add("language", inspection.language)
        add(
            "ABI",
            manifest.map { "version \($0.abi.lowerBound)" + ($0.abi.count > 1 ? " to \($0.abi.upperBound)" : "") }
        )
        add("thread", manifest?.thread.rawValue)
        add("services", manifest.map { services(of: $0) })
        add("uses", manifest.map { $0.uses.map(\.description).joined(separator: ", ") })
        add("egress", manifest?.egress.joined(separator: ", "))
        add("architecture", inspection.architecture)
        add("soname", inspection.soname)
        add("size", inspection.size.map { "\($0) bytes" })
        add("sha256", inspection.sha256)
        add("conformance", inspection.certificate.map { "level \($0.level), by connector-host \($0.host)" })
        return table.lines(style)
    }

    private func services(of manifest: Manifest) -> String {
        (manifest.requiredServices + manifest.optionalServices.map { "\($0) (optional)" }).joined(separator: ", ")
    }

    private func operations(_ style: TextStyle) -> [String] {
        var table = Table()
        for capability in inspection.manifest?.callable ?? [] {
            for operation in capability.operations {
                table.append([
                    Table.Cell(style.shown(capability.id.description), .faint),
                    Table.Cell(style.shown(operation.name + operation.signature.description)),
                ])
            }
        }
        return table.lines(style)
    }

    private func configuration(_ style: TextStyle) -> [String] {
        var table = Table()
        for field in inspection.manifest?.configuration ?? [] {
            var traits = [field.type.rawValue]
            if field.isRequired { traits.append("required") }
            if field.isSecret { traits.append("secret") }
            if let value = field.defaultValue { traits.append("default \(value)") }
            table.append([
                Table.Cell(style.shown(field.name)),
                Table.Cell(style.shown(traits.joined(separator: ", ")), .faint),
                Table.Cell(style.shown(field.documentation)),
            ])
        }
        return table.lines(style)
    }

    private func functions(_ style: TextStyle) -> [String] {
        var table = Table()
        for symbol in inspection.symbols {
            table.append([
                mark(symbol.isPresent, style), Table.Cell(style.shown(symbol.name)),
                Table.Cell(style.shown(symbol.role) + (symbol.isPresent ? "" : ": not exported"), .faint),
            ])
        }
        return table.lines(style)
    }

    private func libraries(_ style: TextStyle) -> [String] {
        var table = Table()
        for library in inspection.dependencies {
            let location = library.path ?? (library.isMissing ? "not on this system" : "")
            table.append([
                mark(!library.isMissing, style), Table.Cell(style.shown(library.name)),
                Table.Cell(style.shown(location)),
                Table.Cell(style.shown("needed by \(library.neededBy.split(separator: "/").last ?? "")"), .faint),
            ])
        }
        return table.lines(style)
    }

    private func versions(_ style: TextStyle) -> [String] {
        var table = Table()
        for version in inspection.symbolVersions {
            table.append([
                mark(version.isPresent ?? true, style), Table.Cell(style.shown(version.version)),
                Table.Cell(style.shown(version.library + (version.isPresent == false ? ": missing" : "")), .faint),
            ])
        }
        return table.lines(style)
    }

    private func problem(in error: ConnectorError, _ style: TextStyle) -> [String] {
        let shown = ErrorLines(error: error)
        return [style.paint(style.sign(.bad), .bad) + " " + shown.locatedHeadline(style)]
            + shown.details(style).map { "  " + $0 }
    }

    private func mark(_ isGood: Bool, _ style: TextStyle) -> Table.Cell {
        Table.Cell(style.sign(isGood ? .good : .bad), isGood ? .good : .bad)
    }
}
