// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorLoading
package import ConnectorManifest

/// An operation of a loaded plugin, ready to be called.
///
/// `@unchecked Sendable`: the function's address is constant, and valid as long as the process; the plan is only read, and valid as
/// long as the interface, which is kept here.
@safe
package final class ResolvedOperation: @unchecked Sendable {
    /// What the manifest says.
    package let operation: Operation
    /// The exported function.
    package let function: UnsafeMutableRawPointer
    /// How its arguments lie for libffi.
    package let interface: CallInterface
    /// The interface's plan.
    package let plan: UnsafePointer<CallPlan>
    /// Whether it is called through its own C type instead.
    package let takesTexts: Bool
    /// Whether it answers before its function returns, and does not block meanwhile.
    package var answersAtOnce: Bool { foreign == nil && !isAsync }
    /// How to call it, for errors.
    package var usage: String { "its signature is \(operation.name)\(operation.signature)" }

    private let isAsync: Bool
    /// How a foreign function tells success; nil for a plugin's own.
    package let foreign: ForeignConvention?

    /// Resolves the symbol and prepares the call.
    package init(_ operation: Operation, of plugin: Plugin) throws(ConnectorError) {
        guard let function = unsafe plugin.symbol(named: operation.symbol) else {
            throw ConnectorError(
                .symbolAbsent,
                "\(plugin.path) does not export \(operation.symbol), the function of \(operation.name)",
                fix: "run: connector-host inspect \(plugin.path)"
            )
        }
        self.operation = operation
        self.isAsync = operation.signature.isAsync
        self.foreign = operation.foreign
        self.takesTexts = TextOperation.fits(operation.signature)
        unsafe self.function = function
        interface = try CallInterface(
            operation.signature,
            isForeign: operation.foreign != nil,
            returnsValue: operation.foreign?.returnsValue(of: operation.signature) ?? false
        )
        unsafe plan = interface.plan
    }
}
