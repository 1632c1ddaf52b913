// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorPlatform

/// The connector that a client calls: a path in whatever tree is current, and all that a client holds of the host.
struct ClientTarget: Sendable {
    /// The connector's path.
    let path: String
    private let tree: CurrentTree
    private let clock: any HostClock
    /// What the path meant in the snapshot of the number.
    private let found: (node: Node, number: UInt64)

    /// Finds a connector.
    ///
    /// - Parameter capability: What it, or something below it, must be able to do; nil for anything.
    /// - Throws: `unknown-connector` if there is none of the path, `unsupported` if it has another capability.
    init(_ path: String, capability: String? = nil, in tree: CurrentTree, _ clock: any HostClock) throws(ConnectorError)
    {
        self.path = path
        self.tree = tree
        self.clock = clock
        found = try tree.node(path)
        guard let capability, !capabilities.contains(where: { $0.id.description == capability }) else { return }
        let offered = Set(capabilities.map(\.id.description)).sorted().joined(separator: ", ")
        throw ConnectorError(
            .unsupported,
            "the connector offers \(offered.isEmpty ? "nothing" : offered), not \(capability)",
            connector: path
        )
    }

    /// What the path means in the current snapshot. As long as that is the one where the client was made, nothing is looked up.
    ///
    /// - Throws: `unknown-connector` if the connector has disappeared.
    var node: Node {
        get throws(ConnectorError) { tree.number == found.number ? found.node : try tree.node(path).node }
    }

    /// The time of day.
    var now: Timestamp { clock.wallTime() }

    /// What the connector, or something below it, can do; nothing once it has disappeared.
    var capabilities: [Capability] { (try? node.capabilities) ?? [] }

    /// The error with the connector's path, if it has none yet.
    func described(_ error: ConnectorError) -> ConnectorError {
        var error = error
        error.connector = error.connector ?? path
        return error
    }

    /// Calls an operation.
    func call(
        _ operation: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> ConnectorAnswer {
        try await node.call(Node.Call(operation: operation, arguments: arguments, options: options))
    }

    /// Calls an operation whose parameters are all texts and whose result is JSON.
    ///
    /// - Parameters:
    ///   - texts: In the form in which they cross the line.
    ///   - read: Makes the model of the result; what it throws is the plugin's mistake.
    func call<Model>(
        _ operation: String,
        texts: [(name: String, text: [UInt8]?)],
        _ options: CallOptions,
        _ read: (JSONValue) throws(ConnectorError) -> Model
    ) async throws(ConnectorError) -> Model {
        let answer = try await call(operation, CallArguments(texts: texts), options)
        return try model(of: operation) { () throws(ConnectorError) in
            try read(JSONValue(parsing: answer.result.text, file: operation))
        }
    }

    /// Delivers a batch.
    ///
    /// - Returns: What became of each event or report, in the order of the batch.
    func deliver(
        _ batch: [JSONValue],
        as parameter: String,
        _ options: CallOptions
    ) async throws(ConnectorError) -> [DeliveryAnswer] {
        let arguments = CallArguments(texts: [(parameter, JSONValue.array(batch).utf8())])
        let answer = try await call("deliver", arguments, options)
        return try model(of: "deliver") { () throws(ConnectorError) in try answer.deliveries(count: batch.count) }
    }

    private func model<Model>(
        of operation: String,
        _ read: () throws(ConnectorError) -> Model
    ) throws(ConnectorError) -> Model {
        do throws(ConnectorError) {
            return try read()
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
