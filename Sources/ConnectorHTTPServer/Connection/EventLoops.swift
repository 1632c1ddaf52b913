// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import NIOCore
internal import NIOPosix

/// The event loops that all servers and clients of this process share.
enum EventLoops {
    /// Makes them if they are not there. NIO would end the process if the system did not create their threads.
    ///
    /// - Throws: `unavailable` if it does not.
    static func prepare() throws(ConnectorError) {
        let areMade = HostThread.prepareEventLoops(NIOSingletons.groupLoopCountSuggestion) {
            _ = MultiThreadedEventLoopGroup.singleton
        }
        guard !areMade else { return }
        throw ConnectorError(
            .unavailable,
            "the system cannot create the threads of HTTP",
            fix: HostThread.remedy,
            isRetryable: true
        )
    }
}
