// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorCapabilities

/// Writes points in the form that vendors read.
extension Coordinate {
    /// The degrees as plain decimals. Swift writes numbers below 0.0001 with an exponent, such as `5e-05`, which vendors refuse or mistake
    /// for a name.
    package var decimals: (latitude: String, longitude: String) { (Self.decimal(latitude), Self.decimal(longitude)) }

    /// The shortest decimal text of degrees. Magnitudes below 0.0001 get at most seven decimal places, about a
    /// centimeter.
    private static func decimal(_ degrees: Double) -> String {
        guard degrees != 0, degrees.magnitude < 0.0001 else { return "\(degrees)" }
        let scaled = Int(degrees.magnitude * 10_000_000 + 0.5)
        guard scaled > 0 else { return "0.0" }
        var digits = String(scaled)
        digits = String(repeating: "0", count: 7 - digits.utf8.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(degrees < 0 ? "-" : "")0.\(digits)"
    }
}
