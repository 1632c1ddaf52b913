// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import CFFI
package import ConnectorManifest

/// The memory layout of a signature for libffi: worked out once for an operation, then only read.
///
/// Every C argument has a slot of eight bytes. The storage of results and optional scalars, which are passed by
/// address, follows the slots. A ``CallFrame`` is memory of this layout.
///
/// `@unchecked Sendable`: the memory behind the pointers is written in `init`, then only read, also by `ffi_call`,
/// which takes the prepared interface and the types as constants (libffi, "The Basics"). It is freed with the object.
@safe
@usableFromInline
package final class CallLayout: @unchecked Sendable {
    /// A parameter or result with its location. Offsets count from the first slot, in bytes.
    @usableFromInline
    package struct Place: Sendable {
        /// Its name in the signature; empty for a single result.
        package let name: String
        package let type: ValueType
        package let isOptional: Bool
        package let role: Role
        /// Its first C argument; nil for the function's return value.
        package let argument: Int?
        /// The offset of its storage, for a value passed by address.
        package fileprivate(set) var storage: Int?
        /// The number that one load or store at ``offset`` reaches.
        @usableFromInline package fileprivate(set) var number = Number.other
        /// The offset of its value.
        @usableFromInline package fileprivate(set) var offset = 0
    }

    /// The kind of memory that holds a value.
    package enum Role: BitwiseCopyable, Sendable {
        /// One number or pointer.
        case scalar
        /// Bytes that the caller owns and the callee reads or fills.
        case buffer
        /// Bytes that the callee allocates and releases.
        case owned
    }

    /// The type of a value, as far as a single load or store goes.
    @usableFromInline
    package enum Number: UInt8, BitwiseCopyable, Sendable {
        case i64
        case f64
        /// Any value that takes more than a load or a store.
        case other
    }

    /// The parameters and answers of the operation.
    package let signature: Signature
    /// The values that the caller passes in. Valid as long as the layout, like all its memory.
    package let inputs: UnsafeBufferPointer<Place>
    /// The values that the callee writes: scalars, then buffers lent by the caller, then results.
    package let answers: UnsafeBufferPointer<Place>
    /// Whether any answer is not a number.
    package let answersBytes: Bool
    /// The parameters that need a value, as one bit each.
    package let required: UInt64
    /// The C argument that carries the instance; nil for a foreign library's function.
    package let instanceArgument: Int?
    /// The C argument that carries the call; nil if the function answers at once.
    package let callArgument: Int?
    /// The C argument that carries the error; nil for a foreign library's function.
    package let errorArgument: Int?
    /// The number of C arguments.
    package let argumentCount: Int
    /// The size of a ``CallFrame``, in bytes.
    package let frameSize: Int
    /// libffi's description of the function.
    package let cif: UnsafeMutablePointer<ffi_cif>

    private let types: UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>

    /// Works out the layout and prepares libffi for it.
    ///
    /// - Parameter returnsValue: Whether the single result is the function's return value, as in a foreign library.
    package init(_ signature: Signature, isForeign: Bool = false, returnsValue: Bool = false) throws(ConnectorError) {
        var walk = Walk(isForeign: isForeign)
        instanceArgument = unsafe isForeign ? nil : walk.argument(cffi_type_pointer())
        callArgument = unsafe isForeign || !signature.isAsync ? nil : walk.argument(cffi_type_pointer())
        var inputs: [Place] = []
        var outputs: [Place] = []
        var buffers: [Place] = []
        for parameter in signature.parameters {
            let place = walk.place(parameter)
            switch (parameter.direction, place.role) {
            case (.in, _): inputs.append(place)
            case (.out, .scalar): outputs.append(place)
            case (.out, _): buffers.append(place)
            }
        }
        let results = signature.isAsync ? [] : signature.results.map { walk.place($0, isReturnValue: returnsValue) }
        errorArgument = unsafe isForeign ? nil : walk.argument(cffi_type_pointer())
        let answers = outputs + buffers + results
        let argumentCount = unsafe walk.types.count
        self.signature = signature
        self.argumentCount = argumentCount
        unsafe self.inputs = .copying(inputs.map { $0.located(after: argumentCount, isAnswer: false) })
        unsafe self.answers = .copying(answers.map { $0.located(after: argumentCount, isAnswer: true) })
        answersBytes = answers.contains { $0.role != .scalar }
        required = inputs.indices.reduce(0) { inputs[$1].isOptional ? $0 : $0 | 1 << UInt64($1) }
        frameSize = max(8, 16 * argumentCount + walk.storageSize)
        unsafe cif = .allocate(capacity: 1)
        unsafe types = .allocate(capacity: max(1, argumentCount))
        for index in 0..<argumentCount { unsafe (types + index).initialize(to: walk.types[index]) }
        let returnType: UnsafeMutablePointer<ffi_type>
        if returnsValue, let result = signature.results.first {
            unsafe returnType = result.type.ffiType
        } else {
            unsafe returnType = cffi_type_sint32()
        }
        let status = unsafe ffi_prep_cif(cif, FFI_DEFAULT_ABI, UInt32(argumentCount), returnType, types)
        guard status == FFI_OK else {
            throw ConnectorError(
                .unsupported,
                "libffi cannot call a function of the signature \(signature) on this platform"
            )
        }
    }

    deinit {
        unsafe UnsafeMutableBufferPointer(mutating: inputs).deinitialize().deallocate()
        unsafe UnsafeMutableBufferPointer(mutating: answers).deinitialize().deallocate()
        unsafe cif.deallocate()
        unsafe types.deallocate()
    }

    /// Counts arguments and storage during the walk through a signature.
    @safe
    private struct Walk {
        /// Whether the return value is a buffer's length, or the buffer ends in NUL.
        let isForeign: Bool
        var types: [UnsafeMutablePointer<ffi_type>?] = unsafe []
        var storageSize = 0

        init(isForeign: Bool) {
            self.isForeign = isForeign
        }

        mutating func argument(_ type: UnsafeMutablePointer<ffi_type>?) -> Int {
            unsafe types.append(type)
            return unsafe types.count - 1
        }

        mutating func storage(_ size: Int) -> Int {
            storageSize += size
            return storageSize - size
        }

        mutating func place(_ parameter: Signature.Parameter) -> Place {
            let argument: Int
            var storage: Int?
            switch (parameter.type, parameter.direction) {
            case (.cstring, .in): argument = unsafe self.argument(cffi_type_pointer())
            case (let type, .in) where type.isScalar:
                let isByAddress = parameter.isOptional && type != .handle
                argument = unsafe self.argument(isByAddress ? cffi_type_pointer() : type.ffiType)
                if isByAddress { storage = self.storage(8) }
            case (let type, .in):
                argument = unsafe self.argument(cffi_type_pointer())
                _ = unsafe self.argument(type == .bytes32 ? cffi_type_uint32() : cffi_type_uint64())
            case (let type, .out) where type.isScalar:
                argument = unsafe self.argument(cffi_type_pointer())
                storage = self.storage(8)
            case (let type, .out) where isForeign:
                argument = unsafe self.argument(cffi_type_pointer())
                _ = unsafe self.argument(type == .bytes32 ? cffi_type_uint32() : cffi_type_uint64())
            case (_, .out):
                argument = unsafe self.argument(cffi_type_pointer())
                _ = unsafe self.argument(cffi_type_uint64())
                _ = unsafe self.argument(cffi_type_pointer())
                storage = self.storage(8)
            }
            return Place(
                name: parameter.name,
                type: parameter.type,
                isOptional: parameter.isOptional,
                role: parameter.type.isScalar ? .scalar : .buffer,
                argument: argument,
                storage: storage
            )
        }

        mutating func place(_ result: Signature.Result, isReturnValue: Bool) -> Place {
            let size = unsafe result.type.isScalar ? 8 : MemoryLayout<connector_bytes_owned>.size
            return Place(
                name: result.name ?? "",
                type: result.type,
                isOptional: false,
                role: result.type.isScalar || isReturnValue ? .scalar : .owned,
                argument: unsafe isReturnValue ? nil : argument(cffi_type_pointer()),
                storage: isReturnValue ? nil : storage(size)
            )
        }
    }
}

extension CallLayout.Place {
    /// The place with its offsets counted from the first slot; the storage begins after the slots.
    fileprivate func located(after argumentCount: Int, isAnswer: Bool) -> Self {
        var place = self
        place.storage = storage.map { 8 * argumentCount + $0 }
        place.offset = place.storage ?? 8 * (argument ?? 0)
        // The callee writes answers to storage. The caller's numbers lie in their slots, unless they are optional.
        if isAnswer == (storage != nil) { place.number = CallLayout.Number(type) }
        return place
    }
}

extension CallLayout.Number {
    fileprivate init(_ type: ValueType) {
        switch type {
        case .i64: self = .i64
        case .f64: self = .f64
        default: self = .other
        }
    }
}

extension UnsafeBufferPointer {
    /// Copies the elements into new memory, which the caller deinitializes and deallocates.
    fileprivate static func copying(_ elements: [Element]) -> UnsafeBufferPointer {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = unsafe memory.initialize(fromContentsOf: elements)
        return UnsafeBufferPointer(memory)
    }
}

extension UnsafeBufferPointer<CallLayout.Place> {
    /// The offset of a number; nil if there is no such place or it holds another kind.
    @inlinable
    @inline(__always)
    package func offset(of number: CallLayout.Number, at index: Int) -> Int? {
        guard index >= 0, index < count, unsafe self[index].number == number else { return nil }
        return unsafe self[index].offset
    }
}

extension ValueType {
    /// libffi's description of the type of one C argument.
    package var ffiType: UnsafeMutablePointer<ffi_type> {
        switch self {
        case .i8: unsafe cffi_type_sint8()
        case .i16: unsafe cffi_type_sint16()
        case .i32: unsafe cffi_type_sint32()
        case .i64: unsafe cffi_type_sint64()
        case .u8: unsafe cffi_type_uint8()
        case .u16: unsafe cffi_type_uint16()
        case .u32: unsafe cffi_type_uint32()
        case .u64: unsafe cffi_type_uint64()
        case .f32: unsafe cffi_type_float()
        case .f64: unsafe cffi_type_double()
        case .handle, .string, .bytes, .bytes32, .json, .cstring: unsafe cffi_type_pointer()
        }
    }
}
