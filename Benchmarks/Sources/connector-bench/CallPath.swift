// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CBenchmark
internal import ConnectorHost
internal import ConnectorManifest

/// Counts what one call passes through, in a program compiled with `-profile-generate`; `scripts/count-path` prints it.
enum CallPath {
    /// How often each path is taken, in a process that is warm.
    private static let rounds = 20

    /// The bytes of the text in the large payload; copies of more bytes are counted. Segment takes 32 KB.
    private static let payload = 28 << 10

    /// Takes a path several times, prints `WAKES COPIES` for each, and leaves the profile of the last in a file.
    static func measure(files: String, path: String, profile: String) async throws {
        switch path {
        case "track": try await track(files: files, profile: profile)
        case "call": try await call("add", files: files, profile: profile)
        case "prompt": try await call("sum", files: files, profile: profile)
        case "typed": try await typed(files: files, profile: profile)
        default: throw Failure("there is no path \(path); there are track, call, prompt and typed", status: 64)
        }
    }

    /// From `track` to the first byte at the vendor.
    @concurrent private static func track(files: String, profile: String) async throws {
        let port = benchmark_vendor()
        guard port != 0 else { throw Failure("the vendor cannot listen") }
        let target = try OutboxTarget(files: files, port: Int(port))
        try await target.open()
        try await target.track(bytes: payload)
        try await target.flush()
        for _ in 0..<rounds {
            try begin(profile)
            try await target.track(bytes: payload)
            end()
            try await target.flush()
        }
        try await target.close()
    }

    /// From a call by name to its result.
    @concurrent private static func call(_ operation: String, files: String, profile: String) async throws {
        let target = try await CallTarget(files: files)
        _ = try await target.gate.call(operation, 1, 2)
        for _ in 0..<rounds {
            try begin(profile)
            _ = try await target.gate.call(operation, 1, 2)
            benchmark_path_end()
            end()
        }
        await target.host.close()
    }

    /// From a typed call to its result.
    private static func typed(files: String, profile: String) async throws {
        let target = try await CallTarget(files: files)
        _ = try await target.add(1, 2)
        for _ in 0..<rounds {
            try begin(profile)
            _ = try await target.add(1, 2)
            benchmark_path_end()
            end()
        }
        await target.host.close()
    }

    private static func begin(_ profile: String) throws {
        guard unsafe benchmark_path_begin(profile) else {
            throw Failure("compile this with -profile-generate: scripts/count-path does", status: 64)
        }
    }

    private static func end() {
        var (wakes, copies): (UInt64, UInt64) = (0, 0)
        unsafe benchmark_path_wait(&wakes, &copies)
        print(wakes, copies)
    }
}
