// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension PluginInstance {
    /// Calls a function of a foreign library on this thread.
    func callForeign(
        _ operation: ResolvedOperation,
        _ values: [CallValue],
        _ convention: ForeignConvention
    ) throws(ConnectorError) -> [CallOutput] {
        try withdraw(values, of: operation, convention)
        return try CallFrame.with(operation.layout) { frame throws(ConnectorError) in
            frame.set(values)
            frame.lendBuffers()
            let (returned, number) = unsafe PluginCode.running(operation.function, of: operation.mark) {
                errno = 0
                return (unsafe frame.call(operation.function), errno)
            }
            try check(returned, errno: number, convention, operation.operation)
            let signature = operation.operation.signature
            guard convention.returnsValue(of: signature), let type = signature.results.first?.type else {
                return try frame.takeAnswers()
            }
            let value = try returnedValue(returned, type)
            return try frame.takeAnswers(returned: value) + [("", type, value)]
        }
    }

    /// Withdraws the handles that the function frees, so that only one of two concurrent calls succeeds.
    private func withdraw(
        _ values: [CallValue],
        of operation: ResolvedOperation,
        _ convention: ForeignConvention
    ) throws(ConnectorError) {
        guard !convention.releases.isEmpty else { return }
        let inputs = unsafe operation.layout.shape.inputs
        for (index, value) in zip(inputs.indices, values) {
            let location = unsafe inputs[index]
            guard convention.releases.contains(location.name) else { continue }
            guard case .handle(let address) = value, bound[location.name] == nil else { continue }
            guard handles.withdraw(address) else {
                throw ConnectorError(
                    .invalid,
                    "\(operation.operation.name), \(location.name): the handle has already been released"
                )
            }
        }
    }

    private func check(
        _ returned: UInt64,
        errno number: Int32,
        _ convention: ForeignConvention,
        _ operation: Operation
    ) throws(ConnectorError) {
        let value = Self.number(returned, convention.returnType(of: operation.signature))
        func failure(_ number: Int64, _ what: String) -> ConnectorError {
            let code = convention.codes[number] ?? .failed
            return ConnectorError(
                code,
                "\(operation.symbol) \(what)",
                cause: "\(operation.symbol): \(number)",
                isRetryable: [.unavailable, .rateLimited, .timedOut].contains(code)
            )
        }
        switch convention.status {
        case .none: if let value, convention.codes[value] != nil { throw failure(value, "returned \(value)") }
        case .zero: if let value, value != 0 { throw failure(value, "returned \(value)") }
        case .negative: if let value, value < 0 { throw failure(value, "returned \(value)") }
        case .null: if returned == 0 { throw failure(0, "returned null") }
        case .errno:
            guard value == -1 else { return }
            throw failure(Int64(number), "failed: \(SystemError(number))")
        }
    }

    /// What a function has returned, as the number that `codes` may name. No code names a fraction or an address of text.
    private static func number(_ returned: UInt64, _ type: ValueType) -> Int64? {
        switch type {
        case .i64, .u64, .handle: Int64(bitPattern: returned)
        case .i32: Int64(Int32(truncatingIfNeeded: returned))
        case .i16: Int64(Int16(truncatingIfNeeded: returned))
        case .i8: Int64(Int8(truncatingIfNeeded: returned))
        case .u32: Int64(UInt32(truncatingIfNeeded: returned))
        case .u16: Int64(UInt16(truncatingIfNeeded: returned))
        case .u8: Int64(UInt8(truncatingIfNeeded: returned))
        case .f32, .f64, .string, .bytes, .bytes32, .json, .cstring: nil
        }
    }

    private func returnedValue(_ returned: UInt64, _ type: ValueType) throws(ConnectorError) -> CallValue {
        guard type == .cstring else {
            return unsafe withUnsafeBytes(of: returned) { bytes in
                guard let start = bytes.baseAddress else { return .none }
                return unsafe CallFrame.load(type, from: start)
            }
        }
        guard let address = unsafe UnsafePointer<CChar>(bitPattern: UInt(returned)) else { return .none }
        let count = unsafe strnlen(address, CallValue.sizeLimit + 1)
        guard count <= CallValue.sizeLimit else {
            throw ConnectorError(.tooLarge, "the result has more than \(CallValue.sizeLimit >> 20) MiB")
        }
        return unsafe .bytes([UInt8](UnsafeRawBufferPointer(start: address, count: count)))
    }
}

extension ForeignLifecycle {
    /// The error if an application calls an operation reserved for the host; nil for other operations.
    package func problem(with operation: Operation) -> ConnectorError? {
        guard operation.name == open || operation.name == close else { return nil }
        return ConnectorError(
            .invalid,
            "only the host calls \(operation.name), when the gate \(operation.name == open ? "opens" : "closes")",
            fix: "call another operation of the library"
        )
    }
}
