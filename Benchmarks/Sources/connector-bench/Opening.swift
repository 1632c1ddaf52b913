// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// Opens every gate of a file, in a process of its own: an image can be loaded for the first time only once.
enum Opening {
    /// Prints the nanoseconds that reading the file and the plugins' manifests took, those that opening took, and the bytes of the
    /// runners' private memory.
    static func measure(file: String) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let host = try ConnectorHost(file: file)
        let ready = clock.now
        let report = await host.open()
        let end = clock.now
        guard report.isReady else { throw Failure("not every gate of \(file) opened") }
        let memory = host.report.runners.compactMap(\.memory).reduce(0, +)
        print((ready - start).nanoseconds, (end - ready).nanoseconds, memory)
    }
}
