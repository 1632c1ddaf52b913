// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Writes responses part by part, each within the client's timeout.
extension HTTPConnection {
    /// Sends a response and closes the connection.
    func sendLast(_ response: ServerResponse, to request: ServerRequest, _ context: ChannelHandlerContext) {
        var response = response
        response.isLast = true
        send(response, to: request, context)
    }

    /// Sends a response.
    func send(_ response: ServerResponse, to request: ServerRequest, _ context: ChannelHandlerContext) {
        var isLast = response.isLast || isQuiescing || !request.keepsConnection
        let isBare = request.method == "HEAD" || !response.mayHaveBody
        switch response.body {
        case .bytes(let bytes):
            // A response to HEAD may state how long the body would be.
            let length = request.method == "HEAD" && bytes.isEmpty ? response.statedLength : nil
            output = response.head(
                shared.common,
                response.mayHaveBody ? .length(length ?? bytes.count) : .none,
                isLast: isLast
            )
            if !isBare { content = bytes[...] }
        case .truncated(let bytes):
            isLast = true
            output = response.head(shared.common, .length(bytes.count), isLast: false)
            if !isBare { content = bytes.prefix(bytes.count / 2) }
        case .reset: return reset(context)
        case .stream(let write):
            isLast = isLast || request.isOld
            output = response.head(shared.common, request.isOld ? .none : .chunked, isLast: isLast)
            if !isBare {
                // The stream may never end, and only a write would reveal that no one reads it.
                guard !isInputClosed else { return context.close(promise: nil) }
                guard shared.table.markBusy(context.channel, isStream: true) else {
                    return refuseWork(request, context)
                }
                return stream(write, isChunked: !request.isOld, isLast: isLast, context)
            }
        }
        // An immediate response does not renew the idle time, so clients that send many requests are closed before new ones.
        if phase == .working { shared.table.markIdle(context.channel) }
        phase = .answering
        writeOutput(isLast: isLast, context)
    }

    /// Writes the rest of a response, part by part.
    private func writeOutput(isLast: Bool, _ context: ChannelHandlerContext) {
        let size = shared.limits.writeSize
        output.writeBytes(content.prefix(size))
        content = content.dropFirst(size)
        guard output.readableBytes > 0 else { return finish(isLast: isLast, context) }
        let part = output
        output = ByteBuffer()
        startTimer(context)
        context.writeAndFlush(wrapOutboundOut(part)).assumeIsolated().whenComplete { [self] result in
            guard phase == .answering, let context = self.context else { return }
            guard case .success = result else { return context.close(promise: nil) }
            writeOutput(isLast: isLast, context)
        }
    }

    /// Completes a response: reads the next request, or closes the connection.
    private func finish(isLast: Bool, _ context: ChannelHandlerContext) {
        guard isLast || isQuiescing else {
            phase = .reading
            startTimer(context)
            guard !isAdvancing else { return }
            advance(context)
            return readMore(context)
        }
        guard !isInputClosed, !parser.isBetweenRequests || input.readableBytes > 0 else {
            return context.close(promise: nil)
        }
        // Closing now would reset a client that is still sending, before it has read the response.
        phase = .discarding
        input = ByteBuffer()
        readBodies(true, context)
        startTimer(context)
        context.close(mode: .output).assumeIsolated().whenComplete { [self] result in
            guard phase == .discarding, let context = self.context else { return }
            if case .failure = result { return context.close(promise: nil) }
            context.read()
        }
    }

    /// Resets the connection with RST, as if the server had crashed.
    private func reset(_ context: ChannelHandlerContext) {
        let channel = context.channel
        guard let socket = channel as? any SocketOptionProvider else { return channel.close(promise: nil) }
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in channel.close(promise: nil) }
    }

    // MARK: Streams

    /// Sends the parts that a function writes, until it returns.
    private func stream(
        _ write: @escaping @Sendable (BodyWriter) async throws -> Void,
        isChunked: Bool,
        isLast: Bool,
        _ context: ChannelHandlerContext
    ) {
        phase = .streaming
        self.isChunked = isChunked
        stopTimer()
        let promise = context.eventLoop.makePromise(of: Void.self)
        let head = output
        output = ByteBuffer()
        let writer = BodyWriter { [connection = NIOLoopBound(self, eventLoop: context.eventLoop)] bytes in
            let eventLoop = connection.eventLoop
            try await eventLoop.flatSubmit { connection.value.stream(bytes[...], on: eventLoop) }.get()
        }
        context.writeAndFlush(wrapOutboundOut(head), promise: nil)
        task = Task {
            do {
                try await write(writer)
                promise.succeed()
            } catch {
                promise.fail(error)
            }
        }
        if isQuiescing { task?.cancel() }
        promise.futureResult.assumeIsolated().whenComplete { [self] result in
            guard phase == .streaming, let context = self.context else { return }
            task = nil
            guard case .success = result else { return context.close(promise: nil) }
            phase = .answering
            shared.table.markIdle(context.channel)
            output = ByteBuffer(string: isChunked ? "0\r\n\r\n" : "")
            writeOutput(isLast: isLast, context)
        }
    }

    /// Writes a part of a stream, for ``BodyWriter``: a slice at a time, so that a slow client has the timeout for each slice.
    ///
    /// - Returns: A future that fails if the connection has ended.
    private func stream(_ bytes: ArraySlice<UInt8>, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        guard phase == .streaming, let context else { return eventLoop.makeFailedFuture(ChannelError.alreadyClosed) }
        let slice = bytes.prefix(shared.limits.writeSize)
        let rest = bytes.dropFirst(slice.count)
        var part = ByteBuffer()
        if isChunked { part.writeString("\(String(slice.count, radix: 16))\r\n") }
        part.writeBytes(slice)
        if isChunked { part.writeString("\r\n") }
        if shared.limits.hasStreamTimeout { startTimer(context) }
        let written = context.writeAndFlush(wrapOutboundOut(part))
        guard rest.isEmpty else {
            return written.assumeIsolated().flatMap { [self] _ in stream(rest, on: eventLoop) }.nonisolated()
        }
        written.assumeIsolated().whenComplete { [self] _ in if phase == .streaming { stopTimer() } }
        return written
    }
}
