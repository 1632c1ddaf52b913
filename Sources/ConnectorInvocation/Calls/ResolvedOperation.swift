// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorLoading
package import ConnectorManifest
internal import Synchronization

/// An operation of a loaded plugin, resolved and ready to call.
///
/// `@unchecked Sendable`: the function's address is constant and valid as long as the process.
@safe
package final class ResolvedOperation: @unchecked Sendable {
    /// The operation as the manifest describes it.
    package let operation: Operation
    /// The exported function.
    package let function: UnsafeMutableRawPointer
    /// The layout of its arguments for libffi.
    package let layout: CallLayout
    /// Whether the function is called through its own C type instead of libffi.
    package let takesTexts: Bool
    /// Whether the answer is there when the function returns, and the function does not block.
    package var answersAtOnce: Bool { foreign == nil && !isAsync }
    /// The signature to call it with, as the fix of an error.
    package var usage: String { "call it as \(operation.name)\(operation.signature)" }

    /// Whether the function runs on its caller's thread: the manifest calls it prompt, and it has been so far.
    package var isPrompt: Bool { isDeclaredPrompt && !isSlow.load(ordering: .relaxed) }

    private let isAsync: Bool
    private let isDeclaredPrompt: Bool
    private let isSlow = Atomic<Bool>(false)
    /// The convention by which a foreign function reports success; nil for a plugin's function.
    package let foreign: ForeignConvention?

    /// Resolves the function's symbol and prepares its call.
    package init(_ operation: Operation, of plugin: Plugin) throws(ConnectorError) {
        guard let function = unsafe plugin.symbol(named: operation.symbol) else {
            throw ConnectorError(
                .symbolAbsent,
                "\(plugin.path) does not export \(operation.symbol), the function of \(operation.name)",
                fix: "run: connector-host inspect \(plugin.path)"
            )
        }
        self.operation = operation
        self.isDeclaredPrompt = operation.isPrompt
        self.isAsync = operation.signature.isAsync
        self.foreign = operation.foreign
        self.takesTexts = TextOperation.fits(operation.signature)
        unsafe self.function = function
        layout = try CallLayout(
            operation.signature,
            isForeign: operation.foreign != nil,
            returnsValue: operation.foreign?.returnsValue(of: operation.signature) ?? false
        )
    }

    /// Runs the function on threads of the host from now on.
    ///
    /// - Returns: Whether it was prompt until now.
    package func becomesSlow() -> Bool { !isSlow.exchange(true, ordering: .relaxed) }
}
