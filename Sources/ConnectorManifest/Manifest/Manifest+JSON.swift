// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension Manifest {
    /// Reads a manifest, and throws its first problem.
    ///
    /// - Parameters:
    ///   - text: The bytes of the note or the sidecar.
    ///   - file: The file that error positions name.
    /// - Throws: A ``ConnectorError`` of code `invalid-manifest` or `signature-mismatch`.
    public init(parsing text: [UInt8], file: String = "") throws(ConnectorError) {
        let (manifest, problems) = Self.read(text, file: file)
        guard let manifest, problems.isEmpty else {
            throw problems.first ?? ConnectorError(.invalidManifest, "the manifest cannot be read")
        }
        self = manifest
    }

    /// Reads a manifest, and returns all its problems.
    package static func read(_ text: [UInt8], file: String) -> (manifest: Manifest?, problems: [ConnectorError]) {
        guard text.count <= sizeLimit else {
            let problem = ConnectorError(
                .invalidManifest,
                "the manifest has more than \(sizeLimit >> 10) KiB",
                fix: "shorten its descriptions, or make several plugins of it",
                position: FilePosition(file: file, line: 1, column: 1)
            )
            return (nil, [problem])
        }
        do throws(ConnectorError) {
            let value = try JSONValue(parsing: text, file: file)
            var reader = JSONReader(text: text, file: file)
            let manifest = reader.manifest(value)
            let problems = reader.problems.map { problem in
                var problem = problem
                problem.quoteLine(of: text)
                guard problem.code != .signatureMismatch, problem.code != .unsupported else { return problem }
                problem.message = "\(problem.message) (\(problem.code))"
                problem.code = .invalidManifest
                return problem
            }
            return (manifest, problems)
        } catch {
            var problem = error
            problem.code = .invalidManifest
            if let position = error.position, let field = JSONPath(around: position, in: text) {
                problem.message += ", in \(field.description.excerpt)"
            }
            problem.quoteLine(of: text)
            return (nil, [problem])
        }
    }
}

extension JSONReader {
    private static let manifestKeys = [
        "manifest", "id", "version", "abi", "entry", "documentation", "language", "thread", "capabilities",
        "configuration", "services", "uses", "scenes", "egress", "batch", "library", "lifecycle", "swiftType",
        "exclusive",
    ]

    /// Reads the root of a manifest; nil if an essential member is missing.
    fileprivate mutating func manifest(_ value: JSONValue) -> Manifest? {
        let root = JSONPath()
        guard let object = members(of: value, at: root, allowed: Self.manifestKeys) else { return nil }
        if let format = integer("manifest", in: object, at: root, required: true, within: 1...Int64(UInt32.max)),
            format != Manifest.formatVersion
        {
            report(
                .invalidValue,
                "the manifest's format is \(format), this host reads \(Manifest.formatVersion)",
                at: root.appending("manifest")
            )
        }
        let id = identifier("id", in: object, at: root)
        let version = version(in: object, at: root)
        let library = library(in: object, at: root)
        let entry = string("entry", in: object, at: root, required: object["library"] == nil)
        if let entry { checkSymbol(entry, at: root.appending("entry")) }
        // Without either, the entry was forgotten: report only that.
        let isForeign = entry == nil && object["library"] != nil
        let abi = abi(in: object, at: root)
        let services = self.object("services", in: object, at: root) ?? JSONObject()
        let servicesPath = root.appending("services")
        _ = members(of: .object(services), at: servicesPath, allowed: ["required", "optional"])
        var configuration = configuration(in: object, at: root)
        let egress = egress(in: object, at: root, fields: configuration)
        let batch = self.object("batch", in: object, at: root) ?? JSONObject()
        let batchPath = root.appending("batch")
        _ = members(of: .object(batch), at: batchPath, allowed: ["count", "bytes"])
        let capabilities = capabilities(in: object, at: root, plugin: id, isForeign: isForeign)
        if let entry { checkSymbols(of: capabilities, in: object, entry: entry, at: root) }
        let lifecycle = lifecycle(
            in: object,
            at: root,
            isForeign: isForeign,
            capabilities: capabilities,
            fields: &configuration
        )
        let threadName = string("thread", in: object, at: root) ?? Manifest.ThreadClass.any.rawValue
        let thread = Manifest.ThreadClass(rawValue: threadName)
        if thread == nil {
            report(
                .invalidValue,
                "thread is \"\(threadName.excerpt)\"; it must be \"any\" or \"serial\"",
                at: root.appending("thread")
            )
        }
        guard let id, let version, let abi, let thread else { return nil }
        let required = requiredServices(in: services, at: servicesPath)
        return Manifest(
            id: id,
            version: version,
            abi: abi,
            entry: entry,
            documentation: string("documentation", in: object, at: root) ?? "",
            language: string("language", in: object, at: root),
            thread: thread,
            capabilities: capabilities,
            configuration: configuration,
            requiredServices: required,
            optionalServices: optionalServices(in: services, besides: required, at: servicesPath),
            uses: uses(in: object, at: root, isForeign: isForeign),
            scenes: scenes(in: object, at: root, capabilities),
            egress: egress,
            batchCount: integer("count", in: batch, at: batchPath, within: 1...1_000_000).map { Int($0) },
            batchBytes: integer("bytes", in: batch, at: batchPath, within: 1...(1 << 30)).map { Int($0) },
            library: library,
            lifecycle: lifecycle,
            swiftType: string("swiftType", in: object, at: root),
            isExclusive: bool("exclusive", in: object, at: root) ?? false
        )
    }

    private mutating func identifier(_ name: String, in object: JSONObject, at path: JSONPath) -> String? {
        guard let text = string(name, in: object, at: path, required: true) else { return nil }
        guard isIdentifier(text) else {
            report(
                .invalidValue,
                "\(name) is \"\(text.excerpt)\"; it must be \(identifierRule)",
                at: path.appending(name)
            )
            return nil
        }
        return text
    }

    private mutating func version(in object: JSONObject, at path: JSONPath) -> SemanticVersion? {
        guard let text = string("version", in: object, at: path, required: true) else { return nil }
        guard let version = SemanticVersion(text) else {
            report(
                .invalidValue,
                "version is \"\(text.excerpt)\"; it must be like 1.2.3",
                at: path.appending("version")
            )
            return nil
        }
        return version
    }

    /// Reads the name or path of an existing library, which a plugin with an entry function has no use for.
    private mutating func library(in object: JSONObject, at path: JSONPath) -> String? {
        guard let name = string("library", in: object, at: path) else { return nil }
        guard name.contains(where: { !$0.isWhitespace }), !name.utf8.contains(0) else {
            report(
                .invalidValue,
                "library must be the name or the path of a shared library, such as libz.so.1",
                at: path.appending("library")
            )
            return nil
        }
        return name
    }

    /// Reads the versions of the ABI that an image works with.
    mutating func abi(in object: JSONObject, at path: JSONPath) -> ClosedRange<UInt32>? {
        let here = path.appending("abi")
        guard let bounds = value("abi", in: object, at: path, required: true, kind: "[lowest, highest]", { $0.array })
        else {
            return nil
        }
        let numbers = bounds.compactMap(\.integer).compactMap(UInt32.init(exactly:))
        guard bounds.count == 2, numbers.count == 2, numbers[0] >= 1, numbers[0] <= numbers[1] else {
            report(.invalidValue, "abi must be [lowest, highest], such as [1, 1]", at: here)
            return nil
        }
        return numbers[0]...numbers[1]
    }

    /// Reports a symbol that cannot name a function.
    mutating func checkSymbol(_ symbol: String, at path: JSONPath) {
        guard symbol.isEmpty || symbol.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else { return }
        report(.invalidValue, "\(path) must be the name of an exported function", at: path)
    }

    /// Reads the services that the plugin requires; the host must have each of them.
    private mutating func requiredServices(in object: JSONObject, at path: JSONPath) -> [String] {
        let services = strings("required", in: object, at: path)
        for (index, service) in services.enumerated() where !Manifest.hostServices.contains(service) {
            guard hasRoom() else { continue }
            let known = suggestion(for: service, among: Manifest.hostServices).map { "\($0); or " } ?? ""
            let isOfUses = service == "gates/1"
            report(
                .unsupported,
                isOfUses
                    ? "the host service \"gates/1\" comes with \"uses\""
                    : "the plugin needs the host service \"\(service.excerpt)\", which this host does not have",
                fix: isOfUses ? "name the capability in \"uses\"" : "\(known)use a newer host or an older plugin",
                at: path.appending("required").appending(index)
            )
        }
        return services
    }

    /// Reads the services that the plugin uses if the host has them.
    private mutating func optionalServices(
        in object: JSONObject,
        besides required: [String],
        at path: JSONPath
    ) -> [String] {
        let services = strings("optional", in: object, at: path)
        for (index, service) in services.enumerated() where required.contains(service) && hasRoom() {
            report(
                .invalidValue,
                "the service \"\(service.excerpt)\" is both required and optional",
                fix: "remove it from one of the two",
                at: path.appending("optional").appending(index)
            )
        }
        return services
    }

    private mutating func egress(in object: JSONObject, at path: JSONPath, fields: [ConfigurationField]) -> [String] {
        let hosts = strings("egress", in: object, at: path)
        let named = Set(fields.filter { $0.type == .url || $0.type == .string }.map { "{\($0.name)}" })
        for (index, host) in hosts.enumerated() {
            if host.hasPrefix("{") ? named.contains(host) : Manifest.isEgressHost(host) { continue }
            guard hasRoom() else { continue }
            let here = path.appending("egress").appending(index)
            if host.hasPrefix("{") {
                report(
                    .invalidValue,
                    "egress names \(host.excerpt), but no url or string field of that name is declared",
                    at: here
                )
            } else {
                let parts = URLParts(host)
                report(
                    .invalidValue,
                    "\"\(host.excerpt)\" in egress is \(parts == nil ? "not a host" : "a URL, and a host is needed")",
                    fix: "write \"\(parts?.host ?? "api.example.com")\", or \"{FIELD}\" for the host in a url field",
                    at: here
                )
            }
        }
        return hosts
    }

    // MARK: Configuration

    private static let fieldKeys = [
        "type", "required", "default", "secret", "documentation", "values", "minimum", "maximum",
    ]

    private mutating func configuration(in object: JSONObject, at path: JSONPath) -> [ConfigurationField] {
        let here = path.appending("configuration")
        let fields = self.object("configuration", in: object, at: path)?.withoutAnnotations ?? JSONObject()
        return fields.members.compactMap { field(named: $0.name, $0.value, at: here.appending($0.name)) }
    }

    private mutating func field(named name: String, _ value: JSONValue, at path: JSONPath) -> ConfigurationField? {
        guard let object = members(of: value, at: path, allowed: Self.fieldKeys) else { return nil }
        let typeName = string("type", in: object, at: path) ?? "string"
        guard let type = ConfigurationField.FieldType(rawValue: typeName) else {
            let known = ConfigurationField.FieldType.allCases.map(\.rawValue)
            report(
                .invalidValue,
                "\(self.name(of: path)) has the unknown type \"\(typeName.excerpt)\"",
                fix: suggestion(for: typeName, among: known),
                at: path.appending("type")
            )
            return nil
        }
        var field = ConfigurationField(
            name: name,
            type: type,
            isRequired: bool("required", in: object, at: path) ?? false,
            defaultValue: object["default"],
            isSecret: bool("secret", in: object, at: path) ?? false,
            documentation: string("documentation", in: object, at: path) ?? "",
            allowedValues: [],
            minimum: self.value("minimum", in: object, at: path, kind: "a number") { $0.number },
            maximum: self.value("maximum", in: object, at: path, kind: "a number") { $0.number }
        )
        field.allowedValues = self.value("values", in: object, at: path, kind: "an array") { $0.array } ?? []
        if let value = field.defaultValue, let problem = field.problem(with: value) {
            report(.invalidValue, "\(self.name(of: path)): the default \(problem)", at: path.appending("default"))
        }
        for (index, value) in field.allowedValues.enumerated() {
            guard let problem = field.problem(withListed: value) else { continue }
            report(
                .invalidValue,
                "\(self.name(of: path)): an allowed value \(problem)",
                at: path.appending("values").appending(index)
            )
        }
        if object["values"]?.array?.isEmpty == true {
            report(
                .invalidValue,
                "\(self.name(of: path)): \"values\" is empty, so that no value is allowed",
                fix: "list the values, or remove \"values\"",
                at: path.appending("values")
            )
        }
        checkBounds(of: field, at: path)
        if !isFieldName(name) {
            report(
                .invalidValue,
                "the field's name \"\(name.excerpt)\" must be 1 to 64 letters, digits, '-', '_' and '.'",
                at: path,
                .name
            )
        }
        if field.isRequired, field.defaultValue != nil {
            report(
                .invalidValue,
                "\(self.name(of: path)): a required field has no default",
                at: path.appending("default")
            )
        }
        if field.isSecret, type != .string {
            report(.invalidValue, "\(self.name(of: path)): a secret must be a string", at: path.appending("type"))
        }
        return field
    }

    /// Reports empty ranges, and bounds on fields that take none.
    private mutating func checkBounds(of field: ConfigurationField, at path: JSONPath) {
        let hasBounds = [.integer, .number, .json].contains(field.type)
        for (key, bound) in [("minimum", field.minimum), ("maximum", field.maximum)] where bound != nil && !hasBounds {
            report(
                .invalidValue,
                "\(name(of: path)): only integers and numbers have a \(key)",
                fix: "remove it, or correct the type",
                at: path.appending(key)
            )
        }
        guard hasBounds, let minimum = field.minimum, let maximum = field.maximum else { return }
        if minimum > maximum {
            report(
                .invalidValue,
                "\(name(of: path)): the minimum is higher than the maximum",
                at: path.appending("minimum")
            )
        } else if field.type == .integer, minimum.rounded(.up) > maximum.rounded(.down) {
            report(
                .invalidValue,
                "\(name(of: path)): there is no integer from the minimum to the maximum",
                at: path.appending("minimum")
            )
        }
    }

    /// Whether a name is safe inside `{{secret:NAME}}` and `{NAME}`.
    private func isFieldName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
    }
}
