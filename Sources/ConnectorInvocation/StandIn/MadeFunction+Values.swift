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

/// The values that a made function is called with, and those that it answers.
extension MadeFunction.Arguments {
    /// The value of an input.
    func value(of input: CallLayout.Location) -> CallValue {
        guard let argument = input.argument else { return .none }
        guard !input.type.isScalar else {
            let address = input.storage == nil ? unsafe address(at: argument) : unsafe pointer(at: argument)
            return unsafe address.map { unsafe CallFrame.load(input.type, from: $0) } ?? .none
        }
        guard let start = unsafe pointer(at: argument) else { return .none }
        let count = Int(clamping: number(at: argument + 1))
        return unsafe .bytes([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
    }

    /// Writes the outputs of a call.
    ///
    /// - Parameter values: The values, in the order of the layout's answers, each of the answer's type.
    /// - Returns: The function's status: success, or that a buffer of the caller's is too small.
    func write(_ values: [CallValue], _ layout: CallLayout) -> Int32 {
        for (index, value) in values.enumerated() {
            let output = unsafe layout.answers[index]
            guard let argument = output.argument, let address = unsafe pointer(at: argument) else { continue }
            switch (output.role, value) {
            case (.scalar, _): unsafe CallFrame.store(value, as: output.type, to: address)
            case (.owned, .bytes(let bytes)):
                unsafe address.storeBytes(of: connector_bytes_owned(copying: bytes), as: connector_bytes_owned.self)
            case (.buffer, .bytes(let bytes)):
                let length = unsafe pointer(at: argument + 2)
                unsafe length?.storeBytes(of: UInt64(bytes.count), as: UInt64.self)
                guard UInt64(bytes.count) <= number(at: argument + 1) else { return Int32(CONNECTOR_TOO_LARGE) }
                unsafe bytes.withUnsafeBytes { source in
                    if let start = source.baseAddress {
                        unsafe address.copyMemory(from: start, byteCount: source.count)
                    }
                }
            default: break
            }
        }
        return Int32(CONNECTOR_OK)
    }
}

extension connector_bytes_owned {
    /// Copies bytes for the caller, who releases them.
    fileprivate init(copying bytes: [UInt8]) {
        unsafe self.init()
        unsafe struct_size = UInt32(MemoryLayout<connector_bytes_owned>.size)
        guard !bytes.isEmpty, let copy = unsafe malloc(bytes.count) else { return }
        unsafe bytes.withUnsafeBytes { source in
            if let start = source.baseAddress { unsafe copy.copyMemory(from: start, byteCount: source.count) }
        }
        unsafe data = UnsafePointer(copy.assumingMemoryBound(to: UInt8.self))
        unsafe length = UInt64(bytes.count)
        unsafe context = copy
        unsafe release = { memory in unsafe free(memory) }
    }
}
