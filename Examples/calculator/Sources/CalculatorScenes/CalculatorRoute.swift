// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole

/// The places of the calculator.
public enum CalculatorRoute: RouteValue {
    /// Everything at once, beside one of the tabs.
    case desk(Part)
    /// One part alone.
    case part(Part)

    /// A part of the calculator, which sees one slice of the presenter.
    public enum Part: String, Sendable, CaseIterable {
        case display, keypad, history, info
    }

    /// The name of the tab.
    public static let root = "calculator"

    /// `/calculator`, `/calculator/with/info`, `/calculator/keypad`.
    public var parts: [String] {
        switch self {
        case .desk(.history): []
        case .desk(let tab): ["with", tab.rawValue]
        case .part(let part): [part.rawValue]
        }
    }

    /// Reads a place from the parts of its URL.
    public init?(parts: [String]) {
        guard let first = parts.first else {
            self = .desk(.history)
            return
        }
        guard let part = Part(rawValue: parts[parts.count - 1]) else { return nil }
        switch parts.count {
        case 1: self = .part(part)
        case 2 where first == "with" && part == .info: self = .desk(part)
        default: return nil
        }
    }
}
