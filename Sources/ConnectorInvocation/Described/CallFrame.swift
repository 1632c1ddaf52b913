// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import CFFI
package import ConnectorManifest

/// The memory of a described call: slots for C arguments, storage for values passed by address, and copies of texts.
///
/// A frame can be reused for any number of consecutive calls. Setting a scalar is one store; libffi makes the call. Use the frame
/// on one thread at a time. The pointers passed to the callee are valid until they are set again or the frame is destroyed.
@safe
package struct CallFrame: ~Copyable {
    /// The input values, written by the caller.
    private let inputs: UnsafeBufferPointer<CallLayout.Location>
    /// The output values, written by the callee.
    private let answers: UnsafeBufferPointer<CallLayout.Location>
    /// Whether any answer is not a number.
    private let answersBytes: Bool
    /// libffi's description of the function.
    private let cif: UnsafeMutablePointer<ffi_cif>
    /// The caller's memory: libffi's array of addresses, then the slots, then the storage.
    private let block: UnsafeMutableRawPointer
    /// The first slot, which all offsets are relative to.
    package let slots: UnsafeMutableRawPointer
    /// The copied texts and lent buffers to free: a list, since most calls have none, and even an empty array takes time to destroy.
    private var copies: UnsafeMutablePointer<Copy>?

    /// Memory of the frame's own that an argument points to.
    @safe
    private struct Copy {
        let argument: Int
        var memory: UnsafeMutableRawPointer
        let next: UnsafeMutablePointer<Copy>?
    }

    /// The size of the buffer lent for each `out` text, in bytes.
    package static let bufferSize = 64 << 10

    /// Creates a cleared frame in the caller's memory.
    ///
    /// - Parameters:
    ///   - shape: That of a layout that outlives the frame.
    ///   - memory: Memory of the layout's frame size, aligned to 8, that outlives the frame.
    package init(_ shape: CallLayout.Shape, in memory: UnsafeMutableRawBufferPointer) {
        unsafe inputs = shape.inputs
        unsafe answers = shape.answers
        answersBytes = shape.answersBytes
        unsafe cif = shape.cif
        // Only an empty buffer has no address, and a frame is never empty.
        unsafe block = memory.baseAddress.unsafelyUnwrapped
        unsafe slots = block + 8 * shape.argumentCount
        unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: shape.frameSize)
        for index in 0..<shape.argumentCount {
            unsafe block.storeBytes(of: slots + 8 * index, toByteOffset: 8 * index, as: UnsafeMutableRawPointer.self)
        }
        for index in unsafe answers.indices where unsafe answers[index].role != .buffer {
            guard let argument = unsafe answers[index].argument, let storage = unsafe answers[index].storage else {
                continue
            }
            unsafe setPointer(slots + storage, at: argument)
        }
        resetAnswers()
    }

    /// Lends the body a frame, on the stack unless it is unusually large.
    package static func with<Result, Failure: Error>(
        _ layout: CallLayout,
        _ body: (inout CallFrame) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = unsafe withUnsafeTemporaryAllocation(byteCount: layout.shape.frameSize, alignment: 8) { memory in
            var frame = unsafe CallFrame(layout.shape, in: memory)
            do throws(Failure) {
                return Swift.Result<Result, Failure>.success(try body(&frame))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    deinit {
        resetAnswers()
        var copy = unsafe copies
        while let current = unsafe copy {
            unsafe copy = current.pointee.next
            unsafe current.pointee.memory.deallocate()
            unsafe current.deallocate()
        }
    }

    // MARK: Arguments

    /// Stores a value as a C argument. The value's size must match the signature.
    package func set<Value: BitwiseCopyable>(_ value: Value, at argument: Int) {
        unsafe slots.storeBytes(of: value, toByteOffset: 8 * argument, as: Value.self)
    }

    /// Stores an address as a C argument.
    package func setPointer(_ pointer: UnsafeRawPointer?, at argument: Int) {
        unsafe slots.storeBytes(of: pointer, toByteOffset: 8 * argument, as: UnsafeRawPointer?.self)
    }

    /// Stores an input; bytes are copied.
    package mutating func set(_ value: CallValue, for location: CallLayout.Location) {
        guard let argument = location.argument else { return }
        if case .bytes(let bytes) = value { return setBytes(bytes, of: location.type, at: argument) }
        if case .none = value {
            if location.role == .buffer { setLength(0, of: location.type, at: argument) }
            return unsafe setPointer(nil, at: argument)
        }
        unsafe Self.store(value, as: location.type, to: slots + location.offset)
        if let storage = location.storage { unsafe setPointer(slots + storage, at: argument) }
    }

    /// Stores every input, in the order of the signature.
    package mutating func set(_ values: [CallValue]) {
        for (index, value) in zip(unsafe inputs.indices, values) { unsafe set(value, for: inputs[index]) }
    }

    /// Stores a scalar input, in the form that ``ValueType/word(at:)`` reads.
    package func set(word: UInt64, for location: CallLayout.Location) {
        unsafe location.type.store(word: word, at: slots + location.offset)
        guard let argument = location.argument, let storage = location.storage else { return }
        unsafe setPointer(slots + storage, at: argument)
    }

    /// Stores an input of bytes, which the body writes to the frame's own memory.
    package mutating func setBytes(
        _ count: Int,
        for location: CallLayout.Location,
        _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        guard let argument = location.argument else { return }
        unsafe setBytes(count, of: location.type, at: argument, fill)
    }

    /// A scalar output, in the form that ``ValueType/word(at:)`` reads.
    package func word(of location: CallLayout.Location) -> UInt64 {
        unsafe location.type.word(at: slots + location.offset)
    }

    private mutating func setBytes(_ bytes: [UInt8], of type: ValueType, at argument: Int) {
        unsafe setBytes(bytes.count, of: type, at: argument) { copy in
            unsafe bytes.withUnsafeBytes { unsafe copy.copyMemory(from: $0) }
        }
    }

    private mutating func setBytes(
        _ count: Int,
        of type: ValueType,
        at argument: Int,
        _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: count + 1, alignment: 1)
        unsafe fill(UnsafeMutableRawBufferPointer(start: copy, count: count))
        unsafe copy.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        unsafe keep(copy, at: argument)
        unsafe setPointer(copy, at: argument)
        setLength(count, of: type, at: argument)
    }

    /// Stores the length of bytes in the argument after their address; a `cstring` has none.
    private func setLength(_ count: Int, of type: ValueType, at argument: Int) {
        switch type {
        case .cstring: break
        case .bytes32: set(UInt32(truncatingIfNeeded: count), at: argument + 1)
        default: set(UInt64(count), at: argument + 1)
        }
    }

    /// Retains the memory that an argument points to, and frees the argument's previous memory.
    private mutating func keep(_ memory: UnsafeMutableRawPointer, at argument: Int) {
        var known = unsafe copies
        while let copy = unsafe known, unsafe copy.pointee.argument != argument { unsafe known = copy.pointee.next }
        if let copy = unsafe known {
            unsafe copy.pointee.memory.deallocate()
            unsafe copy.pointee.memory = memory
        } else {
            let copy = UnsafeMutablePointer<Copy>.allocate(capacity: 1)
            unsafe copy.initialize(to: Copy(argument: argument, memory: memory, next: copies))
            unsafe copies = copy
        }
    }

    /// Lends a buffer for every `out` text.
    package mutating func lendBuffers() {
        guard answersBytes else { return }
        for index in unsafe answers.indices where unsafe answers[index].role == .buffer {
            guard let argument = unsafe answers[index].argument else { continue }
            let buffer = UnsafeMutableRawPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
            // What the function counts as written but does not write must not be what the heap held before.
            unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0, count: Self.bufferSize)
            unsafe keep(buffer, at: argument)
            unsafe setPointer(buffer, at: argument)
            if unsafe answers[index].type == .bytes32 {
                set(UInt32(Self.bufferSize), at: argument + 1)
            } else {
                set(UInt64(Self.bufferSize), at: argument + 1)
            }
            if let storage = unsafe answers[index].storage { unsafe setPointer(slots + storage, at: argument + 2) }
        }
    }

    /// Stores a scalar as a type.
    package static func store(_ value: CallValue, as type: ValueType, to address: UnsafeMutableRawPointer) {
        switch (value, type) {
        case (.signed(let value), .i8): unsafe address.storeBytes(of: Int8(truncatingIfNeeded: value), as: Int8.self)
        case (.signed(let value), .i16): unsafe address.storeBytes(of: Int16(truncatingIfNeeded: value), as: Int16.self)
        case (.signed(let value), .i32): unsafe address.storeBytes(of: Int32(truncatingIfNeeded: value), as: Int32.self)
        case (.signed(let value), _): unsafe address.storeBytes(of: value, as: Int64.self)
        case (.unsigned(let value), .u8):
            unsafe address.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
        case (.unsigned(let value), .u16):
            unsafe address.storeBytes(of: UInt16(truncatingIfNeeded: value), as: UInt16.self)
        case (.unsigned(let value), .u32):
            unsafe address.storeBytes(of: UInt32(truncatingIfNeeded: value), as: UInt32.self)
        case (.unsigned(let value), _): unsafe address.storeBytes(of: value, as: UInt64.self)
        case (.floating(let value), .f32): unsafe address.storeBytes(of: Float(value), as: Float.self)
        case (.floating(let value), _): unsafe address.storeBytes(of: value, as: Double.self)
        case (.handle(let value), _): unsafe address.storeBytes(of: value, as: UInt.self)
        case (.none, _), (.bytes, _): break
        }
    }

    // MARK: The call

    /// Where the C arguments are, by their index.
    var addresses: UnsafeMutablePointer<UnsafeMutableRawPointer?> {
        unsafe block.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    /// Calls a function that has the layout's signature.
    ///
    /// - Returns: The return value, widened to 64 bits.
    package func call(_ function: UnsafeMutableRawPointer) -> UInt64 {
        var returned: UInt64 = 0
        unsafe ffi_call(
            cif,
            unsafeBitCast(function, to: (@convention(c) () -> Void).self),
            &returned,
            addresses
        )
        return returned
    }

    /// Reads a failure that the function has just reported. If it says no more than that a buffer is too small, the error has the sizes.
    ///
    /// - Parameters:
    ///   - error: The error object that the function received.
    ///   - operation: The operation's name.
    package func readFailure(
        _ error: UnsafePointer<connector_error>,
        _ status: Int32,
        of operation: String
    ) -> ErrorObject.Failure {
        let failure = unsafe ErrorObject.read(error, status, operation)
        guard answersBytes, status == Int32(CONNECTOR_TOO_LARGE), unsafe error.pointee.message.0 == 0 else {
            return failure
        }
        for index in unsafe answers.indices where unsafe answers[index].role == .buffer {
            let answer = unsafe answers[index]
            guard let offset = answer.storage else { continue }
            let length = unsafe slots.load(fromByteOffset: offset, as: UInt64.self)
            guard length > UInt64(Self.bufferSize) else { continue }
            var described = failure.error
            described.message =
                "\(operation) needs \(length) bytes for \(answer.name), more than the buffer's \(Self.bufferSize)"
            described.fix = Self.advice(for: answer.type)
            return ErrorObject.Failure(described)
        }
        return failure
    }

    /// What to do about an answer of a type that is longer than the buffer for it.
    package static func advice(for type: ValueType) -> String {
        "fix the plugin: return what may be longer with -> \(type)"
    }

    // MARK: Answers

    /// Takes the callee's outputs in the order of the signature: out parameters, then results.
    ///
    /// Memory that the callee owns is copied and released, exactly once per successful call.
    ///
    /// - Parameter returned: The return value of a foreign function: the number of bytes that it wrote to its buffer.
    /// - Throws: `misbehaved` if a length contradicts its address or its buffer, `tooLarge` beyond the limits.
    package func takeAnswers(returned: CallValue = .none) throws(ConnectorError) -> [CallOutput] {
        defer { resetAnswers() }
        var outputs: [CallOutput] = []
        for index in unsafe answers.indices where unsafe answers[index].argument != nil {
            let location = unsafe answers[index]
            outputs.append((location.name, location.type, try answer(location, returned: returned)))
        }
        return outputs
    }

    /// Reads one output. Memory that the callee owns is copied, but not released.
    ///
    /// - Throws: `misbehaved` if the length contradicts the address or the buffer, `tooLarge` beyond the limits.
    package func answer(_ location: CallLayout.Location, returned: CallValue = .none) throws(ConnectorError)
        -> CallValue
    {
        guard location.role != .scalar else {
            return unsafe Self.load(location.type, from: slots + location.offset)
        }
        return unsafe .bytes([UInt8](try bytes(of: location, returned: returned)))
    }

    /// The bytes of an output, valid until the next call.
    ///
    /// - Throws: as ``answer(_:returned:)``.
    package func bytes(of location: CallLayout.Location, returned: CallValue = .none) throws(ConnectorError)
        -> UnsafeRawBufferPointer
    {
        unsafe location.role == .owned ? try owned(location) : try buffer(location, returned)
    }

    private func buffer(_ location: CallLayout.Location, _ returned: CallValue) throws(ConnectorError)
        -> UnsafeRawBufferPointer
    {
        let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        guard let argument = location.argument else { return unsafe none }
        let start = unsafe slots.load(fromByteOffset: 8 * argument, as: UnsafeRawPointer?.self)
        guard let start = unsafe start else { return unsafe none }
        let length: UInt64
        if let offset = location.storage {
            length = unsafe slots.load(fromByteOffset: offset, as: UInt64.self)
        } else if location.type == .cstring {
            let text = unsafe UnsafeRawBufferPointer(start: start, count: Self.bufferSize)
            guard let end = unsafe text.firstIndex(of: 0) else {
                throw ConnectorError(.tooLarge, "\(location.name) does not end within \(Self.bufferSize) bytes")
            }
            length = UInt64(end)
        } else {
            length = returned.count
        }
        guard length <= UInt64(Self.bufferSize) else {
            let excess = "\(location.name) has \(length) bytes, more than the buffer's \(Self.bufferSize)"
            // A foreign function returns the length. A plugin's function has one to store, and a status for one that is too large.
            guard location.storage != nil else { throw ConnectorError(.tooLarge, excess) }
            throw ConnectorError(
                .misbehaved,
                "\(excess), and the plugin returned CONNECTOR_OK",
                fix: Self.advice(for: location.type)
            )
        }
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(length))
    }

    private func owned(_ location: CallLayout.Location) throws(ConnectorError) -> UnsafeRawBufferPointer {
        let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        guard let offset = location.storage else { return unsafe none }
        let result = unsafe slots.load(fromByteOffset: offset, as: connector_bytes_owned.self)
        let length = unsafe result.length
        guard length > 0 else { return unsafe none }
        guard length <= UInt64(CallValue.sizeLimit) else {
            throw ConnectorError(
                .tooLarge,
                "the result has \(length) bytes, more than \(CallValue.sizeLimit >> 20) MiB"
            )
        }
        guard let data = unsafe result.data else {
            throw ConnectorError(.misbehaved, "the plugin's result has a length but no bytes")
        }
        return unsafe UnsafeRawBufferPointer(start: data, count: Int(length))
    }

    /// Releases the callee's memory and clears the outputs, so that an output the callee does not write reads as empty.
    ///
    /// - Parameter hasFailed: Whether the callee has just failed: it still owns what it may have written, which is not released.
    package func resetAnswers(hasFailed: Bool = false) {
        guard answersBytes else { return }
        for index in unsafe answers.indices where unsafe answers[index].role != .scalar {
            guard let offset = unsafe answers[index].storage else { continue }
            guard unsafe answers[index].role == .owned else {
                unsafe slots.storeBytes(of: 0, toByteOffset: offset, as: UInt64.self)
                continue
            }
            let result = unsafe slots.load(fromByteOffset: offset, as: connector_bytes_owned.self)
            var empty = unsafe connector_bytes_owned()
            unsafe empty.struct_size = UInt32(MemoryLayout<connector_bytes_owned>.size)
            unsafe slots.storeBytes(of: empty, toByteOffset: offset, as: connector_bytes_owned.self)
            if !hasFailed { unsafe result.release?(result.context) }
        }
    }

    /// Reads a scalar that the callee stored or returned.
    package static func load(_ type: ValueType, from address: UnsafeRawPointer) -> CallValue {
        switch type {
        case .i8: unsafe .signed(Int64(address.load(as: Int8.self)))
        case .i16: unsafe .signed(Int64(address.load(as: Int16.self)))
        case .i32: unsafe .signed(Int64(address.load(as: Int32.self)))
        case .i64: unsafe .signed(address.load(as: Int64.self))
        case .u8: unsafe .unsigned(UInt64(address.load(as: UInt8.self)))
        case .u16: unsafe .unsigned(UInt64(address.load(as: UInt16.self)))
        case .u32: unsafe .unsigned(UInt64(address.load(as: UInt32.self)))
        case .u64: unsafe .unsigned(address.load(as: UInt64.self))
        case .f32: unsafe .floating(Double(address.load(as: Float.self)))
        case .f64: unsafe .floating(address.load(as: Double.self))
        case .handle: unsafe .handle(address.load(as: UInt.self))
        case .string, .bytes, .bytes32, .json, .cstring: .none
        }
    }
}

extension CallValue {
    /// The value as a number of bytes; 0 if it is negative.
    fileprivate var count: UInt64 {
        switch self {
        case .signed(let value): UInt64(max(0, value))
        case .unsigned(let value): value
        default: 0
        }
    }
}
