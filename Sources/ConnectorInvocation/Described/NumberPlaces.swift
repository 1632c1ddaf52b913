// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The parameters and answers of a signature that are an `i64` or an `f64` in a slot of its own.
///
/// The pointers point into a ``CallInterface``, which outlives every call of its operation.
@usableFromInline
@safe
package struct NumberPlaces {
    /// The type of the value in a place.
    @usableFromInline
    package enum Kind: UInt8, BitwiseCopyable {
        case i64
        case f64
        /// Any type that takes more than a load or a store.
        case other

        package init(_ type: ValueType) {
            switch type {
            case .i64: self = .i64
            case .f64: self = .f64
            default: self = .other
            }
        }
    }

    /// One parameter or answer.
    @usableFromInline
    package struct Place: BitwiseCopyable {
        /// The distance from the first slot, in bytes.
        @usableFromInline package let offset: Int32
        @usableFromInline package let kind: Kind

        package init(offset: Int, kind: Kind) {
            self.offset = Int32(truncatingIfNeeded: offset)
            self.kind = kind
        }
    }

    @usableFromInline package let inputs: UnsafeBufferPointer<Place>
    @usableFromInline package let answers: UnsafeBufferPointer<Place>

    /// The kind of the answer, if there is exactly one and it is unnamed.
    package let onlyAnswer: Kind

    /// Copies the places into memory of its own, until ``deallocate()``.
    package init(inputs: [CallInterface.Place], answers: [CallInterface.Place], argumentCount: Int) {
        unsafe self.inputs = .copying(
            inputs.map { place in
                // An optional number is passed by address.
                Place(offset: 8 * (place.argument ?? 0), kind: place.storage == nil ? Kind(place.type) : .other)
            }
        )
        unsafe self.answers = .copying(
            answers.map { place in
                Place(
                    offset: 8 * argumentCount + (place.storage ?? 0),
                    kind: place.storage == nil ? .other : Kind(place.type)
                )
            }
        )
        onlyAnswer = answers.count == 1 && answers[0].name.isEmpty ? Kind(answers[0].type) : .other
    }

    /// Frees the memory. Look up no place afterwards.
    package func deallocate() {
        unsafe inputs.deallocate()
        unsafe answers.deallocate()
    }

    /// The offset of a parameter; nil if there is none or it is of another kind.
    @inlinable
    @inline(__always)
    package func input(_ index: Int, _ kind: Kind) -> Int? { unsafe Self.offset(index, kind, in: inputs) }

    /// The offset of an answer; nil if there is none or it is of another kind.
    @inlinable
    @inline(__always)
    package func answer(_ index: Int, _ kind: Kind) -> Int? { unsafe Self.offset(index, kind, in: answers) }

    @inlinable
    @inline(__always)
    package static func offset(_ index: Int, _ kind: Kind, in places: UnsafeBufferPointer<Place>) -> Int? {
        guard index >= 0, index < places.count, unsafe places[index].kind == kind else { return nil }
        return unsafe Int(places[index].offset)
    }
}

extension UnsafeBufferPointer where Element: BitwiseCopyable {
    /// Copies the elements into new memory, which the caller deallocates.
    package static func copying(_ elements: [Element]) -> UnsafeBufferPointer {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = unsafe memory.initialize(fromContentsOf: elements)
        return UnsafeBufferPointer(memory)
    }
}
