// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// Writes the Swift source that turns an author's type and its manifest into a shared library.
struct PluginSourceGenerator {
    /// The problems of a manifest that is valid but cannot be expressed in Swift, with positions.
    private(set) var problems: [ConnectorError] = []
    private let manifest: Manifest
    private let text: [UInt8]
    private let file: String

    init(_ manifest: Manifest, text: [UInt8], file: String) {
        self.manifest = manifest
        self.text = text
        self.file = file
    }

    /// Generates the whole file. The file compiles only if ``problems`` is empty afterwards.
    mutating func source() throws(ConnectorError) -> String {
        // Embed the long form, because hosts older than the short form read the image too.
        let note = ManifestNote(manifest.longForm(of: try JSONValue(parsing: text, file: file)))
        guard let entry = manifest.entry else {
            report("a plugin in Swift needs an \"entry\": the name of the function to generate", at: JSONPath())
            return ""
        }
        if !entry.isCIdentifier {
            report(
                "the entry \"\(entry)\" cannot be the name of a generated function",
                at: JSONPath().appending("entry")
            )
        }
        let type = typeName()
        var parts = [header, note.source, self.entry(entry, type: type)]
        // The operation of each symbol. Those of two capabilities share the method, too, if they have one name and one signature.
        var methods: [String: (operation: Operation, name: String)] = [:]
        var functions = ["\"\(entry)\": Line.address(connectorEntry as @convention(c) () -> UnsafeRawPointer),"]
        for capability in manifest.capabilities {
            for operation in capability.operations {
                let path = JSONPath().appending("capabilities").appending("\(capability.id)").appending(operation.name)
                let name = "\(capability.id) \(operation.name)"
                if let first = methods[operation.symbol] {
                    let other = first.operation
                    if operation.name == other.name, operation.signature == other.signature { continue }
                    report(
                        "\(operation.symbol) already calls the method of \(first.name); give \(name) a symbol of its own",
                        at: path.appending("symbol")
                    )
                    continue
                }
                methods[operation.symbol] = (operation, name)
                guard let thunk = thunk(for: operation, type: type, at: path) else { continue }
                parts.append(thunk.source)
                functions.append(thunk.linked)
            }
        }
        parts.append(linking(type: type, functions))
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// The declarations that let an application link the plugin.
    private func linking(type: String, _ functions: [String]) -> String {
        let lines = functions.flatMap { $0.split(separator: "\n") }.map { "        \($0)" }
        return """
            /// The plugin, for an application that links it.
            public let connectorLinkedPlugin: LinkedPlugin = unsafe Line.linked(
                connectorManifest,
                [
            \(lines.joined(separator: "\n"))
                ]
            )

            /// Lets an application link the plugin: see `Connector(_:plugin:)`.
            extension \(type): LinkablePlugin {
                public static var linkedPlugin: LinkedPlugin { connectorLinkedPlugin }
            }
            """
    }

    /// The name of the author's type in backquotes, as it may be a keyword: the manifest's `swiftType`, or the id in upper camel case.
    /// The arguments of a generic type stay as they are written.
    private mutating func typeName() -> String {
        let derived = manifest.id.split(whereSeparator: { "-_.".contains($0) })
            .map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let name = manifest.swiftType ?? derived
        let base = name.prefix { $0 != "<" }
        let arguments = name[base.endIndex...]
        let parts = base.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let key = manifest.swiftType == nil ? "id" : "swiftType"
        let source = manifest.swiftType == nil ? "makes the type \(name.excerpt)" : "is \"\(name.excerpt)\""
        if !parts.allSatisfy(\.isSwiftIdentifier) || !arguments.isEmpty && !arguments.hasSuffix(">") {
            report(
                "the \(key) \(source), which cannot be the name of a type in Swift",
                fix: "name the plugin's type in \"swiftType\"",
                at: JSONPath().appending(key)
            )
        } else if Self.usedTypes.contains(name) {
            report(
                "the \(key) \(source), which would hide the type of that name that the generated source uses",
                fix: "give the plugin's type another name, and write it in \"swiftType\"",
                at: JSONPath().appending(key)
            )
        }
        return parts.map { "`\($0)`" }.joined(separator: ".") + arguments
    }

    /// The types that the generated source uses and an id may name, too.
    private static let usedTypes: Set = [
        "Double", "Float", "JSONValue", "Line", "LinkablePlugin", "LinkedPlugin", "String",
    ]

    private var header: String {
        """
        // Made by connector-manifest from \(file.split(separator: "/").last ?? ""). Changes here are lost.

        import ConnectorKit
        public import ConnectorManifest
        """
    }

    private func entry(_ symbol: String, type: String) -> String {
        """
        /// The life of the plugin's instances (`connector/plugin.h`).
        private nonisolated(unsafe) let connectorTable = unsafe Line.table(
            create: { unsafe Line.create(\(type).self, $0, $1, $2, $3, $4) },
            open: { unsafe Line.open(\(type).self, $0, $1, $2) },
            probe: { unsafe Line.probe(\(type).self, $0, $1, $2) },
            close: { unsafe Line.close(\(type).self, $0, $1, $2) },
            destroy: { unsafe Line.destroy(\(type).self, $0) },
            cancel: { unsafe Line.cancel(\(type).self, $0, $1) }
        )

        /// The entry that the manifest names.
        @c(`\(symbol)`)
        public func connectorEntry() -> UnsafeRawPointer {
            unsafe connectorTable
        }
        """
    }

    private mutating func thunk(for operation: Operation, type: String, at path: JSONPath) -> OperationThunk? {
        guard operation.name.isCIdentifier else {
            report("\"\(operation.name)\" cannot be the name of a method in Swift", at: path)
            return nil
        }
        guard operation.symbol.isCIdentifier else {
            report("\"\(operation.symbol)\" cannot be the name of a function", at: path.appending("symbol"))
            return nil
        }
        let signature = operation.signature
        if ["open", "probe", "close"].contains(operation.name), signature.parameters.isEmpty, signature.results.isEmpty
        {
            report(
                "\(operation.name)() is already the gate's own method in Swift; give the operation another name",
                at: path
            )
            return nil
        }
        let types = signature.parameters.map(\.type) + signature.results.map(\.type)
        for (foreign, own) in [(.cstring, .string), (.bytes32, .bytes)] as [(ValueType, ValueType)]
        where types.contains(foreign) {
            report("\(foreign) is for foreign libraries; a plugin takes \(own)", at: path.appending("signature"))
            return nil
        }
        if signature.isAsync, types.contains(.handle) {
            report(
                "an async operation in Swift takes no handle: it may not outlive the call",
                at: path.appending("signature")
            )
            return nil
        }
        return OperationThunk(operation, type: type)
    }

    private mutating func report(_ message: String, fix: String? = nil, at path: JSONPath) {
        let position = JSONLocator.position(of: path, in: text, file: file)
        problems.append(ConnectorError(.invalidManifest, message, fix: fix, position: position))
    }
}

extension String {
    /// Whether this is an identifier of Swift, apart from keywords.
    fileprivate var isSwiftIdentifier: Bool {
        guard let first = unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    }
}
