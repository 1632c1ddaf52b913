// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorKit
import ConnectorManifest

/// A plugin in Swift whose vendor checks a key and its certificate with every request. An answer with the status 203 is a
/// proxy's, which has checked nothing.
struct KeyPlugin: ConnectorKit.Plugin {
    private let endpoint: HTTPURL
    private let host: ConnectorKit.Host

    init(configuration: PluginConfiguration, host: ConnectorKit.Host) throws {
        endpoint = try configuration.url("endpoint")
        self.host = host
    }

    func open() async throws -> [ConnectorKit.Evidence] { try await probe() }

    func probe() async throws -> [ConnectorKit.Evidence] {
        let answer = try await ask()
        return [answer == "accepted" ? .authenticated(answer) : .reachable(answer)]
    }

    /// What the vendor answers; `unauthorized` if it refuses the key.
    fileprivate func ask() async throws -> String {
        var request = HTTPRequest(.get, endpoint)
        request.headers["X-Key"] = SecretPlaceholder(field: "key").text
        request.headers["X-Certificate"] = SecretPlaceholder(field: "certificate").text
        let response = try await host.http.send(request)
        guard response.status != 203 else { return "unchecked" }
        guard response.status == 200 else {
            throw PluginError(response.status == 401 ? .unauthorized : .unavailable, "status \(response.status)")
        }
        return "accepted"
    }
}

/// The same, but no second instance can be open beside the first.
enum ExclusiveKeyPlugin: LinkablePlugin {
    static var linkedPlugin: LinkedPlugin { KeyPlugin.linked(isExclusive: true) }
}

extension KeyPlugin: LinkablePlugin {
    static var linkedPlugin: LinkedPlugin { linked(isExclusive: false) }

    fileprivate static func linked(isExclusive: Bool) -> LinkedPlugin {
        let manifest = """
            {"manifest": 1, "id": "key", "version": "1.0.0", "abi": [1, 1], "entry": "key_entry",
             "exclusive": \(isExclusive),
             "services": {"required": ["http/1"]}, "egress": ["{endpoint}"],
             "configuration": {"endpoint": {"type": "url", "required": true},
               "key": {"type": "string", "required": true, "secret": true},
               "certificate": {"type": "string", "default": "", "secret": true}},
             "capabilities": {"key/1": {"ask": {"symbol": "key_ask", "signature": "() async -> json"}}}}
            """
        return unsafe LinkedPlugin(
            manifest: Array(manifest.utf8),
            functions: ["key_entry": Line.address(entry), "key_ask": Line.address(ask)]
        )
    }

    private nonisolated(unsafe) static let table = unsafe Line.table(
        create: { unsafe Line.create(KeyPlugin.self, $0, $1, $2, $3, $4) },
        open: { unsafe Line.open(KeyPlugin.self, $0, $1, $2) },
        probe: { unsafe Line.probe(KeyPlugin.self, $0, $1, $2) },
        close: { unsafe Line.close(KeyPlugin.self, $0, $1, $2) },
        destroy: { unsafe Line.destroy(KeyPlugin.self, $0) },
        cancel: { unsafe Line.cancel(KeyPlugin.self, $0, $1) }
    )

    private static let entry: @convention(c) () -> UnsafeRawPointer = { unsafe KeyPlugin.table }

    private static let ask:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Int32 = {
            instance,
            call,
            error in
            unsafe Line.perform(KeyPlugin.self, instance, call, error) {
                { plugin in Line.encode(JSONValue.string(try await plugin.ask())) }
            }
        }
}
