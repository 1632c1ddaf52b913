// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Records which applications have reported their launch.
///
/// The host reopens a gate after an outage, and for every changed secret, but the application was launched only once.
final class ParseLaunches: Sendable {
    /// The launches of this process.
    static let ofThisProcess = ParseLaunches()

    private let reported = Mutex<Set<String>>([])

    /// Whether the caller must report the launch of an application; true only once until ``release(_:)``.
    func claim(_ application: String) -> Bool {
        reported.withLock { $0.insert(application).inserted }
    }

    /// Lets the next caller report the launch, because the report did not reach the server.
    func release(_ application: String) {
        reported.withLock { _ = $0.remove(application) }
    }
}
