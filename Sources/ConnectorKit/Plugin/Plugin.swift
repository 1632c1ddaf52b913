// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A type that talks to one vendor: what an author writes, beside a manifest and nothing unsafe.
///
/// The manifest, `NAME.connector.json`, names the type as `swiftType` (by default its id with a capital first letter). The
/// build tool plugin `ConnectorManifestPlugin` generates from it the exported functions, which call the method of each
/// operation's name with the parameters as labels:
///
/// ```swift
/// // "greet": { "symbol": "hello_greet", "signature": "(name: string) async -> json" }
/// func greet(name: String) async throws -> JSONValue
/// ```
///
/// One instance serves one gate. Its methods may run at once on any thread unless the manifest says
/// `"thread": "serial"`; keep mutable state in an actor or a `Mutex`.
public protocol Plugin: Sendable {
    /// Takes the configuration apart, and does no I/O.
    ///
    /// - Throws: What is wrong with the configuration beyond what the manifest already demands of it.
    init(configuration: PluginConfiguration, host: Host) throws

    /// Connects to the vendor, and answers what that proved.
    ///
    /// Claim the strongest evidence that the vendor lets be proved without leaving a trace there, never more.
    func open() async throws -> [Evidence]

    /// Proves again that the vendor is there; does what ``open()`` does unless it is written.
    func probe() async throws -> [Evidence]

    /// Finishes what is under way; does nothing unless it is written.
    func close() async
}

extension Plugin {
    /// Opens again, which suits every plugin whose `open` only asks.
    public func probe() async throws -> [Evidence] {
        try await open()
    }

    /// Does nothing, which suits every plugin that holds nothing.
    public func close() async {}
}
