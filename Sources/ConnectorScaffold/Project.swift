// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform

/// A project for a plugin: its name, its language, and the vendor that it connects to.
package struct Project: Sendable, Hashable {
    /// The id of the plugin, and the name of its folder.
    package let name: String
    /// The language of its source.
    package let language: ProjectLanguage
    /// The capability of its plugin: one of its own, such as `rates/1`, or a standard one with its operations.
    package var capability: String { "\(identity)" }
    private let identity: CapabilityID
    /// The vendor's URL, without slashes at its end.
    package let url: String
    /// The location of the Swift kit's package; empty for other languages.
    package let kit: String

    /// Creates a project, and checks its name, capability and URL.
    ///
    /// - Parameters:
    ///   - capability: The capability; nil for one named after the plugin.
    ///   - url: The vendor's URL; nil for an example.
    /// - Throws: `invalid-value`, which states the broken rule.
    package init(
        name: String,
        language: ProjectLanguage,
        capability: String? = nil,
        url: String? = nil,
        kit: String = ""
    ) throws(ConnectorError) {
        self.name = name
        self.language = language
        self.kit = kit
        guard Self.isName(name) else {
            throw ConnectorError(
                .invalidValue,
                "\"\(name.excerpt)\" cannot name a plugin",
                fix:
                    "use 1 to 40 lower-case letters, digits and '-', of which the first is a letter and the last no '-'"
            )
        }
        func takenName(_ reason: String) -> ConnectorError {
            ConnectorError(
                .invalidValue,
                "\"\(name)\" cannot name a plugin in \(language.name), where \(reason)",
                fix: "choose another name, such as \(name)-adapter"
            )
        }
        guard !Self.isTaken(name, language, kit: kit) else { throw takenName("connector-host uses that name itself") }
        let written = capability ?? "\(name)/1"
        guard let identity = CapabilityID(written) else {
            let standard = CapabilityDefinition.all.map(\.id).joined(separator: ", ")
            throw ConnectorError(
                .invalidValue,
                "\"\(written.excerpt)\" is not a capability",
                fix: "write a name and a version, such as \(name)/1, or a standard capability: \(standard)"
            )
        }
        self.identity = identity
        var text = url ?? "https://api.example.com"
        guard let parts = URLParts(text), parts.user == nil, !text.contains(where: { "?#\"'{}@%`$".contains($0) }),
            // Clients resolve dot segments, so the vendor would get another path than the one that was written.
            !parts.rest.split(separator: "/").contains(where: { $0 == "." || $0 == ".." })
        else {
            throw ConnectorError(
                .invalidValue,
                "\"\(text.excerpt)\" is not the URL of a server",
                fix: "write http:// or https://, a host, and perhaps a path, such as https://api.example.com/v1"
            )
        }
        while text.hasSuffix("/") { text.removeLast() }
        self.url = text
        if let symbol = takenSymbol { throw takenName("\(symbol) means something else already") }
    }

    private static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, let last = bytes.last, bytes.count <= 40 else { return false }
        return first.isLowercaseLetter && last != UInt8(ascii: "-")
            && bytes.allSatisfy { $0.isLowercaseLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
    }

    /// Names in the headers of C libraries that a plugin's functions could have. In every language, since such a function would be called in
    /// place of the library's own.
    private static let systemSymbols: Set<String> = [
        "fd_set", "pthread_create", "pthread_key_create", "pthread_key_delete", "timer_create", "timer_delete",
        "timespec_get", "va_list",
    ]

    /// The first of the plugin's functions whose name the C library or the headers of connector-host have; nil if none does.
    private var takenSymbol: String? {
        let names = ["plugin"] + ProjectOperation.all(of: identity).map(\.name)
        let includesHeaders = language == .c || language == .cpp
        return names.map { "\(identifier)_\($0)" }.first { symbol in
            Self.systemSymbols.contains(symbol)
                || includesHeaders && identifier.hasPrefix("connector")
                    && Embedded.headers.values.contains { $0.contains(ascii: symbol) }
        }
    }

    /// Whether a name is in use within every project of a language: by the crate, or by the kit's package.
    private static func isTaken(_ name: String, _ language: ProjectLanguage, kit: String) -> Bool {
        switch language {
        case .c, .cpp: false
        case .rust: name == "connector"
        case .swift: ["connector-kit", kit.lastPathComponent].contains(name)
        }
    }

    /// The name as an identifier: `my_vendor`.
    private var identifier: String { name.replacing("-", with: "_") }

    /// The Debian and Ubuntu packages that the project needs, together with a host that was built elsewhere.
    private var packages: String {
        let host = "libffi-dev libsodium-dev libsqlite3-dev zlib1g-dev"
        return "build-essential " + (language == .rust ? "cargo " : "") + host
    }

    /// The placeholders in templates, and their replacements.
    private func values(version: String) -> [(String, String)] {
        let source =
            switch language {
            case .c: "src/\(name).c"
            case .cpp: "src/\(name).cpp"
            case .rust: "src/lib.rs"
            case .swift: "Sources/\(name)/Adapter.swift"
            }
        let manifest =
            switch language {
            case .c, .cpp: "CONNECTOR_MANIFEST in it"
            case .rust: "\(name).manifest.json"
            case .swift: "Sources/\(name)/\(name).connector.json"
            }
        let operations = ProjectOperation.all(of: identity)
        let path = URLParts(url)?.rest ?? ""
        let samples = ProjectSamples(operations, of: identity, below: path)
        return [
            ("@NAME@", name), ("@SNAKE@", identifier), ("@CAPABILITY@", capability),
            ("@URL@", url), ("@PATH@", path), ("@VARIABLE@", identifier.uppercased() + "_API_KEY"),
            ("@VERSION@", version), ("@LANGUAGE@", language.name), ("@SOURCE@", source), ("@MANIFEST@", manifest),
            ("@KIT@", kit), ("@PACKAGES@", packages),
            ("@MANIFESTED@", manifested(operations)),
            ("@OPERATIONS@", operations.map(source(of:)).joined(separator: "\n\n")),
            ("@EXPORTS@", operations.map { $0.rustExport(identifier) }.joined(separator: "\n        ")),
            ("@ANSWERS@", samples.answers), ("@CALLS@", samples.calls),
        ]
    }

    /// An operation in the project's language.
    private func source(of operation: ProjectOperation) -> String {
        switch language {
        case .c: operation.c(identifier)
        case .cpp: operation.cpp(identifier)
        case .rust: operation.rust
        case .swift: operation.swift
        }
    }

    /// The capability's entry in the manifest; for a standard one, only the differences from its definition.
    private func manifested(_ operations: [ProjectOperation]) -> String {
        let entry: JSONObject
        if let definition = CapabilityDefinition.standard(identity) {
            let left = definition.operations.map(\.name).filter { name in !operations.contains { $0.name == name } }
            entry = left.isEmpty ? [:] : ["except": .array(left.map(JSONValue.string))]
        } else {
            entry = JSONObject(operations.map { ($0.name, .object($0.manifested(identifier))) })
        }
        // Indent it like its surroundings.
        let text = JSONValue.object(entry).serialized(pretty: true)
        let lines = text.split(separator: "\n").map { line in
            let blanks = line.prefix { $0 == " " }
            return String(repeating: " ", count: 8 + blanks.count) + blanks + line.dropFirst(blanks.count)
        }
        return "\"\(capability)\": " + lines.joined(separator: "\n").trimmingPrefix { $0 == " " }
    }

    /// The paths of hidden files, by the names of their templates.
    private static let hiddenFiles = ["gitignore": ".gitignore", "workflow.yml": ".github/workflows/test.yml"]

    /// Every file of the project, sorted by path.
    ///
    /// - Parameter version: The host's release that the project is for.
    package func files(version: String) -> [ProjectFile] {
        let values = values(version: version)
        var files: [ProjectFile] = []
        for folder in ["common", language.rawValue] {
            for (path, text) in Embedded.templates where path.hasPrefix(folder + "/") {
                var file = ProjectFile(path: String(path.dropFirst(folder.count + 1)), text: text)
                for (placeholder, value) in values {
                    file.path.replace(placeholder, with: value)
                    file.text.replace(placeholder, with: value)
                }
                file.path = Self.hiddenFiles[file.path] ?? file.path
                files.append(file)
            }
        }
        switch language {
        case .c, .cpp: files += Embedded.headers.map { ProjectFile(path: "generated/\($0)", text: $1) }
        case .rust: files += Embedded.crate.map { ProjectFile(path: "generated/connector/\($0)", text: $1) }
        case .swift: break
        }
        return files.sorted { $0.path < $1.path }
    }
}
