// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsoleWeb
internal import ConnectorHost

/// A host with a thousand gates, of which one after the other is closed and opened, its console, and an application that calls a gate.
struct WatchedHost: Sendable {
    private let files: String
    private let host: ConnectorHost
    private let add: TypedOperation<OperationFunction.Integers2>
    private let console: ServedConsole
    private let changing: Task<Void, any Error>

    /// What calls take.
    struct Cost {
        /// The nanoseconds that passed for a call.
        let clock: Double
        /// The nanoseconds of processor time that the calling thread took for a call.
        let processor: Double
        /// The nanoseconds of processor time in a second that the rest of the process took meanwhile.
        let rest: Double
    }

    /// Opens the gates, and begins to change them and to serve the console.
    init(files: String) async throws {
        self.files = files
        let host = try ConnectorHost(file: "\(files)/1000/connectors.json")
        self.host = host
        try await host.open().requireReady()
        add = try host.gate("gate-0000").typed(
            "add",
            "(a: i64, b: i64) -> i64",
            as: OperationFunction.Integers2.self
        )
        console = try await ServedConsole { options, announce in
            try await WebConsole.run(host, options: options, announce: announce)
        }
        changing = Task {
            for number in 0... {
                let path = "gate-" + "000\(1 + number % 999)".suffix(4)
                try await host.close(path)
                try await host.open(path)
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    /// Stops.
    func close() async {
        changing.cancel()
        _ = await changing.result
        await console.close()
        await host.close()
    }

    /// Calls for a while, through a lease for each call.
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

    /// Does something while so many consoles look at the host.
    func watched<Result>(by count: Int, _ body: () async throws -> Result) async throws -> Result {
        guard let port = console.url.split(separator: ":").last else { throw Failure("\(console.url) has no port") }
        let watchers = try ServerProcess("'\(files)/look' \(port) '\(ServedConsole.token)' \(count)")
        guard watchers.line == "live" else { throw Failure("the consoles do not see the host") }
        let result = try await body()
        guard watchers.close() else { throw Failure("the consoles did not see the changes of the host") }
        return result
    }
}
