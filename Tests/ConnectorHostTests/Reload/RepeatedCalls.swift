// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Makes a call again and again until the task is cancelled, and counts the calls that succeeded. Any other failure ends it.
func repeating(_ call: @escaping @Sendable () async throws -> Void) -> Task<Int, any Error> {
    Task {
        var count = 0
        while !Task.isCancelled {
            do {
                try await call()
                count += 1
            } catch {
                // The call under way is cancelled, too.
                if Task.isCancelled { break }
                throw error
            }
            await Task.yield()
        }
        return count
    }
}
