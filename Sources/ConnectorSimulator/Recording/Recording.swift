// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The latest requests, kept within a bound.
final class Recording: Sendable {
    /// What is kept and what is not any more.
    private struct State {
        var requests: [RecordedRequest] = []
        var size = 0
        var dropped = 0
    }

    /// The most requests kept.
    private let maximumCount: Int
    /// The most bytes kept, all requests together.
    private let maximumSize: Int
    /// Guarded by one short critical section.
    private let state = Mutex(State())

    /// Keeps at most `maximumCount` requests and `maximumSize` bytes; the oldest go first.
    init(maximumCount: Int = 1000, maximumSize: Int = 16 << 20) {
        self.maximumCount = maximumCount
        self.maximumSize = maximumSize
    }

    /// Adds the latest request and makes room for it.
    func append(_ request: RecordedRequest) {
        state.withLock { state in
            state.requests.append(request)
            state.size += request.size
            var excess = 0
            while state.requests.count - excess > maximumCount
                || (state.size > maximumSize && excess < state.requests.count)
            {
                state.size -= state.requests[excess].size
                excess += 1
            }
            state.requests.removeFirst(excess)
            state.dropped += excess
        }
    }

    /// What is kept, newest last, and how many earlier ones are gone.
    func snapshot(of vendor: String? = nil) -> (requests: [RecordedRequest], dropped: Int) {
        state.withLock { state in
            (state.requests.filter { vendor == nil || $0.vendor == vendor }, state.dropped)
        }
    }

    /// Forgets the requests of one vendor, or everything and the count of what was dropped.
    func clear(_ vendor: String? = nil) {
        state.withLock { state in
            guard let vendor else {
                state = State()
                return
            }
            state.requests.removeAll { $0.vendor == vendor }
            state.size = state.requests.reduce(0) { $0 + $1.size }
        }
    }
}
