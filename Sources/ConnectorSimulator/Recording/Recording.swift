// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The latest requests, bounded in number and size.
final class Recording: Sendable {
    /// The kept requests, and the number of dropped ones.
    private struct State {
        var requests: [RecordedRequest] = []
        var size = 0
        var dropped = 0
    }

    /// The most requests kept.
    private let maximumCount: Int
    /// The most bytes kept, over all requests.
    private let maximumSize: Int
    /// Held only for short critical sections.
    private let state = Mutex(State())

    /// Keeps at most `maximumCount` requests and `maximumSize` bytes; the oldest are dropped first.
    init(maximumCount: Int = 1000, maximumSize: Int = 16 << 20) {
        self.maximumCount = maximumCount
        self.maximumSize = maximumSize
    }

    /// Adds the latest request, and drops old ones to make room.
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

    /// The kept requests, newest last, and the number of dropped ones.
    func snapshot(of vendor: String? = nil) -> (requests: [RecordedRequest], dropped: Int) {
        state.withLock { state in
            (state.requests.filter { vendor == nil || $0.vendor == vendor }, state.dropped)
        }
    }

    /// Removes the requests of one vendor; for `nil`, all requests and the count of dropped ones.
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
