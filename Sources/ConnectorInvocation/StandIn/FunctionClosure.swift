// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFFI
internal import ConnectorBase
internal import ConnectorManifest

/// A C function made at run time, whose calls a closure answers. It exists until the process ends.
///
/// libffi writes the code, into memory that it allocates for that ("The Closure API"). Functions of plugins are never freed, so these
/// are not either: make one per operation of a plugin, not one per call.
package enum FunctionClosure {
    /// The addresses of the arguments of one call, valid until the function returns.
    @safe
    package struct Arguments {
        private let addresses: UnsafeMutablePointer<UnsafeMutableRawPointer?>

        init(_ addresses: UnsafeMutablePointer<UnsafeMutableRawPointer?>) {
            unsafe self.addresses = addresses
        }

        /// The address of a C argument.
        ///
        /// - Parameter index: The index of the argument; the layout has it.
        package func address(at index: Int) -> UnsafeMutableRawPointer? { unsafe addresses[index] }

        /// The pointer that is passed as a C argument; nil for null.
        package func pointer(at index: Int) -> UnsafeMutableRawPointer? {
            unsafe address(at: index)?.load(as: UnsafeMutableRawPointer?.self)
        }

        /// The number that is passed as a C argument; 0 if there is none.
        package func number(at index: Int) -> UInt64 { unsafe address(at: index)?.load(as: UInt64.self) ?? 0 }
    }

    /// Answers a call: receives its arguments, and returns the function's value, widened to 64 bits.
    typealias Body = @Sendable (Arguments) -> UInt64

    /// What a call of the code leads to.
    private final class Target: Sendable {
        /// Kept, because the code refers to its types.
        let layout: CallLayout
        let body: Body

        init(_ layout: CallLayout, _ body: @escaping Body) {
            self.layout = layout
            self.body = body
        }
    }

    private static let enter:
        @convention(c) (
            UnsafeMutablePointer<ffi_cif>?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutableRawPointer?
        ) -> Void = { _, returned, addresses, target in
            guard let target = unsafe target, let returned = unsafe returned else { return }
            // Without arguments there may be no array of them, either.
            var none: UnsafeMutableRawPointer?
            let value = unsafe withUnsafeMutablePointer(to: &none) { none in
                let arguments = unsafe Arguments(addresses ?? none)
                return unsafe Unmanaged<Target>.fromOpaque(target).takeUnretainedValue().body(arguments)
            }
            unsafe returned.storeBytes(of: value, as: UInt64.self)
        }

    /// Makes a function with the C type of a layout.
    ///
    /// - Parameter body: Runs on the caller's thread.
    /// - Returns: The function's address.
    /// - Throws: `unsupported` if this system does not let a process make code.
    static func make(_ layout: CallLayout, _ body: @escaping Body) throws(ConnectorError) -> UInt {
        let target = unsafe Unmanaged.passRetained(Target(layout, body))
        guard let code = unsafe cffi_closure(layout.shape.cif, enter, target.toOpaque()) else {
            unsafe target.release()
            throw ConnectorError(
                .unsupported,
                "this system does not let the process make functions, so no interface can be simulated",
                fix: "allow memory that is executable, or use the plugin itself"
            )
        }
        return UInt(bitPattern: code)
    }
}
