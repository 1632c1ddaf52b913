// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A gate whose plugin is in a runner.
struct IsolatedTarget {
    /// Keeps the gate open.
    private let host: ConnectorHost
    private let gate: GateClient
    private let add: TypedOperation<OperationFunction.Integers2>

    /// Opens the plugin of the folder with one, in a runner.
    init(files: String) async throws {
        host = try ConnectorHost(file: Self.write("quick-0000", isolation: "process", files: files))
        try await host.open().requireReady()
        gate = try host.gate("gate")
        add = try gate.typed("add", "(a: i64, b: i64) -> i64", as: OperationFunction.Integers2.self)
    }

    /// Writes a file with one connector.
    ///
    /// - Parameter endpoint: Where the adapter of Segment sends to; nil for a plugin without a configuration.
    /// - Returns: The file.
    static func write(_ plugin: String, isolation: String, endpoint: String? = nil, files: String) throws -> String {
        let folder = "\(files)/isolated/\(plugin)-\(isolation)"
        _ = try ChildProcess.output(["mkdir", "-p", folder])
        let config: JSONObject = endpoint.map { ["endpoint": .string($0), "writeKey": "key"] } ?? [:]
        try ResultsFile.write(
            [
                "version": 1, "plugins": ["../../1/plugins", "../../segment"],
                "connectors": [
                    [
                        "name": "gate", "plugin": .string(plugin), "isolation": .string(isolation),
                        "config": .object(config),
                    ]
                ],
            ],
            to: "\(folder)/connectors.json"
        )
        return "\(folder)/connectors.json"
    }

    /// Ends the runner.
    func close() async { await host.close() }

    /// Calls again and again, with a processor for each side if there are two: a scheduler that has put both on one processor leaves
    /// them there, and then they take turns.
    ///
    /// - Returns: The nanoseconds that a call takes.
    func call(count: Int) async throws -> Double {
        let runner = host.report.runners.first?.process
        let total = try await add.withLease { lease throws(ConnectorError) in
            let processors = ProcessorPair(other: runner)
            defer { processors.release() }
            var sum = 0 as Int64
            let start = ContinuousClock.now
            for number in 0..<Int64(count) { sum = try lease(sum, number) }
            return (ContinuousClock.now - start).nanoseconds
        }
        return Double(total) / Double(count)
    }

    /// Calls a hundred times at once, again and again.
    ///
    /// - Returns: The nanoseconds that one of the calls takes.
    func callInBatches(count: Int) async throws -> Double {
        let runner = host.report.runners.first?.process
        let total = try await gate.withPrepared("add") { add throws(ConnectorError) in
            let processors = ProcessorPair(other: runner)
            defer { processors.release() }
            try add.set(1 as Int64, at: 1)
            var sum = 0 as Int64
            let start = ContinuousClock.now
            for _ in 0..<count {
                try add.batch(100) { index throws(ConnectorError) in
                    try add.set(index, at: 0)
                } take: { _ throws(ConnectorError) in
                    sum += try add.integer()
                }
            }
            guard sum == Int64(count * 5050) else { throw ConnectorError(.misbehaved, "the sum is \(sum)") }
            return (ContinuousClock.now - start).nanoseconds
        }
        return Double(total) / Double(count * 100)
    }

    /// Calls once in a while, so that both sides are asleep before each call.
    ///
    /// - Returns: The nanoseconds that a call takes.
    func callFromSleep(count: Int) async throws -> Double {
        let total = try await add.withLease { lease throws(ConnectorError) in
            var total = 0 as Int64
            for number in 0..<Int64(count) {
                usleep(500)
                let start = ContinuousClock.now
                _ = try lease(number, number)
                total += (ContinuousClock.now - start).nanoseconds
            }
            return total
        }
        return Double(total) / Double(count)
    }

    /// Kills the runner, and calls until a call fails because of that.
    ///
    /// - Returns: The nanoseconds from the signal to the error.
    func loseRunner() async throws -> Double {
        guard let runner = host.report.runners.first?.process else { throw Failure("there is no runner") }
        let time = try await add.withLease { lease throws(ConnectorError) in
            let start = ContinuousClock.now
            kill(pid_t(runner), SIGKILL)
            while true {
                do throws(ConnectorError) {
                    _ = try lease(1, 1)
                } catch {
                    guard error.code == .crashed else { throw error }
                    return (ContinuousClock.now - start).nanoseconds
                }
            }
        }
        return Double(time)
    }

    /// Passes a megabyte in.
    ///
    /// - Returns: The nanoseconds that a call takes.
    func pass(count: Int) async throws -> Double {
        let runner = host.report.runners.first?.process
        let total = try await gate.withPrepared("measure") { measure throws(ConnectorError) in
            let processors = ProcessorPair(other: runner)
            defer { processors.release() }
            try measure.set([UInt8](repeating: 7, count: 1 << 20), at: 0)
            let start = ContinuousClock.now
            for _ in 0..<count { try measure() }
            return (ContinuousClock.now - start).nanoseconds
        }
        return Double(total) / Double(count)
    }
}
