// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorCapabilities

extension Place {
    /// The places in a vendor's results. Leaves out a result without a coordinate on Earth, such as a longitude of 181, rather than lose
    /// the others.
    ///
    /// - Parameters:
    ///   - results: The results, as the vendor answers them.
    ///   - vendor: The vendor's name, which becomes the error's domain.
    ///   - place: Reads a result; nil if it has no coordinate.
    /// - Throws: `protocolViolation` if there are results, but none has a coordinate.
    package static func all(
        in results: [JSONValue],
        of vendor: String,
        read place: (JSONValue) -> Place?
    ) throws(PluginError) -> [Place] {
        let places = results.compactMap(place)
        guard results.isEmpty || !places.isEmpty else {
            throw PluginError(.protocolViolation, "no result has a coordinate", domain: vendor)
        }
        return places
    }
}
