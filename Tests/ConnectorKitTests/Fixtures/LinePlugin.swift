// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// A plugin whose operations do what a test of the line needs.
struct LinePlugin: Plugin {
    /// The host of the last instance that was refused.
    static let refused = Mutex<Host?>(nil)

    let configuration: PluginConfiguration
    let host: Host

    init(configuration: PluginConfiguration, host: Host) throws {
        guard configuration["refuse"] == nil else {
            Self.refused.withLock { $0 = host }
            throw PluginError(.invalid, "refused", domain: "test")
        }
        self.configuration = configuration
        self.host = host
    }

    func open() async throws -> [Evidence] { [.reachable("here")] }

    /// Answers with what the vendor says.
    func ask() async throws -> JSONValue {
        let url = try HTTPURL("http://vendor.example/ask").map { $0 } ?? configuration.url("none")
        return try await host.http.send(HTTPRequest(.post, url, body: Array("question".utf8))).json()
    }
}

extension LinePlugin {
    /// Stores something under a key, and answers with every key.
    func remember(_ key: String) async throws -> JSONValue {
        guard let storage = host.storage else { throw PluginError(.unsupported, "there is no storage", domain: "test") }
        try await storage.set([1], for: key)
        return .array(try await storage.keys(startingWith: "").map { .string($0) })
    }

    /// Replaces a value that is as expected twice, and twice one that is not; returns which were, and the value.
    func replace(_ key: String) async throws -> JSONValue {
        guard let storage = host.storage else { throw PluginError(.unsupported, "there is no storage", domain: "test") }
        var answers: [JSONValue] = []
        for (old, new) in [(nil, []), (nil, [1]), ([], [2]), ([], [3])] as [([UInt8]?, [UInt8])] {
            answers.append(.bool(try await storage.replace(old, with: new, for: key)))
        }
        answers.append(.integer(try await storage.value(of: key)?.first.map { Int64($0) } ?? 0))
        return .array(answers)
    }
}

/// The table that generated code would make of ``LinePlugin``, and one instance of it.
@safe
final class LineInstance {
    private let table: UnsafePointer<connector_plugin>
    private var instance: UnsafeMutableRawPointer?
    private var isDestroyed = false

    /// What `create` returned.
    private(set) var status: Int32 = 0
    /// What `create` or the last call said.
    private(set) var message = ""

    init(_ host: LineHost, configuration: String = "{}") {
        let table = unsafe Line.table(
            create: { unsafe Line.create(LinePlugin.self, $0, $1, $2, $3, $4) },
            open: { unsafe Line.open(LinePlugin.self, $0, $1, $2) },
            probe: { unsafe Line.probe(LinePlugin.self, $0, $1, $2) },
            close: { unsafe Line.close(LinePlugin.self, $0, $1, $2) },
            destroy: { unsafe Line.destroy(LinePlugin.self, $0) },
            cancel: { unsafe Line.cancel(LinePlugin.self, $0, $1) }
        )
        unsafe self.table = table.assumingMemoryBound(to: connector_plugin.self)
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        let text = Array(configuration.utf8CString)
        status = unsafe self.table.pointee.create(
            host.pointer.assumingMemoryBound(to: connector_host.self),
            text,
            UInt64(text.count - 1),
            &instance,
            &error
        )
        message = LineHost.message(of: error)
    }

    deinit { destroy() }

    /// Opens.
    func open(_ operation: UInt64) -> Int32 {
        unsafe call(operation) { unsafe table.pointee.open(instance, $0, $1) }
    }

    /// Closes.
    func close(_ operation: UInt64) -> Int32 {
        unsafe call(operation) { call, error in unsafe table.pointee.close?(instance, call, error) ?? -1 }
    }

    /// Calls `ask`, as a generated function does.
    func ask(_ operation: UInt64, deadline: UInt64 = .max) -> Int32 {
        unsafe call(operation, deadline: deadline) { call, error in
            unsafe Line.perform(LinePlugin.self, instance, UnsafeRawPointer(call), UnsafeMutableRawPointer(error)) {
                { try await Line.encode($0.ask()) }
            }
        }
    }

    /// Calls an operation that ends at once, and leaves a task behind that asks after a signal.
    func leave(_ operation: UInt64, deadline: UInt64, asking signal: OneShot<Void>) -> Int32 {
        unsafe call(operation, deadline: deadline) { call, error in
            unsafe Line.perform(LinePlugin.self, instance, UnsafeRawPointer(call), UnsafeMutableRawPointer(error)) {
                { plugin in
                    Task {
                        await signal.wait()
                        _ = try? await plugin.ask()
                    }
                    return nil
                }
            }
        }
    }

    /// Calls an operation that asks, and then begins something to which its answer is the only key.
    func begin(_ operation: UInt64, ending undone: OneShot<Void>) -> Int32 {
        unsafe call(operation) { call, error in
            unsafe Line.perform(LinePlugin.self, instance, UnsafeRawPointer(call), UnsafeMutableRawPointer(error)) {
                { plugin in
                    _ = try? await plugin.ask()
                    Deadline.ifUnclaimed { undone.send() }
                    return Line.encode("key")
                }
            }
        }
    }

    /// Calls an operation that calls a used gate, and leaves a task behind that does so again after a signal.
    func use(_ operation: UInt64, again signal: OneShot<Void>) -> Int32 {
        unsafe call(operation) { call, error in
            unsafe Line.perform(LinePlugin.self, instance, UnsafeRawPointer(call), UnsafeMutableRawPointer(error)) {
                { plugin in
                    let used = plugin.host.gate("used")
                    _ = try? await used.call("get")
                    Task {
                        await signal.wait()
                        _ = try? await used.call("get")
                    }
                    return nil
                }
            }
        }
    }

    /// Calls `remember`, as a generated function does.
    func remember(_ operation: UInt64, _ key: String) -> Int32 {
        unsafe call(operation) { call, error in
            unsafe Line.perform(LinePlugin.self, instance, UnsafeRawPointer(call), UnsafeMutableRawPointer(error)) {
                { try await Line.encode($0.remember(key)) }
            }
        }
    }

    /// Calls `replace`, as a generated function does.
    func replace(_ operation: UInt64, _ key: String) -> Int32 {
        unsafe call(operation) { call, error in
            unsafe Line.perform(LinePlugin.self, instance, UnsafeRawPointer(call), UnsafeMutableRawPointer(error)) {
                { try await Line.encode($0.replace(key)) }
            }
        }
    }

    /// Calls an operation whose argument is the given JSON.
    func take(_ operation: UInt64, json: String) -> Int32 {
        unsafe call(operation) { call, error in
            let text = Array(json.utf8CString)
            return unsafe Line.perform(
                LinePlugin.self,
                instance,
                UnsafeRawPointer(call),
                UnsafeMutableRawPointer(error)
            ) {
                let value = try unsafe Line.json(text, UInt64(text.count - 1), "argument")
                return { _ in Line.encode(value) }
            }
        }
    }

    /// Gives a call up.
    func cancel(_ operation: UInt64) {
        unsafe table.pointee.cancel?(instance, operation)
    }

    /// Frees the instance.
    func destroy() {
        guard !isDestroyed, unsafe instance != nil else { return }
        isDestroyed = true
        unsafe table.pointee.destroy(instance)
    }

    private func call(
        _ operation: UInt64,
        deadline: UInt64 = .max,
        _ body: (UnsafePointer<connector_call>, UnsafeMutablePointer<connector_error>) -> Int32
    ) -> Int32 {
        var call = connector_call()
        call.struct_size = UInt32(MemoryLayout<connector_call>.size)
        call.operation = operation
        call.deadline_ns = deadline
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        let status = unsafe body(&call, &error)
        message = LineHost.message(of: error)
        return status
    }
}
