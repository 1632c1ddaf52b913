// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation

extension ConnectorHost {
    /// What a closing host waits for, one phrase each: running plugin functions, and closing connectors without one.
    package var unfinished: [String] {
        let functions = dependencies.generations.functionsInside
        let blocked = Set(functions.map(\.path))
        let closing = current.tree.gates.filter { $0.state == .closing && !blocked.contains($0.path) }
        return functions.map(\.text) + closing.map { "the connector \($0.path) to close" }
    }
}
