// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The connector that a client calls: all that a client holds of the host.
struct ClientTarget: Sendable {
    let tree: Tree
    /// Its place in the tree.
    let index: Int
    /// The gate, if the connector is a leaf.
    let gate: Gate?

    /// Finds a connector.
    ///
    /// - Parameter capability: What it, or something below it, must be able to do; nil for anything.
    init(_ path: String, capability: String? = nil, in tree: Tree) throws(ConnectorError) {
        guard let index = tree.index(path) else {
            throw ConnectorError(
                .unknownConnector,
                "there is no enabled connector \"\(path)\"",
                fix: suggestion(for: path, among: tree.nodes.map(\.path))
            )
        }
        self.tree = tree
        self.index = index
        gate = tree.nodes[index].gate
        guard let capability, !capabilities.contains(where: { $0.id.description == capability }) else { return }
        let offered = Set(capabilities.map(\.id.description)).sorted().joined(separator: ", ")
        throw ConnectorError(
            .unsupported,
            "the connector offers \(offered.isEmpty ? "nothing" : offered), not \(capability)",
            connector: path
        )
    }

    /// The connector's path.
    var path: String { tree.nodes[index].path }

    /// What it, or something below it, can do.
    var capabilities: [Capability] { tree.capabilities(index) }

    /// The error with the connector's path, if it has none yet.
    func described(_ error: ConnectorError) -> ConnectorError {
        var error = error
        error.connector = error.connector ?? path
        return error
    }

    /// Calls an operation with JSON.
    func call(
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> JSONValue {
        try await tree.call(index, operation, arguments, options).json()
    }

    /// Calls an operation whose parameters are all texts, already in the form in which they cross the line.
    ///
    /// - Returns: The bytes of its result.
    func call(
        _ operation: String,
        texts: [(name: String, text: [UInt8]?)],
        _ options: CallOptions
    ) async throws(ConnectorError) -> [UInt8] {
        try await tree.call(index, operation, CallArguments(texts: texts), options).text
    }

    /// Calls an operation and reads its result as JSON.
    ///
    /// - Parameter read: Makes the model of it; what it throws is the plugin's mistake.
    func call<Model>(
        _ operation: String,
        texts: [(name: String, text: [UInt8]?)],
        _ options: CallOptions,
        _ read: (JSONValue) throws(ConnectorError) -> Model
    ) async throws(ConnectorError) -> Model {
        let text = try await call(operation, texts: texts, options)
        do throws(ConnectorError) {
            return try read(JSONValue(parsing: text, file: operation))
        } catch {
            throw ConnectorError(
                .misbehaved,
                "the answer to \(operation) is not what the capability says: \(error.message)",
                connector: path,
                position: error.position,
                cause: error.description
            )
        }
    }
}
