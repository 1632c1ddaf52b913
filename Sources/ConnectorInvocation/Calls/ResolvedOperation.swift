// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorLoading
package import ConnectorManifest
internal import ConnectorPlatform

/// An operation of a loaded plugin, resolved and ready to call.
///
/// `@unchecked Sendable`: the function's address is constant and valid for the life of the process.
@safe
package final class ResolvedOperation: @unchecked Sendable {
    /// The operation as the manifest describes it.
    package let operation: Operation
    /// The exported function.
    package let function: UnsafeMutableRawPointer
    /// The layout of its arguments for libffi.
    package let layout: CallLayout
    /// Whether ``TextOperation`` calls the function through its own C type, without libffi.
    package let takesTexts: Bool
    /// Whether the function returns its results directly and does not block.
    package var answersAtOnce: Bool { foreign == nil && !isAsync }
    /// The signature to call it with, as the fix of an error.
    package var usage: String { "call it as \(operation.name)\(operation.signature)" }

    /// Whether the function runs on its caller's thread: its manifest declares it prompt, and it is.
    package var isPrompt: Bool { isDeclaredPrompt && !probation.isOn }
    /// Whether, and for how long, the function runs on threads although its manifest declares it prompt.
    package let probation = Probation()

    private let isAsync: Bool
    private let isDeclaredPrompt: Bool
    /// How a foreign function reports errors; nil for a plugin's function.
    package let foreign: ForeignConvention?
    /// The image of the plugin, which crash notes name during calls of a foreign function.
    let mark: NamedImage?

    /// Resolves the function's symbol and prepares calls to it.
    package init(_ operation: Operation, of plugin: Plugin) throws(ConnectorError) {
        guard let function = unsafe plugin.symbol(named: operation.symbol) else {
            throw ConnectorError(
                .symbolAbsent,
                "\(plugin.path) does not export \(operation.symbol.excerpt), the function of \(operation.name.excerpt)",
                fix: "run: connector-host inspect \(plugin.path)"
            )
        }
        self.operation = operation
        self.isDeclaredPrompt = operation.isPrompt
        self.isAsync = operation.signature.isAsync
        self.foreign = operation.foreign
        self.mark = plugin.mark
        self.takesTexts = TextOperation.fits(operation.signature)
        unsafe self.function = function
        layout = try CallLayout(
            operation.signature,
            isForeign: operation.foreign != nil,
            returnsValue: operation.foreign?.returnsValue(of: operation.signature) ?? false,
            statusType: operation.foreign?.statusType ?? .i32
        )
    }
}
