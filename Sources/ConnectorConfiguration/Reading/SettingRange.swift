// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The ranges of a connector's settings, both of those in a file and of those made in Swift.
enum SettingRange {
    /// The attempts to open a gate.
    static let attempts: ClosedRange<Int64> = 1...1000
    /// The failed calls in a row that open a breaker.
    static let failures: ClosedRange<Int64> = 1...1000
    /// The bytes of responses that are kept.
    static let cacheBytes = 0...Int64(Connector.cacheLimit)
    /// The events of a batch.
    static let batchCount: ClosedRange<Int64> = 1...100_000
    /// The bytes of a batch.
    static let batchBytes: ClosedRange<Int64> = 1...(1 << 30)
    /// The bytes of payloads that may wait for a connector.
    static let queueBytes: ClosedRange<Int64> = 1...(1 << 50)
    /// The private memory of a sandbox, in bytes: at least that of a runner with Swift's runtime, and some to work with.
    static let memory: ClosedRange<Int64> = (16 << 20)...(1 << 50)
    /// The processor time of a sandbox, as a number of processors: at least what Linux enforces, and more than any machine has.
    static let processors = 0.01...1024
    /// The threads of a sandbox: at least those of a runner.
    static let threads: ClosedRange<Int64> = 8...65536
}
