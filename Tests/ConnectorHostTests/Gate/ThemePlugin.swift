// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorKit
import ConnectorManifest

/// A plugin in Swift that uses a settings gate and another one. The test links it, as an application would.
struct ThemePlugin: ConnectorKit.Plugin {
    private let settings: UsedSettings
    private let inner: UsedGate
    /// Nil in a host without another gate of settings.
    private let extra: UsedGate?

    init(configuration: PluginConfiguration, host: ConnectorKit.Host) {
        settings = host.gate("settings", as: UsedSettings.self)
        inner = host.gate("inner")
        extra = host.optionalGate("extra")
    }

    /// Reads the settings, which are open by now.
    func open() async throws -> [ConnectorKit.Evidence] {
        [.reachable("\(try await settings.list().members.count) settings")]
    }

    fileprivate func use(_ operation: String, _ name: String) async throws -> JSONValue {
        switch operation {
        case "read": return try await settings.value(of: name) ?? "none"
        case "write": try await settings.set("dark", for: name)
        case "begin": return try await inner.call("begin", ["name": .string(name)])
        case "extra": return try await extra?.call("counts") ?? "nothing is bound"
        case "stranger": return try await inner.call("stranger")
        default: throw PluginError(.unsupported, "unknown: \(operation)")
        }
        return .null
    }
}

extension ThemePlugin: LinkablePlugin {
    static var linkedPlugin: LinkedPlugin {
        let manifest = """
            {"manifest": 1, "id": "theme", "version": "1.0.0", "abi": [1, 1], "entry": "theme_entry",
             "uses": {"settings": "settings/1", "inner": "calls/1", "extra": {"capability": "calls/1", "optional": true}},
             "capabilities": {"theme/1": {"use": {
               "symbol": "theme_use", "signature": "(operation: string, name: string) async -> json"}}}}
            """
        return unsafe LinkedPlugin(
            manifest: Array(manifest.utf8),
            functions: ["theme_entry": Line.address(entry), "theme_use": Line.address(use)]
        )
    }

    private nonisolated(unsafe) static let table = unsafe Line.table(
        create: { unsafe Line.create(ThemePlugin.self, $0, $1, $2, $3, $4) },
        open: { unsafe Line.open(ThemePlugin.self, $0, $1, $2) },
        probe: { unsafe Line.probe(ThemePlugin.self, $0, $1, $2) },
        close: { unsafe Line.close(ThemePlugin.self, $0, $1, $2) },
        destroy: { unsafe Line.destroy(ThemePlugin.self, $0) },
        cancel: { unsafe Line.cancel(ThemePlugin.self, $0, $1) }
    )

    private static let entry: @convention(c) () -> UnsafeRawPointer = { unsafe ThemePlugin.table }

    private static let use:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64,
            UnsafeMutableRawPointer?
        ) -> Int32 = { instance, call, operation, operationLength, name, nameLength, error in
            unsafe Line.perform(ThemePlugin.self, instance, call, error) {
                let operation = try unsafe Line.string(operation, operationLength, "operation")
                let name = try unsafe Line.string(name, nameLength, "name")
                return { plugin in Line.encode(try await plugin.use(operation, name)) }
            }
        }
}
