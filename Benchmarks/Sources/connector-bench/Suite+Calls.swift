// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CBenchmark
internal import ConnectorHost
internal import ConnectorManifest

/// How long one call takes, beside C in the same process.
extension Suite {
    /// How many calls make a sample.
    private static let count = 20_000

    /// Calls operations in every possible way.
    func calls() async throws -> [Measurement] {
        let target = try await CallTarget(files: files)
        let measurements = [
            Measurement("call/typed", "typed call, synchronous", beside: "C pointer", goal: .ratio(1.5)),
            Measurement("call/typed-1KiB", "typed call, 1 KiB in and out", beside: "C pointer", goal: .ratio(1.5)),
            Measurement("call/lease", "typed call, with its own lease", beside: "C pointer"),
            Measurement("call/inline", "typed call, completes inline", goal: .value(150)),
            Measurement("call/prepared", "described call, prepared slots", beside: "C libffi", goal: .ratio(1.5)),
            Measurement("call/prompt", "described call, by name, prompt", beside: "C libffi", goal: .ratio(4)),
            Measurement("call/named", "described call, by name with values"),
            Measurement("call/json", "  the same, with JSON by parameter"),
        ]
        return try await alternate(measurements, rounds: 2 * rounds) { measurement in
            try await sample(measurement.id, target)
        }
    }

    private func sample(_ id: String, _ target: CallTarget) async throws -> (host: Double, reference: Double?) {
        let count = Self.count
        switch id {
        case "call/typed":
            let reference = unsafe benchmark_add(target.functions.add, UInt64(count))
            let host = try await target.add.withLease { lease throws(ConnectorError) in
                var sum = 0 as Int64
                let start = ContinuousClock.now
                for number in 0..<Int64(count) { sum = try lease(sum, number) }
                let duration = ContinuousClock.now - start
                return sum == 0 ? 0 : duration.nanoseconds
            }
            return (Double(host) / Double(count), Double(reference) / Double(count))
        case "call/typed-1KiB":
            let reference = unsafe benchmark_invert(target.functions.invert, UInt64(count))
            return (Double(try await invert(target)) / Double(count), Double(reference) / Double(count))
        case "call/lease":
            let reference = unsafe benchmark_add(target.functions.add, UInt64(count))
            let start = ContinuousClock.now
            for number in 0..<Int64(count) { _ = try await target.add(number, number) }
            return (
                Double((ContinuousClock.now - start).nanoseconds) / Double(count), Double(reference) / Double(count)
            )
        case "call/inline":
            let request: [UInt8] = Array(#"{"a":1}"#.utf8)
            let start = ContinuousClock.now
            for _ in 0..<count { try await answer(target, request) }
            return (Double((ContinuousClock.now - start).nanoseconds) / Double(count), nil)
        case "call/prepared":
            let reference = unsafe benchmark_add_ffi(target.functions.add, UInt64(count))
            let host = try await target.gate.withPrepared("add") { add throws(ConnectorError) in
                var sum = 0 as Int64
                let start = ContinuousClock.now
                for number in 0..<Int64(count) {
                    try add.set(sum, at: 0)
                    try add.set(number, at: 1)
                    try add()
                    sum = try add.integer()
                }
                let duration = ContinuousClock.now - start
                return sum == 0 ? 0 : duration.nanoseconds
            }
            return (Double(host) / Double(count), Double(reference) / Double(count))
        case "call/prompt":
            let reference = unsafe benchmark_add_ffi(target.functions.add, UInt64(count))
            let start = ContinuousClock.now
            for number in 0..<Int64(count) { _ = try await target.gate.call("sum", number, 1) }
            return (
                Double((ContinuousClock.now - start).nanoseconds) / Double(count), Double(reference) / Double(count)
            )
        case "call/named":
            let start = ContinuousClock.now
            for number in 0..<Int64(count / 10) { _ = try await target.gate.call("add", number, 1) }
            return (Double((ContinuousClock.now - start).nanoseconds) / Double(count / 10), nil)
        default:
            let start = ContinuousClock.now
            for number in 0..<Int64(count / 10) {
                _ = try await target.gate.call("add", ["a": .integer(number), "b": 1])
            }
            return (Double((ContinuousClock.now - start).nanoseconds) / Double(count / 10), nil)
        }
    }

    /// Passes a kibibyte in and out, in the caller's memory.
    private func invert(_ target: CallTarget) async throws -> Int64 {
        try await unsafe target.invert.withLease { lease throws(ConnectorError) in
            let bytes = [UInt8](repeating: 7, count: 1024)
            var result = [UInt8](repeating: 0, count: 1024)
            var length: UInt64 = 0
            let start = ContinuousClock.now
            for _ in 0..<Self.count {
                try unsafe lease.call { function, instance, error in
                    unsafe bytes.withUnsafeBufferPointer { source in
                        unsafe result.withUnsafeMutableBufferPointer { target in
                            guard let from = source.baseAddress, let to = target.baseAddress else { return 1 }
                            return unsafe function(instance, from, 1024, to, 1024, &length, error)
                        }
                    }
                }
            }
            return (ContinuousClock.now - start).nanoseconds
        }
    }

    /// Calls the asynchronous operation once, through its own C type.
    private func answer(_ target: CallTarget, _ request: [UInt8]) async throws {
        _ = try await unsafe target.answer.call { function, instance, call, error in
            unsafe request.withUnsafeBufferPointer { bytes in
                unsafe function(instance, call, bytes.baseAddress, UInt64(bytes.count), error)
            }
        }
    }
}
