// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// An application that calls one operation of a gate again and again, through a lease for each call.
struct TypedCalls: Sendable {
    private let add: TypedOperation<OperationFunction.Integers2>

    /// The cost of calls.
    struct Cost {
        /// The nanoseconds that passed for a call.
        let clock: Double
        /// The nanoseconds of processor time that the calling thread took for a call.
        let processor: Double
        /// The nanoseconds of processor time per second that the rest of the process took meanwhile.
        let rest: Double
    }

    /// Looks up the operation.
    init(of path: String, in host: ConnectorHost) throws {
        add = try host.gate(path).typed("add", "(a: i64, b: i64) -> i64", as: OperationFunction.Integers2.self)
    }

    /// Calls for a while.
    func call(for duration: Duration) async throws -> Cost {
        let start = ContinuousClock.now
        let all = Usage.processorTime
        var samples: [Double?] = []
        while ContinuousClock.now - start < duration { samples.append(try await callOften()) }
        let passed = Double((ContinuousClock.now - start).nanoseconds)
        let (calls, own) = (Double(samples.count * Self.batch), samples.compactMap(\.self))
        guard own.count * 2 > samples.count else { throw Failure("the calls changed their thread all the time") }
        let processor = own.reduce(0, +) / Double(own.count * Self.batch)
        return Cost(
            clock: passed / calls,
            processor: processor,
            rest: (Usage.processorTime - all - processor * calls) / passed * 1e9
        )
    }

    /// How many calls are timed together.
    private static let batch = 20_000

    /// Calls, and times it.
    ///
    /// - Returns: The processor time; nil if the task moved to another thread meanwhile.
    @inline(never)
    private func callOften() async throws -> Double? {
        let before = Usage.thread
        for number in 0..<Int64(Self.batch) { _ = try await add(number, number) }
        let after = Usage.thread
        return before.id == after.id ? after.processorTime - before.processorTime : nil
    }
}
