// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A type that connects to one vendor, written together with a manifest.
///
/// The manifest, `NAME.connector.json`, names the type as `swiftType` (by default its id with a capital first letter). The
/// build tool plugin `ConnectorManifestPlugin` generates the exported functions from it. Each calls the method with its
/// operation's name, with the parameters as labels:
///
/// ```swift
/// // "greet": { "symbol": "hello_greet", "signature": "(name: string) async -> json" }
/// func greet(name: String) async throws -> JSONValue
/// ```
///
/// One instance serves one gate. Its methods may run concurrently on any thread unless the manifest says `"thread":
/// "serial"`; keep mutable state in an actor or a `Mutex`. The deadline of a call limits the requests that it awaits, but not those
/// of a `Task` that goes on after the call, such as a loop that ``open()`` starts and ``close()`` cancels.
public protocol Plugin: Sendable {
    /// Reads the configuration, and does no I/O.
    ///
    /// - Throws: An error if the configuration breaks a rule that the manifest cannot express.
    init(configuration: PluginConfiguration, host: Host) throws

    /// Connects to the vendor, and returns the evidence.
    ///
    /// Claim the strongest evidence that can be had without leaving a trace at the vendor, and never more.
    func open() async throws -> [Evidence]

    /// Proves again that the vendor answers; calls ``open()`` by default.
    func probe() async throws -> [Evidence]

    /// Finishes pending work; does nothing by default.
    func close() async
}

extension Plugin {
    /// Opens again, which suits a plugin whose `open` only sends a request.
    public func probe() async throws -> [Evidence] {
        try await open()
    }

    /// Does nothing, which suits a plugin that holds no resources.
    public func close() async {}
}
