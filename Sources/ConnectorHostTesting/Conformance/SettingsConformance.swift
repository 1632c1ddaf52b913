// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost
internal import ConnectorServices

/// Checks, in a plugin author's tests, whether an open gate follows the contract of `settings/1`.
///
/// ```swift
/// #expect(await SettingsConformance.check(try host.settings("settings")).isEmpty)
/// ```
///
/// The suite changes settings whose keys start with `conformance.`. It removes all of them first and, unless a call fails, at the end.
public enum SettingsConformance {
    /// Checks a gate.
    ///
    /// - Parameters:
    ///   - settings: A client of one leaf with an open gate.
    ///   - timeout: The longest time to wait for the event of a change.
    /// - Returns: Every broken rule; empty if the plugin conforms.
    public static func check(
        _ settings: SettingsClient,
        timeout: Duration = .seconds(5)
    ) async -> [PluginConformance.Finding] {
        var suite = Suite(settings: settings, timeout: timeout)
        await suite.run()
        return suite.findings
    }

    private struct Suite {
        let settings: SettingsClient
        let timeout: Duration
        var findings: [PluginConformance.Finding] = []

        mutating func run() async {
            do throws(ConnectorError) {
                try await clear()
                try await checkValues()
                try await checkChanges()
                try await checkConcurrency()
                try await clear()
            } catch {
                find("a call failed: \(error)")
            }
            await checkRefusals()
        }

        private mutating func find(_ message: String) {
            findings.append(PluginConformance.Finding(.capability, message))
        }

        private mutating func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
            if !condition { find(message()) }
        }

        private func clear() async throws(ConnectorError) {
            for key in try await settings.list(startingWith: "conformance.").names { try await settings.remove(key) }
        }

        /// Checks that values are returned unchanged, and that removing is permanent and idempotent.
        private mutating func checkValues() async throws(ConnectorError) {
            let values: [JSONValue] = ["text", 7, 0.5, true, [1, "a", nil], ["a": ["b": false]], ""]
            for value in values {
                try await settings.set(value, for: "conformance.value")
                let found = try await settings.value(of: "conformance.value")
                expect(found == value, "\(value) came back as \(found ?? .null)")
            }
            for _ in 1...2 { try await settings.remove("conformance.value") }
            let gone = try await settings.value(of: "conformance.value")
            expect(gone == nil, "a removed setting still has the value \(gone ?? .null)")
        }

        /// Checks that a change of several settings emits one event, and appears in the list.
        private mutating func checkChanges() async throws(ConnectorError) {
            try await settings.set(1, for: "conformance.c")
            let changes = settings.changes()
            let expected: JSONValue = ["conformance.b": 2, "conformance.a": "x", "conformance.c": nil]
            let change = try SettingsChange(json: expected)
            try await settings.change(change)
            let list = try await settings.list(startingWith: "conformance.")
            expect(list == ["conformance.a": "x", "conformance.b": 2], "after \(expected) the list is \(list)")
            expect(list.names == list.names.sorted(), "the list is not in the order of the keys: \(list.names)")
            let told = await first(of: changes, with: ["conformance.a", "conformance.b"])
            expect(told?.change == change, "the change \(expected) was reported as \(told?.change.json ?? "nothing")")
        }

        /// Checks that concurrent changes all take effect.
        private mutating func checkConcurrency() async throws(ConnectorError) {
            let keys = (0..<20).map { "conformance.at-once.\($0)" }
            let failures = await withTaskGroup(of: ConnectorError?.self) { [settings] group in
                for key in keys {
                    group.addTask {
                        do throws(ConnectorError) { try await settings.set(true, for: key) } catch { return error }
                        return nil
                    }
                }
                return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
            }
            for failure in failures { find("one of 20 concurrent changes failed: \(failure)") }
            let kept = try await settings.list(startingWith: "conformance.at-once.").members.count
            expect(kept == keys.count, "\(kept) of 20 concurrent changes took effect")
        }

        /// Checks that an invalid key or value is rejected as `invalid`.
        private mutating func checkRefusals() async {
            await expectInvalid("the key \"a/b\"") { settings throws(ConnectorError) in
                try await settings.set(1, for: "a/b")
            }
            await expectInvalid("the empty key") { settings throws(ConnectorError) in
                _ = try await settings.value(of: "")
            }
            await expectInvalid("null") { settings throws(ConnectorError) in
                try await settings.set(.null, for: "conformance.value")
            }
        }

        private mutating func expectInvalid(
            _ what: String,
            _ call: (SettingsClient) async throws(ConnectorError) -> Void
        ) async {
            do throws(ConnectorError) {
                try await call(settings)
                find("\(what) was accepted")
            } catch {
                expect(error.code == .invalid, "\(what) was refused as \(error.code), which must be invalid")
            }
        }

        /// The first change of one of the settings; nil if none comes in time. A server may answer earlier changes, of others, before
        /// it reports them.
        private func first(of changes: SettingsChanges, with keys: [String]) async -> SettingsChanges.Element? {
            await withTaskGroup(of: SettingsChanges.Element?.self) { [timeout] group in
                group.addTask { await changes.first { event in keys.contains { event.change.json[$0] != nil } } }
                group.addTask {
                    try? await Task.sleep(for: timeout)
                    return nil
                }
                defer { group.cancelAll() }
                return await group.next() ?? nil
            }
        }
    }
}
