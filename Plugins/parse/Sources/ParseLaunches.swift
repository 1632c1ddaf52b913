// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Remembers which applications have reported their launch.
///
/// The host opens a gate again after an outage, and for every changed secret; the application was launched once.
final class ParseLaunches: Sendable {
    /// The launches of this process.
    static let ofThisProcess = ParseLaunches()

    private let reported = Mutex<Set<String>>([])

    /// Returns whether the caller is the one to report the launch of an application.
    func claim(_ application: String) -> Bool {
        reported.withLock { $0.insert(application).inserted }
    }

    /// Lets the next caller report the launch, because it did not reach the server.
    func release(_ application: String) {
        reported.withLock { _ = $0.remove(application) }
    }
}
