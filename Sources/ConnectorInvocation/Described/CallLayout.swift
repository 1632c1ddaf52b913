// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import CFFI
package import ConnectorManifest

/// The memory layout of a signature for libffi, computed once per operation.
///
/// Every C argument has a slot of eight bytes. The slots are followed by storage for values passed by address: results and
/// optional scalars. A ``CallFrame`` is memory with this layout.
///
/// `@unchecked Sendable`: the memory behind the pointers is written in `init` and then only read, also by `ffi_call`, which treats
/// the prepared interface and the types as constants (libffi, "The Basics"). It is freed with the object.
@safe
@usableFromInline
package final class CallLayout: @unchecked Sendable {
    /// The location of a parameter or result. Offsets are in bytes from the first slot.
    @usableFromInline
    package struct Location: Sendable {
        /// The name in the signature; empty for a single result.
        package let name: String
        package let type: ValueType
        package let isOptional: Bool
        package let role: Role
        /// The index of the first C argument; nil for the function's return value.
        package let argument: Int?
        /// The offset of the storage, for a value passed by address.
        package fileprivate(set) var storage: Int?
        /// The type that one load or store at ``offset`` accesses.
        @usableFromInline package fileprivate(set) var number = Number.other
        /// The offset of the value.
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

    /// The type of a value that a single load or store can access.
    @usableFromInline
    package enum Number: UInt8, BitwiseCopyable, Sendable {
        case i64
        case f64
        /// Any value that needs more than one load or store.
        case other
    }

    /// What calls need of a layout, as values without reference counting. Valid as long as the layout.
    @safe
    package struct Shape: BitwiseCopyable {
        /// The inputs, written by the caller.
        package let inputs: UnsafeBufferPointer<Location>
        /// The outputs, written by the callee: scalars, then buffers lent by the caller, then results.
        package let answers: UnsafeBufferPointer<Location>
        /// Whether any answer is not a number.
        let answersBytes: Bool
        /// The required parameters, one bit each.
        let required: UInt64
        /// The index of the C argument for the instance; nil for a foreign library's function.
        package let instanceArgument: Int?
        /// The index of the C argument for the error; nil for a foreign library's function.
        package let errorArgument: Int?
        /// The number of C arguments.
        let argumentCount: Int
        /// The size of a ``CallFrame``, in bytes.
        let frameSize: Int
        /// libffi's description of the function.
        let cif: UnsafeMutablePointer<ffi_cif>
    }

    /// The operation's parameters and results.
    package let signature: Signature
    /// What calls need.
    package let shape: Shape
    /// The index of the C argument for the call; nil for a synchronous function.
    package let callArgument: Int?

    private let types: UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>

    /// Computes the layout and prepares it for libffi.
    ///
    /// - Parameters:
    ///   - returnsValue: Whether the single result is the function's return value, as in a foreign library.
    ///   - statusType: The type of the return value otherwise.
    package init(
        _ signature: Signature,
        isForeign: Bool = false,
        returnsValue: Bool = false,
        statusType: ValueType = .i32
    ) throws(ConnectorError) {
        var builder = Builder(isForeign: isForeign)
        let instanceArgument: Int? = unsafe isForeign ? nil : builder.argument(cffi_type_pointer())
        callArgument = unsafe isForeign || !signature.isAsync ? nil : builder.argument(cffi_type_pointer())
        var inputs: [Location] = []
        var outputs: [Location] = []
        var buffers: [Location] = []
        for parameter in signature.parameters {
            let location = builder.location(parameter)
            switch (parameter.direction, location.role) {
            case (.in, _): inputs.append(location)
            case (.out, .scalar): outputs.append(location)
            case (.out, _): buffers.append(location)
            }
        }
        let results =
            signature.isAsync ? [] : signature.results.map { builder.location($0, isReturnValue: returnsValue) }
        let errorArgument: Int? = unsafe isForeign ? nil : builder.argument(cffi_type_pointer())
        let answers = outputs + buffers + results
        let argumentCount = unsafe builder.types.count
        let required: UInt64 = inputs.indices.reduce(0) { inputs[$1].isOptional ? $0 : $0 | 1 << UInt64($1) }
        self.signature = signature
        unsafe shape = Shape(
            inputs: .copying(inputs.map { $0.located(after: argumentCount, isAnswer: false) }),
            answers: .copying(answers.map { $0.located(after: argumentCount, isAnswer: true) }),
            answersBytes: answers.contains { $0.role != .scalar },
            required: required,
            instanceArgument: instanceArgument,
            errorArgument: errorArgument,
            argumentCount: argumentCount,
            frameSize: max(8, 16 * argumentCount + builder.storageSize),
            cif: .allocate(capacity: 1)
        )
        unsafe types = .allocate(capacity: max(1, argumentCount))
        for index in 0..<argumentCount { unsafe (types + index).initialize(to: builder.types[index]) }
        let returned = (returnsValue ? signature.results.first?.type : nil) ?? statusType
        let status = unsafe ffi_prep_cif(shape.cif, FFI_DEFAULT_ABI, UInt32(argumentCount), returned.ffiType, types)
        guard status == FFI_OK else {
            throw ConnectorError(
                .unsupported,
                "libffi cannot call a function of the signature \(signature) on this platform"
            )
        }
    }

    deinit {
        unsafe UnsafeMutableBufferPointer(mutating: shape.inputs).deinitialize().deallocate()
        unsafe UnsafeMutableBufferPointer(mutating: shape.answers).deinitialize().deallocate()
        unsafe shape.cif.deallocate()
        unsafe types.deallocate()
    }

    /// Assigns arguments and storage while iterating over a signature.
    @safe
    private struct Builder {
        /// Whether a buffer's length is the return value or marked by a NUL, instead of an argument of its own.
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

        mutating func location(_ parameter: Signature.Parameter) -> Location {
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
            return Location(
                name: parameter.name,
                type: parameter.type,
                isOptional: parameter.isOptional,
                role: parameter.type.isScalar ? .scalar : .buffer,
                argument: argument,
                storage: storage
            )
        }

        mutating func location(_ result: Signature.Result, isReturnValue: Bool) -> Location {
            let size = unsafe result.type.isScalar ? 8 : MemoryLayout<connector_bytes_owned>.size
            return Location(
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

extension CallLayout.Location {
    /// The location with offsets relative to the first slot; the storage begins after the slots.
    fileprivate func located(after argumentCount: Int, isAnswer: Bool) -> Self {
        var location = self
        location.storage = storage.map { 8 * argumentCount + $0 }
        location.offset = location.storage ?? 8 * (argument ?? 0)
        // The callee writes outputs to storage. The caller's numbers are in their slots, unless they are optional.
        if isAnswer == (storage != nil) { location.number = CallLayout.Number(type) }
        return location
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
    /// Copies elements to new memory, which the caller must deinitialize and deallocate.
    fileprivate static func copying(_ elements: [Element]) -> UnsafeBufferPointer {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = unsafe memory.initialize(fromContentsOf: elements)
        return UnsafeBufferPointer(memory)
    }
}

extension UnsafeBufferPointer<CallLayout.Location> {
    /// The offset of the value at an index; nil if the index is out of range or the value has another type.
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
