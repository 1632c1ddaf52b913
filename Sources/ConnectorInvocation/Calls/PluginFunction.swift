// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A function of a plugin that runs on a thread of the host.
package struct PluginFunction: Sendable, Hashable, CustomStringConvertible {
    /// The operation, or the function of the instance's life, such as `open`.
    package let name: String
    /// The exported symbol, if the manifest names it.
    package let symbol: String?
    /// Whether it still runs although its caller's deadline has passed.
    package var isOverdue = false

    /// Names a function.
    package init(_ name: String, symbol: String? = nil) {
        self.name = name
        self.symbol = symbol
    }

    /// `name (symbol)`.
    package var description: String { symbol.map { "\(name) (\($0))" } ?? name }
}
