// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorManifest

/// Calls asynchronous functions whose parameters are all texts through their own C type.
///
/// All operations of the standard capabilities have this form, so typed clients never use libffi. Reading the manifest
/// compares its signature with the capability's, and the function pointer is cast to the C type of that signature.
package enum TextOperation {
    /// The first byte of a text, or null for no text; the length is a separate argument.
    package typealias Text = UnsafePointer<UInt8>?
    private typealias Instance = UnsafeMutableRawPointer?
    private typealias Call = UnsafePointer<connector_call>
    private typealias Failure = UnsafeMutablePointer<connector_error>

    private typealias F0 = @convention(c) (Instance, Call, Failure) -> Int32
    private typealias F1 = @convention(c) (Instance, Call, Text, UInt64, Failure) -> Int32
    private typealias F2 = @convention(c) (Instance, Call, Text, UInt64, Text, UInt64, Failure) -> Int32
    private typealias F3 =
        @convention(c) (Instance, Call, Text, UInt64, Text, UInt64, Text, UInt64, Failure) -> Int32
    private typealias F4 =
        @convention(c) (Instance, Call, Text, UInt64, Text, UInt64, Text, UInt64, Text, UInt64, Failure) -> Int32

    /// The maximum number of text parameters.
    package static let limit = 4

    /// Whether a signature has this form.
    package static func fits(_ signature: Signature) -> Bool {
        signature.isAsync && signature.parameters.count <= limit
            && signature.parameters.allSatisfy { [.string, .json, .bytes].contains($0.type) }
    }

    /// Calls a function whose signature passed ``fits(_:)``.
    ///
    /// - Parameter texts: One text per parameter, valid for the plugin until the function returns.
    package static func call(
        _ function: UnsafeMutableRawPointer,
        instance: UnsafeMutableRawPointer?,
        call: UnsafePointer<connector_call>,
        texts: [CallValue],
        error: UnsafeMutablePointer<connector_error>
    ) -> Int32 {
        unsafe lend(texts, 0) { t0, c0 in
            unsafe lend(texts, 1) { t1, c1 in
                unsafe lend(texts, 2) { t2, c2 in
                    unsafe lend(texts, 3) { t3, c3 in
                        switch texts.count {
                        case 0: unsafe unsafeBitCast(function, to: F0.self)(instance, call, error)
                        case 1: unsafe unsafeBitCast(function, to: F1.self)(instance, call, t0, c0, error)
                        case 2: unsafe unsafeBitCast(function, to: F2.self)(instance, call, t0, c0, t1, c1, error)
                        case 3:
                            unsafe unsafeBitCast(function, to: F3.self)(instance, call, t0, c0, t1, c1, t2, c2, error)
                        default:
                            unsafe unsafeBitCast(function, to: F4.self)(
                                instance,
                                call,
                                t0,
                                c0,
                                t1,
                                c1,
                                t2,
                                c2,
                                t3,
                                c3,
                                error
                            )
                        }
                    }
                }
            }
        }
    }

    /// Lends the body the bytes of a text.
    private static func lend(_ texts: [CallValue], _ index: Int, _ body: (Text, UInt64) -> Int32) -> Int32 {
        guard index < texts.count, case .bytes(let bytes) = texts[index] else { return body(nil, 0) }
        return unsafe bytes.withUnsafeBufferPointer { unsafe lend($0, body) }
    }

    /// Lends the body bytes. Even empty bytes have an address, because null means no text.
    static func lend(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (Text, UInt64) -> Int32) -> Int32 {
        guard bytes.isEmpty else { return unsafe body(bytes.baseAddress, UInt64(bytes.count)) }
        var nothing: UInt8 = 0
        return unsafe withUnsafePointer(to: &nothing) { unsafe body($0, 0) }
    }
}
