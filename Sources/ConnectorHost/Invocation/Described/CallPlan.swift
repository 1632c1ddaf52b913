// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFFI
internal import ConnectorManifest

/// All that a call needs of a ``CallInterface`` while it runs, as plain numbers and addresses.
///
/// Reached by its address, which costs no reference count, and kept by the interface, which whoever calls keeps.
@safe
struct CallPlan {
    /// The place of an argument that always holds the address of some storage.
    struct Pointer: BitwiseCopyable {
        var argument: Int
        var storage: Int
    }

    /// Where an answer lies.
    struct Answer: BitwiseCopyable {
        var type: ValueType
        var role: CallInterface.Role
        /// Its first C argument; -1 for the function's return value.
        var argument: Int
        /// Its bytes after the slots; -1 if it has none.
        var storage: Int
    }

    /// libffi's description of the function.
    let cif: UnsafeMutablePointer<ffi_cif>
    /// How many C arguments there are.
    let argumentCount: Int
    /// How many bytes a ``CallFrame`` needs.
    let frameSize: Int
    /// The arguments that always hold the address of some storage.
    let pointers: UnsafeBufferPointer<Pointer>
    /// What comes back, in order.
    let answers: UnsafeBufferPointer<Answer>
    /// Whether anything but numbers comes back.
    let answersBytes: Bool
    /// The parameters that must have a value, a bit for each.
    let required: UInt64
    /// Which parameters and answers are a store or a load away.
    let numbers: NumberPlaces
    /// How the function tells its instance, its call and its errors; nil for a foreign library's.
    let frame: Frame

    /// The C arguments that are not in the signature.
    struct Frame: Sendable {
        var instance: Int?
        var call: Int?
        var error: Int?
    }

    /// Frees what the addresses lead to.
    func deallocate() {
        numbers.deallocate()
        unsafe pointers.deallocate()
        unsafe answers.deallocate()
        unsafe cif.deallocate()
    }
}
