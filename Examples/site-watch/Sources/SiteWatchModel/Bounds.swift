// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The values that a sensor may have.
public struct Bounds: Codable, Sendable, Hashable, CustomStringConvertible {
    /// The least value; nil for none.
    public var low: Double?
    /// The greatest value; nil for none.
    public var high: Double?

    /// Creates bounds.
    public init(low: Double? = nil, high: Double? = nil) {
        self.low = low
        self.high = high
    }

    /// Whether a value is within the bounds.
    public func contains(_ value: Double) -> Bool {
        (low.map { $0 <= value } ?? true) && (high.map { value <= $0 } ?? true)
    }

    /// `5 to 30`, `at least 20`, `at most 4`, `any`.
    public var description: String {
        switch (low, high) {
        case (let low?, let high?): "\(low.brief) to \(high.brief)"
        case (let low?, nil): "at least \(low.brief)"
        case (nil, let high?): "at most \(high.brief)"
        case (nil, nil): "any"
        }
    }

    /// The bounds of sensors for which none were set, by the sensors' names.
    public static let usual: [String: Bounds] = [
        "temperature": Bounds(low: 5, high: 30), "humidity": Bounds(low: 20, high: 80), "battery": Bounds(low: 20),
        "noise": Bounds(high: 70),
    ]
}

extension Double {
    /// The number with at most one digit after the point.
    public var brief: String {
        let tenths = (self * 10).rounded() / 10
        return tenths == tenths.rounded() && abs(tenths) < 1e15 ? "\(Int64(tenths))" : "\(tenths)"
    }
}
