// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CFFI
package import ConnectorManifest

/// All that a call needs of a ``CallInterface`` while it runs, as plain numbers and addresses.
///
/// Reached by its address, which costs no reference count, and kept by the interface, which whoever calls keeps.
@safe
package struct CallPlan {
    /// The place of an argument that always holds the address of some storage.
    package struct Pointer: BitwiseCopyable {
        package var argument: Int
        package var storage: Int
    }

    /// Where an answer lies.
    package struct Answer: BitwiseCopyable {
        package var type: ValueType
        package var role: CallInterface.Role
        /// Its first C argument; -1 for the function's return value.
        package var argument: Int
        /// Its bytes after the slots; -1 if it has none.
        package var storage: Int
    }

    /// libffi's description of the function.
    package let cif: UnsafeMutablePointer<ffi_cif>
    /// How many C arguments there are.
    package let argumentCount: Int
    /// How many bytes a ``CallFrame`` needs.
    package let frameSize: Int
    /// The arguments that always hold the address of some storage.
    package let pointers: UnsafeBufferPointer<Pointer>
    /// What comes back, in order.
    package let answers: UnsafeBufferPointer<Answer>
    /// Whether anything but numbers comes back.
    package let answersBytes: Bool
    /// The parameters that must have a value, a bit for each.
    package let required: UInt64
    /// Which parameters and answers are a store or a load away.
    package let numbers: NumberPlaces
    /// How the function tells its instance, its call and its errors; nil for a foreign library's.
    package let frame: Frame

    /// The C arguments that are not in the signature.
    package struct Frame: Sendable {
        package var instance: Int?
        package var call: Int?
        package var error: Int?
    }

    /// Frees what the addresses lead to.
    package func deallocate() {
        numbers.deallocate()
        unsafe pointers.deallocate()
        unsafe answers.deallocate()
        unsafe cif.deallocate()
    }
}
