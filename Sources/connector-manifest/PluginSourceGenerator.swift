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
        let type = swiftType
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

            /// Lets an application link the plugin: `Connector("\(manifest.id)", plugin: \(type).self)`.
            extension \(type): LinkablePlugin {
                public static var linkedPlugin: LinkedPlugin { connectorLinkedPlugin }
            }
            """
    }

    /// The name of the author's type: the manifest's `swiftType`, or the id in upper camel case.
    private var swiftType: String {
        manifest.swiftType
            ?? manifest.id.split(whereSeparator: { "-_.".contains($0) })
            .map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

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
        @c(\(symbol))
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

    private mutating func report(_ message: String, at path: JSONPath) {
        let position = JSONLocator.position(of: path, in: text, file: file)
        problems.append(ConnectorError(.invalidManifest, message, position: position))
    }
}
