// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Task where Success == Never, Failure == Never {
    /// Lets other tasks run, for a loop that waits until something is true. The loop ends with the test's time limit, which cancels the
    /// task, and its error says where it waited.
    package static func checkedYield(_ file: StaticString = #fileID, _ line: Int = #line) async throws {
        if Task.isCancelled { throw VainWait(file: file, line: line) }
        await Task.yield()
    }
}

/// What a test waited for did not become true.
private struct VainWait: Error, CustomStringConvertible {
    let file: StaticString
    let line: Int

    var description: String { "the wait at \(file):\(line) was canceled" }
}
