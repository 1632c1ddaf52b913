// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorSimulator
internal import Testing

/// How points are written for vendors.
@Suite struct PlainDegreesTests {
    @Test(
        arguments: [
            (0.0, "0.0"), (52.5170365, "52.5170365"), (-90, "-90.0"), (13.3777034000001, "13.3777034000001"),
            (0.0001, "0.0001"), (-0.0001, "-0.0001"), (9.994e-05, "0.0000999"),
            (5e-05, "0.00005"), (-5e-05, "-0.00005"), (1.23456789e-05, "0.0000123"), (1e-07, "0.0000001"),
            (-6e-08, "-0.0000001"), (4e-08, "0.0"), (-4e-08, "0.0"), (.leastNonzeroMagnitude, "0.0"),
            (9.99999999e-05, "0.0001"),
        ] as [(Double, String)]
    )
    func `degrees have no exponent, and usual ones all their digits`(_ degrees: Double, _ text: String) throws {
        let point = try #require(Coordinate(latitude: degrees, longitude: degrees))
        #expect(point.decimals == (text, text))
    }

    @Test(arguments: AdapterExercise.all.filter { $0.name == "reverse" })
    func `a point where the equator meets Greenwich is asked for as numbers`(_ exercise: AdapterExercise) async throws {
        let (plugin, http) = try exercise.adapter()
        let adapter = try #require(plugin as? any GeocoderPlugin)
        let point = try #require(Coordinate(latitude: 0.00005, longitude: -0.0000004))
        #expect(try await adapter.reverse(ReverseRequest(point)).isEmpty)
        let target = try #require(http.received.last?.path)
        #expect(target.contains("0.00005") && target.contains("-0.0000004"))
    }
}
