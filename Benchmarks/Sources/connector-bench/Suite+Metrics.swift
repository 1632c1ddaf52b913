// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import CoreMetrics
internal import Synchronization

/// What metrics cost a call.
extension Suite {
    /// How many calls make a sample.
    private static let callCount = 20_000

    /// Calls a gate of a host without a metrics system, and one of a host with one, alternately.
    ///
    /// It comes last: from here on the process has a metrics system.
    func metrics() async throws -> [Measurement] {
        let plain = try await CallTarget(files: files)
        let entrance = CountedEntrance()
        MetricsSystem.bootstrap(BenchmarkMetrics())
        let metered = try await CallTarget(files: files)
        let measurements = [
            Measurement("metrics/off", "typed call enters, metrics off", beside: "uncounted", goal: .more(5)),
            Measurement("metrics/typed", "typed call, metrics on", beside: "metrics off", goal: .more(40)),
            Measurement("metrics/lease", "  the same, through a lease", beside: "metrics off", goal: .more(40)),
            Measurement("metrics/named", "described call, by name, metrics on", beside: "metrics off"),
        ]
        return try await alternate(measurements, rounds: 2 * rounds) { measurement in
            if measurement.id == "metrics/off" {
                return (try entrance.pass(.typed, Self.callCount), try entrance.pass(.named, Self.callCount))
            }
            let off = try await sample(measurement.id, plain)
            return (try await sample(measurement.id, metered), off)
        }
    }

    /// The nanoseconds of a call.
    private func sample(_ id: String, _ target: CallTarget) async throws -> Double {
        let count = id == "metrics/named" ? Self.callCount / 10 : Self.callCount
        let duration: Duration
        switch id {
        case "metrics/typed":
            let start = ContinuousClock.now
            for number in 0..<Int64(count) { _ = try await target.add(number, number) }
            duration = ContinuousClock.now - start
        case "metrics/lease":
            duration = try await target.add.withLease { lease throws(ConnectorError) in
                var sum = 0 as Int64
                let start = ContinuousClock.now
                for number in 0..<Int64(count) { sum = try lease(sum, number) }
                let duration = ContinuousClock.now - start
                return sum == 0 ? .zero : duration
            }
        default:
            let start = ContinuousClock.now
            for number in 0..<Int64(count) { _ = try await target.gate.call("add", number, 1) }
            duration = ContinuousClock.now - start
        }
        return Double(duration.nanoseconds) / Double(count)
    }
}

/// A metrics system that only adds up, as the cheapest ones do.
private struct BenchmarkMetrics: MetricsFactory {
    private final class Instrument: CounterHandler, RecorderHandler, TimerHandler, MeterHandler {
        private let sum = Atomic<Int64>(0)

        func increment(by amount: Int64) { sum.wrappingAdd(amount, ordering: .relaxed) }
        func reset() { sum.store(0, ordering: .relaxed) }
        func record(_ value: Int64) { sum.wrappingAdd(value, ordering: .relaxed) }
        func record(_ value: Double) { sum.wrappingAdd(Int64(value), ordering: .relaxed) }
        func recordNanoseconds(_ duration: Int64) { sum.wrappingAdd(duration, ordering: .relaxed) }
        func set(_ value: Int64) { sum.store(value, ordering: .relaxed) }
        func set(_ value: Double) { sum.store(Int64(value), ordering: .relaxed) }
        func increment(by amount: Double) { sum.wrappingAdd(Int64(amount), ordering: .relaxed) }
        func decrement(by amount: Double) { sum.wrappingSubtract(Int64(amount), ordering: .relaxed) }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { Instrument() }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Instrument()
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { Instrument() }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { Instrument() }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
}
