// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The places that the simulated geocoders know, with the search for them.
///
/// Coordinates, addresses and numbers are those of OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0.
enum Gazetteer {
    /// Finds places by free text: every word must occur, and at least one of them in the name, street or postcode.
    ///
    /// - Parameters:
    ///   - text: The words, in any order; case, accents and punctuation do not matter.
    ///   - isPrefix: Whether the last word may be the beginning of a longer one.
    static func search(_ text: String, isPrefix: Bool = false) -> [GazetteerPlace] {
        let words = SearchText.words(of: text)
        guard !words.isEmpty else { return [] }
        let ranked = places.compactMap { place -> (place: GazetteerPlace, score: Double)? in
            let own = SearchText.words(of: ([place.name] + place.aliases).joined(separator: " "))
            let street = ["house_number", "road", "postcode"].compactMap { place[$0] }.joined(separator: " ")
            let near = SearchText.words(of: street)
            let around = SearchText.words(of: place.address.map(\.value).joined(separator: " "))
            let ownCount = words.filter { SearchText.contains(own, $0, isPrefix: isPrefix && $0 == words.last) }.count
            let nearCount = words.filter { SearchText.contains(near, $0, isPrefix: isPrefix && $0 == words.last) }.count
            let all = own + around
            guard ownCount + nearCount > 0,
                words.allSatisfy({ SearchText.contains(all, $0, isPrefix: isPrefix && $0 == words.last) })
            else { return nil }
            return (place, Double(ownCount) * 2 + Double(nearCount) + place.importance)
        }
        return ranked.sorted { ($0.score, $1.place.osm.id) > ($1.score, $0.place.osm.id) }.map(\.place)
    }

    /// Finds places by parts of their address, all of which must match.
    static func search(structured parts: [(keys: [String], text: String)]) -> [GazetteerPlace] {
        let wanted = parts.map { ($0.keys, SearchText.words(of: $0.text)) }.filter { !$0.1.isEmpty }
        guard !wanted.isEmpty else { return [] }
        let isCity = wanted.allSatisfy {
            !$0.0.contains("road") && !$0.0.contains("amenity") && !$0.0.contains("postcode")
        }
        let found = places.filter { place in
            wanted.allSatisfy { keys, words in
                let values = keys.compactMap { $0 == "amenity" ? place.name : place[$0] }
                let known = SearchText.words(of: values.joined(separator: " "))
                return words.allSatisfy { known.contains($0) }
            }
        }
        return found.filter { !isCity || $0.isArea }.sorted { $0.importance > $1.importance }
    }

    /// Finds the places at a coordinate: landmarks within `radius` meters, nearest first, then the areas that contain it.
    static func reverse(latitude: Double, longitude: Double, radius: Double, onlyAreas: Bool = false)
        -> [GazetteerPlace]
    {
        let spots = places.filter { !$0.isArea && !onlyAreas }.map { place in
            (place, Distance.metres(from: (latitude, longitude), to: (place.latitude, place.longitude)))
        }
        let near = spots.filter { $0.1 <= radius }.sorted { $0.1 < $1.1 }.map { $0.0 }
        let around = places.filter { place in
            let box = place.box
            return place.isArea && (box.south...box.north).contains(latitude)
                && (box.west...box.east).contains(longitude)
        }
        return near + around
    }

    /// Finds a place by the first letter of its OpenStreetMap type and by its number.
    static func lookup(type: Character, id: Int64) -> GazetteerPlace? {
        places.first { $0.osm.id == id && $0.osm.type.first == Character(type.lowercased()) }
    }
}
