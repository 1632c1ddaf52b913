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
    /// The private memory of a sandbox, in bytes.
    static let memory = ConfigurationReader.leastMemory...(1 << 50)
    /// The threads of a sandbox.
    static let threads = ConfigurationReader.leastThreads...65536
}
