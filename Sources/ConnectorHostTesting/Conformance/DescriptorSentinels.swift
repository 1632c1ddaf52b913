// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Descriptors that reveal whether a plugin closes what is not its own.
enum DescriptorSentinels {
    /// How many of the lowest free numbers are taken: those that a loop from 0 and a `close` of a stale number meet.
    private static let lowCount = 4
    /// Numbers that only a loop over all descriptors meets.
    private static let high: [Int32] = [64, 256, 900]

    /// The descriptors that a body closes, or opens for something else: the standard ones, and some that are open only meanwhile.
    static func closed(by body: () async throws -> Void) async throws -> [Int32] {
        let own = opened()
        let before = (own + [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]).map { (number: $0, file: FileID($0)) }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        let lost = before.filter { $0.file != nil && FileID($0.number) != $0.file }.map(\.number)
        for number in own where !lost.contains(number) { close(number) }
        try result.get()
        return lost.sorted()
    }

    private static func opened() -> [Int32] {
        let low = (0..<lowCount).map { _ in unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }.filter { $0 >= 0 }
        guard let first = low.first else { return [] }
        return low + high.map { fcntl(first, F_DUPFD_CLOEXEC, $0) }.filter { $0 >= 0 }
    }
}
