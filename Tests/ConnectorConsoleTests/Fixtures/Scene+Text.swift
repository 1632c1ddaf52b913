// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

@testable import ConnectorConsole

extension Scene {
    /// Everything that it says.
    var text: String {
        components.map { component in
            ([component.title, component.state.text.text].filter { !$0.isEmpty }
                + component.rows.map { $0.cells.map(\.text).joined(separator: " | ") }).joined(
                    separator: "\n"
                )
        }.joined(separator: "\n")
    }
}
