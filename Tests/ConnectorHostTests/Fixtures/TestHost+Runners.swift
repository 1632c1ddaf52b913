// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorIsolation

extension ConnectorHost {
    /// What leads to the runner of a gate's instance.
    func remoteChannel(_ path: String) throws -> RemoteChannel {
        let gate = try #require(current.tree[path]?.gate)
        let generation = try #require(gate.storage.withLock { $0.current })
        let channel = generation.state.withLock { $0.channel } as? RemoteChannel
        return try #require(channel)
    }
}

extension TestHost {
    /// Whether the host waits for a runner to say that it still answers. A test must not move the clock meanwhile: the answer takes real
    /// time, and the host ends a runner that is late.
    var isAskingRunners: Bool {
        host.dependencies.runners.runners.contains { runner in
            runner.state.withLock { $0.ping != $0.pong && !$0.isOver }
        }
    }

    /// What leads to the runner of a gate's instance.
    func remoteChannel(_ path: String) throws -> RemoteChannel { try host.remoteChannel(path) }
}
