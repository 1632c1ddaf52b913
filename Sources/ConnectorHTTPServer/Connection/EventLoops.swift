// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import NIOCore
internal import NIOPosix

/// The event loops that all servers and clients of this process share.
enum EventLoops {
    /// Makes them if they are not there. NIO would end the process if it could not.
    ///
    /// - Throws: `unavailable` if the system has no threads or no descriptors for them.
    static func prepare() throws(ConnectorError) {
        let refusal = HostThread.prepareEventLoops(NIOSingletons.groupLoopCountSuggestion) {
            _ = MultiThreadedEventLoopGroup.singleton
        }
        guard let refusal else { return }
        let limit = refusal.limitRemedy
        throw ConnectorError(
            .unavailable,
            limit == nil ? "the system cannot create the threads of HTTP" : "too few descriptors are left for HTTP",
            fix: limit ?? HostThread.remedy,
            cause: refusal.description,
            isRetryable: true
        )
    }
}
