// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The reason a simulator cannot be set up or reached.
public enum SimulatorError: Error, Equatable, CustomStringConvertible {
    /// No simulator exists for the vendor.
    case unknownVendor(String)
    /// The server has stopped, or never listened; the reason.
    case notRunning(String)
    /// The answers have faults; one text for each, at least one.
    case invalidAnswers([String])

    /// One line with the reason and, if there is one, the remedy.
    public var description: String {
        switch self {
        case .unknownVendor(let name):
            "no vendor \"\(name)\" is simulated; there are \(VendorCatalogue.names.joined(separator: ", "))"
        case .notRunning(let reason): "the simulator is not running: \(reason)"
        case .invalidAnswers(let errors): errors.joined(separator: "\n")
        }
    }
}
