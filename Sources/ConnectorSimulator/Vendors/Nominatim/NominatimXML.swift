// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Nominatim's oldest format, still the default of some requests.
enum NominatimXML {
    /// Writes a list of places, one place, or an error.
    static func text(_ document: JSONValue, query: QueryItems) -> String {
        let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n"
        if let places = document.array {
            let inner = places.map { "<place \(attributes($0))>\(address($0))</place>" }.joined()
            return "\(declaration)<searchresults querystring=\"\(escaped(query["q"] ?? ""))\">\(inner)</searchresults>"
        }
        let inner: String
        if let error = document["error"]?.string {
            inner = "<error>\(escaped(error))</error>"
        } else {
            let parts = "<addressparts>\(address(document))</addressparts>"
            inner =
                "<result \(attributes(document))>\(escaped(document["display_name"]?.string ?? ""))</result>\(parts)"
        }
        return "\(declaration)<reversegeocode querystring=\"\(escaped(query.encoded))\">\(inner)</reversegeocode>"
    }

    /// The scalar members of a place.
    private static func attributes(_ place: JSONValue) -> String {
        (place.object?.members ?? [])
            .compactMap { member in
                switch member.value {
                case .string(let text): "\(member.name)=\"\(escaped(text))\""
                case .integer, .number: "\(member.name)=\"\(member.value)\""
                default: nil
                }
            }
            .joined(separator: " ")
    }

    /// The parts of an address as elements.
    private static func address(_ place: JSONValue) -> String {
        (place["address"]?.object?.members ?? [])
            .map { "<\($0.name)>\(escaped($0.value.string ?? ""))</\($0.name)>" }
            .joined()
    }

    /// Escapes a text for XML.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
