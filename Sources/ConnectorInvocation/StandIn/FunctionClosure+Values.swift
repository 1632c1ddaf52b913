// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorManifest

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The values that a made function is called with, and those that it answers with.
extension FunctionClosure.Arguments {
    /// The value of an input.
    func value(of input: CallLayout.Location) -> CallValue {
        guard !input.type.isScalar else {
            return unsafe scalar(of: input).map { unsafe CallFrame.load(input.type, from: $0) } ?? .none
        }
        return unsafe bytes(of: input).map { unsafe .bytes([UInt8]($0)) } ?? .none
    }

    /// Where the number of an input is; nil for none.
    package func scalar(of input: CallLayout.Location) -> UnsafeRawPointer? {
        guard let argument = input.argument else { return nil }
        return unsafe UnsafeRawPointer(input.storage == nil ? address(at: argument) : pointer(at: argument))
    }

    /// The bytes of an input; nil for none.
    package func bytes(of input: CallLayout.Location) -> UnsafeRawBufferPointer? {
        guard let argument = input.argument, let start = unsafe pointer(at: argument) else { return nil }
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(clamping: number(at: argument + 1)))
    }

    /// Writes the outputs of a call.
    ///
    /// - Parameter values: The values, in the order of the layout's answers, each of the answer's type.
    /// - Returns: The function's status: success, or that a buffer of the caller is too small.
    func write(_ values: [CallValue], _ layout: CallLayout) -> Int32 {
        for (index, value) in values.enumerated() {
            let output = unsafe layout.shape.answers[index]
            guard let argument = output.argument, let address = unsafe pointer(at: argument) else { continue }
            switch (output.role, value) {
            case (.scalar, _): unsafe CallFrame.store(value, as: output.type, to: address)
            case (_, .bytes(let bytes)):
                let isWritten = unsafe write(bytes.count, to: output) { memory in
                    unsafe bytes.withUnsafeBytes { unsafe memory.copyMemory(from: $0) }
                }
                guard isWritten else { return Int32(CONNECTOR_TOO_LARGE) }
            default: break
            }
        }
        return Int32(CONNECTOR_OK)
    }

    /// Writes an output of bytes, which the body puts into their memory.
    ///
    /// - Returns: False if the caller's buffer is too small; only the length is then written, and the body is not called.
    package func write(
        _ count: Int,
        to output: CallLayout.Location,
        _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) -> Bool {
        guard let argument = output.argument, let address = unsafe pointer(at: argument) else { return true }
        guard output.role == .buffer else {
            let owned = unsafe connector_bytes_owned(count, fill)
            unsafe address.storeBytes(of: owned, as: connector_bytes_owned.self)
            return true
        }
        let length = unsafe pointer(at: argument + 2)
        unsafe length?.storeBytes(of: UInt64(count), as: UInt64.self)
        guard UInt64(count) <= number(at: argument + 1) else { return false }
        unsafe fill(UnsafeMutableRawBufferPointer(start: address, count: count))
        return true
    }

    /// Releases what was written to an output, for a call that fails after all.
    package func takeBack(_ output: CallLayout.Location) {
        guard output.role == .owned, let argument = output.argument, let address = unsafe pointer(at: argument) else {
            return
        }
        let owned = unsafe address.load(as: connector_bytes_owned.self)
        unsafe address.storeBytes(of: connector_bytes_owned(0) { _ in }, as: connector_bytes_owned.self)
        unsafe owned.release?(owned.context)
    }
}

extension connector_bytes_owned {
    /// Makes bytes for the caller, who releases them.
    fileprivate init(_ count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        unsafe self.init()
        unsafe struct_size = UInt32(MemoryLayout<connector_bytes_owned>.size)
        guard count > 0, let copy = unsafe malloc(count) else { return }
        unsafe fill(UnsafeMutableRawBufferPointer(start: copy, count: count))
        unsafe data = UnsafePointer(copy.assumingMemoryBound(to: UInt8.self))
        unsafe length = UInt64(count)
        unsafe context = copy
        unsafe release = { memory in unsafe free(memory) }
    }
}
