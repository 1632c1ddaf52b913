// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CFFI
package import ConnectorManifest

/// The parts of a ``CallInterface`` that a running call needs, as plain numbers and addresses.
///
/// Calls reach it by its address, which costs no reference count. The caller keeps the interface, which keeps the plan.
@safe
package struct CallPlan {
    /// An argument that always holds the address of some storage.
    package struct Pointer: BitwiseCopyable {
        package var argument: Int
        package var storage: Int
    }

    /// The location of one answer.
    package struct Answer: BitwiseCopyable {
        package var type: ValueType
        package var role: CallInterface.Role
        /// Its first C argument; -1 for the function's return value.
        package var argument: Int
        /// The offset of its storage after the slots; -1 if it has none.
        package var storage: Int
    }

    /// libffi's description of the function.
    package let cif: UnsafeMutablePointer<ffi_cif>
    /// The number of C arguments.
    package let argumentCount: Int
    /// The size of a ``CallFrame``, in bytes.
    package let frameSize: Int
    /// The arguments that always hold the address of some storage.
    package let pointers: UnsafeBufferPointer<Pointer>
    /// The answers, in the order of the signature.
    package let answers: UnsafeBufferPointer<Answer>
    /// Whether any answer is not a number.
    package let answersBytes: Bool
    /// The parameters that need a value, as one bit each.
    package let required: UInt64
    /// The parameters and answers that one store or load reaches.
    package let numbers: NumberPlaces
    /// The arguments that carry the instance, the call and the error; nil for a foreign library's function.
    package let frame: Frame

    /// The C arguments outside the signature.
    package struct Frame: Sendable {
        package var instance: Int?
        package var call: Int?
        package var error: Int?
    }

    /// Frees the memory behind the addresses.
    package func deallocate() {
        numbers.deallocate()
        unsafe pointers.deallocate()
        unsafe answers.deallocate()
        unsafe cif.deallocate()
    }
}
