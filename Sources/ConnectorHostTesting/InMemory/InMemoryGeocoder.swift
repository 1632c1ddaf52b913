// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorHost
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A geocoder for an application's tests, which knows the places that it is given.
///
/// A request finds the places whose name and address contain each of its words, in any case and even within longer words, in the
/// order in which the places were given; one of punctuation alone finds none. Its language and countries have no
/// effect. A call in a cancelled task or past its deadline is refused. Use it from any thread.
public final class InMemoryGeocoder: Geocoder {
    private struct State {
        var places: [Place]
        var error: ConnectorError?
    }

    private let state: Mutex<State>

    /// Creates a geocoder that knows some places.
    public init(_ places: [Place] = []) {
        state = Mutex(State(places: places))
    }

    /// The places that can be found.
    public var places: [Place] {
        get { state.withLock(\.places) }
        set { state.withLock { $0.places = newValue } }
    }

    /// The error that every call throws from now on; nil for none.
    public var error: ConnectorError? {
        get { state.withLock(\.error) }
        set { state.withLock { $0.error = newValue } }
    }

    /// Finds places by the words of their names and addresses.
    public func geocode(
        _ request: GeocodeRequest,
        options: CallOptions
    ) async throws(ConnectorError) -> [Place] {
        try options.begin("geocode")
        let line =
            switch request.subject {
            case .text(let text): text
            case .address(let address): address.line
            }
        guard line.contains(where: { !$0.isWhitespace }) else {
            throw ConnectorError(.invalid, "the request has no text to search for")
        }
        let words = line.lowercased().split { !$0.isLetter && !$0.isNumber }
        let places = try known(limit: request.limit)
        guard !words.isEmpty else { return [] }
        let found = places.filter { place in
            let text = [place.name, place.formattedAddress].compactMap(\.self).joined(separator: " ").lowercased()
            return words.allSatisfy { text.contains($0) }
        }
        return Array(found.prefix(request.limit))
    }

    /// Finds the nearest places, however far away they are.
    public func reverse(
        _ coordinate: Coordinate,
        limit: Int,
        language: String?,
        options: CallOptions
    ) async throws(ConnectorError) -> [Place] {
        try options.begin("reverse")
        let places = try known(limit: limit).map { ($0, Self.angle(coordinate, $0.coordinate)) }
        return places.sorted { $0.1 < $1.1 }.prefix(limit).map(\.0)
    }

    private func known(limit: Int) throws(ConnectorError) -> [Place] {
        guard (1...50).contains(limit) else {
            throw ConnectorError(.invalid, "the limit \(limit) is not within 1...50")
        }
        let state = state.withLock(\.self)
        if let error = state.error { throw error }
        return state.places
    }

    /// The haversine of the angle between two points, which grows with their distance.
    private static func angle(_ left: Coordinate, _ right: Coordinate) -> Double {
        func haversine(_ degrees: Double) -> Double {
            let half = sin(degrees * .pi / 360)
            return half * half
        }
        return haversine(right.latitude - left.latitude)
            + cos(left.latitude * .pi / 180) * cos(right.latitude * .pi / 180)
            * haversine(right.longitude - left.longitude)
    }
}
