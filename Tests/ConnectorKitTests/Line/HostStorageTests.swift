// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorTestSupport
internal import Testing

/// `storage/1` as an author's type sees it.
@Suite(.timeLimit(.minutes(1))) struct HostStorageTests {
    @Test func `an operation that waits for the disk does not block the caller's thread`() async {
        let storage = LineStorage()
        let host = LineHost(storage: storage)
        let instance = LineInstance(host)
        storage.hang()
        // If the caller had to wait for the disk, this would not return.
        #expect(instance.remember(3, "cursor") == 0)
        #expect(host.completions.isEmpty)
        storage.proceed()
        await host.news()
        #expect(host.completions == [.init(operation: 3, status: 0, result: #"["cursor"]"#)])
    }

    @Test(arguments: [true, false])
    func `a value is replaced only if it is the expected one, also in a host without that function`(
        hasReplace: Bool
    ) async throws {
        let storage = LineStorage(hasReplace: hasReplace)
        let host = LineHost(storage: storage)
        let instance = LineInstance(host)
        #expect(instance.replace(5, "cursor") == 0)
        while host.completions.isEmpty { try await Task.checkedYield() }
        #expect(host.completions == [.init(operation: 5, status: 0, result: "[true,false,true,false,2]")])
        #expect(storage.replacements == (hasReplace ? 2 : 0))
    }

    @Test func `many operations store at once, each what it was given`() async throws {
        let host = LineHost(storage: LineStorage())
        let instance = LineInstance(host)
        for number in 1...50 as ClosedRange<UInt64> { #expect(instance.remember(number, "key \(number)") == 0) }
        while host.completions.count < 50 { try await Task.checkedYield() }
        #expect(host.completions.allSatisfy { $0.status == 0 })
        #expect(host.completions.contains { $0.result?.contains("\"key 50\"") == true })
    }
}
