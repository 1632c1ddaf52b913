// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Counts what the typed synchronous path allocates, in a process into which `Programs/count.c` was loaded first.
enum Allocations {
    private typealias Count = @convention(c) () -> UInt64

    /// Prints how many allocations a thousand typed calls made.
    static func measure(files: String) async throws {
        guard let address = unsafe dlsym(nil, "benchmark_allocations") else {
            throw Failure("start this with LD_PRELOAD=libcount.so")
        }
        let count = unsafe unsafeBitCast(address, to: Count.self)
        let target = try await CallTarget(files: files)
        let made = try await target.add.withLease { lease throws(ConnectorError) in
            var sum = try lease(1, 2)
            let before = count()
            for number in 0..<1000 as Range<Int64> { sum = try lease(sum, number) }
            return sum == 0 ? 0 : count() - before
        }
        print(made)
    }
}
