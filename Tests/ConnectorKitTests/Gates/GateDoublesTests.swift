// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorKit
internal import Testing

/// Doubles for the gates that a plugin uses, and the typed values over them.
@Suite struct GateDoublesTests {
    private func host(_ answer: JSONValue) -> Host {
        Host(gates: GateDoubles(["it": { _, _ throws(PluginError) in answer }]))
    }

    @Test func `a double receives the operation and the arguments`() async throws {
        let host = Host(
            gates: GateDoubles([
                "settings": { operation, arguments throws(PluginError) in
                    guard operation == "get" else { throw PluginError(.unsupported, operation) }
                    return ["was": arguments]
                }
            ])
        )
        let settings = host.gate("settings", as: UsedSettings.self)
        #expect(try await settings.value(of: "theme") == ["was": ["key": "theme"]])
        let refused = await #expect(throws: PluginError.self) { try await settings.remove("theme") }
        #expect(refused?.status == .unsupported)
        let stranger = await #expect(throws: PluginError.self) { try await host.gate("other").call("get") }
        #expect(stranger?.status == .invalid)
    }

    @Test func `typed values read the capability's models`() async throws {
        #expect(try await host(.null).gate("it", as: UsedSettings.self).value(of: "a") == nil)
        #expect(try await host(["a": 1]).gate("it", as: UsedSettings.self).list().members.count == 1)
        let coordinate = try #require(Coordinate(latitude: 1.5, longitude: 2.5))
        let answer = JSONValue.array([Place(coordinate, provider: "test").json])
        let places = try await host(answer).gate("it", as: UsedGeocoder.self).reverse(ReverseRequest(coordinate))
        #expect(places.count == 1)
        let database = host(["id": "7", "data": ["a": 1]]).gate("it", as: UsedDatabase.self)
        #expect(try await database.get("7", in: "things").id == "7")
    }

    @Test func `an answer that breaks the capability's rules is the used gate's fault`() async throws {
        let error = await #expect(throws: PluginError.self) {
            try await host(7).gate("it", as: UsedGeocoder.self).geocode(GeocodeRequest(.text("x")))
        }
        #expect(error?.status == .protocolViolation)
        let start = #"the answer of the used gate "it" to "geocode" breaks the capability's rules: "#
        #expect(error?.message.hasPrefix(start) == true)
    }

    @Test func `a plugin without uses is denied`() async throws {
        let error = await #expect(throws: PluginError.self) { try await Host().gate("settings").call("get") }
        #expect(error?.status == .denied)
    }
}
