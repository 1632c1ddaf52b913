// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Formats and parses degrees.
enum Degrees {
    /// Formats with seven decimals, as OpenStreetMap stores them, including trailing zeros.
    static func text(_ degrees: Double) -> String {
        let scaled = Int64((degrees * 10_000_000).rounded())
        let magnitude = scaled.magnitude
        let fraction = String(magnitude % 10_000_000)
        let zeros = String(repeating: "0", count: 7 - fraction.utf8.count)
        return "\(scaled < 0 ? "-" : "")\(magnitude / 10_000_000).\(zeros)\(fraction)"
    }

    /// Parses a number without an exponent from `-limit` to `limit`; `nil` for anything else.
    static func parseDecimal(_ text: String?, limit: Double) -> Double? {
        guard text?.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) != true else { return nil }
        return parse(text, limit: limit)
    }

    /// Parses a number from `-limit` to `limit`; `nil` for anything else.
    static func parse(_ text: String?, limit: Double) -> Double? {
        guard let text = text?.trimmingBlanks(), let number = Double(text), number.magnitude <= limit else {
            return nil
        }
        return number
    }
}
