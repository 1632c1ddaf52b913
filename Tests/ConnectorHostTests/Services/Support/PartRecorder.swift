// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorServices

/// Receives a response in parts as a plugin does.
final class PartRecorder: @unchecked Sendable {
    // Sendable: the id is written once, before the request is known to anybody else.

    /// The host's id of the request.
    var id: UInt64 = 0
    /// How often there was room for the next part of the body.
    let rooms = CallCounter()
    private let plugin: PluginSide
    private let calls: AsyncStream<RequestEnd>
    private let continuation: AsyncStream<RequestEnd>.Continuation

    init(_ plugin: PluginSide) {
        self.plugin = plugin
        (calls, continuation) = AsyncStream.makeStream()
    }

    /// The callbacks, which keep this alive until the end.
    func receiver(silence: UInt64) -> connector_http_receiver {
        unsafe connector_http_receiver(
            struct_size: UInt32(MemoryLayout<connector_http_receiver>.size),
            flags: 0,
            part: { user, part in
                guard let user = unsafe user else { return }
                let recorder = unsafe Unmanaged<PartRecorder>.fromOpaque(user).takeUnretainedValue()
                unsafe recorder.continuation.yield(RequestEnd(0, part, nil))
            },
            done: { user, status, response, error in
                guard let user = unsafe user else { return }
                let recorder = unsafe Unmanaged<PartRecorder>.fromOpaque(user).takeRetainedValue()
                var end = unsafe RequestEnd(status, response, error)
                end.isDone = true
                recorder.continuation.yield(end)
                recorder.continuation.finish()
            },
            user: Unmanaged.passRetained(self).toOpaque(),
            silence_ns: silence,
            room: { user in
                guard let user = unsafe user else { return }
                unsafe Unmanaged<PartRecorder>.fromOpaque(user).takeUnretainedValue().rooms.add()
            }
        )
    }

    /// The next callback; nil after the end.
    func next() async -> RequestEnd? {
        for await call in calls { return call }
        return nil
    }

    /// Asks for a part, and awaits it or the end.
    func part() async -> RequestEnd? {
        resume()
        return await next()
    }

    /// Asks for a part.
    func resume() {
        guard let http = unsafe plugin.http else { return }
        unsafe http.pointee.resume(http.pointee.context, id)
    }

    /// Writes a part of the body.
    ///
    /// - Returns: The status.
    func write(_ text: String, isLast: Bool = false) -> Int32 {
        guard let http = unsafe plugin.http else { return Int32(CONNECTOR_FAILED) }
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        return unsafe Array(text.utf8).withUnsafeBufferPointer { part in
            unsafe http.pointee.write(
                http.pointee.context,
                id,
                part.baseAddress,
                UInt64(part.count),
                isLast ? 1 : 0,
                &error
            )
        }
    }

    /// Ends the request.
    func cancel() {
        guard let http = unsafe plugin.http else { return }
        unsafe http.pointee.cancel(http.pointee.context, id)
    }
}
