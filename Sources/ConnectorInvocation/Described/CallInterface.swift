// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import CFFI
package import ConnectorManifest

/// The memory layout of a signature for libffi, prepared once for an operation and then only read.
///
/// Every C argument has a slot of eight bytes. The storage of results and optional scalars, which are passed by
/// address, follows the slots. The layout is worked out here, so that a call only stores values and jumps.
///
/// `@unchecked Sendable`: the memory behind the pointers is written in `init`, then only read, also by `ffi_call`,
/// which takes the prepared interface and the types as constants (libffi, "The Basics"). It is freed with the object.
@safe
package final class CallInterface: @unchecked Sendable {
    /// A parameter or result with its location.
    package struct Place: Sendable {
        /// Its name in the signature; empty for a single result.
        package let name: String
        package let type: ValueType
        package let isOptional: Bool
        package let role: Role
        /// Its first C argument; nil for the function's return value.
        package let argument: Int?
        /// The offset of its storage after the slots, for a value passed by address.
        package let storage: Int?
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

    /// The parameters and answers of the operation.
    package let signature: Signature
    /// The values that the caller passes in.
    package let inputs: [Place]
    /// The values that the callee writes: scalars, then buffers lent by the caller, then results.
    package let answers: [Place]
    /// The layout of a call; valid as long as the interface.
    package let plan: UnsafePointer<CallPlan>

    private let types: UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>

    /// Works out the layout and prepares libffi for it.
    ///
    /// - Parameter returnsValue: Whether the single result is the function's return value, as in a foreign library.
    package init(_ signature: Signature, isForeign: Bool = false, returnsValue: Bool = false) throws(ConnectorError) {
        var layout = Layout(isForeign: isForeign)
        var frame = CallPlan.Frame()
        if !isForeign { frame.instance = unsafe layout.argument(cffi_type_pointer()) }
        if !isForeign, signature.isAsync { frame.call = unsafe layout.argument(cffi_type_pointer()) }
        var inputs: [Place] = []
        var outputs: [Place] = []
        var buffers: [Place] = []
        for parameter in signature.parameters {
            let place = layout.place(parameter)
            switch (parameter.direction, place.role) {
            case (.in, _): inputs.append(place)
            case (.out, .scalar): outputs.append(place)
            case (.out, _): buffers.append(place)
            }
        }
        let results = signature.isAsync ? [] : signature.results.map { layout.place($0, isReturnValue: returnsValue) }
        if !isForeign { frame.error = unsafe layout.argument(cffi_type_pointer()) }
        self.signature = signature
        self.inputs = inputs
        let answers = outputs + buffers + results
        self.answers = answers
        let pointers = (outputs + results).compactMap { place -> CallPlan.Pointer? in
            guard let argument = place.argument, let storage = place.storage else { return nil }
            return CallPlan.Pointer(argument: argument, storage: storage)
        }
        let argumentCount = unsafe layout.types.count
        let plan = unsafe CallPlan(
            cif: .allocate(capacity: 1),
            argumentCount: argumentCount,
            frameSize: max(8, 16 * argumentCount + layout.storageSize),
            pointers: .copying(pointers),
            answers: .copying(
                answers.map {
                    CallPlan.Answer(
                        type: $0.type,
                        role: $0.role,
                        argument: $0.argument ?? -1,
                        storage: $0.storage ?? -1
                    )
                }
            ),
            answersBytes: answers.contains { $0.role != .scalar },
            required: inputs.indices.reduce(0) { inputs[$1].isOptional ? $0 : $0 | 1 << UInt64($1) },
            numbers: NumberPlaces(inputs: inputs, answers: answers, argumentCount: argumentCount),
            frame: frame
        )
        let memory = UnsafeMutablePointer<CallPlan>.allocate(capacity: 1)
        unsafe memory.initialize(to: plan)
        unsafe self.plan = UnsafePointer(memory)
        unsafe types = .allocate(capacity: max(1, argumentCount))
        for index in 0..<argumentCount { unsafe (types + index).initialize(to: layout.types[index]) }
        let returnType: UnsafeMutablePointer<ffi_type>
        if returnsValue, let result = signature.results.first {
            unsafe returnType = result.type.ffiType
        } else {
            unsafe returnType = cffi_type_sint32()
        }
        let status = unsafe ffi_prep_cif(plan.cif, FFI_DEFAULT_ABI, UInt32(argumentCount), returnType, types)
        guard status == FFI_OK else {
            throw ConnectorError(
                .unsupported,
                "libffi cannot call a function of the signature \(signature) on this platform"
            )
        }
    }

    deinit {
        unsafe plan.pointee.deallocate()
        unsafe plan.deallocate()
        unsafe types.deallocate()
    }

    /// Counts arguments and storage during the walk through a signature.
    @safe
    private struct Layout {
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
