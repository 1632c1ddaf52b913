// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The faults that running simulators inject.
struct FaultsDocument: Document {
    /// The simulators' own document.
    var json: JSONValue

    func lines(_ style: TextStyle) -> [String] {
        let faults = (json["faults"]?.array ?? []).compactMap { $0["fault"]?.string }
        return faults.isEmpty ? ["no faults"] : faults.map(style.shown)
    }
}
