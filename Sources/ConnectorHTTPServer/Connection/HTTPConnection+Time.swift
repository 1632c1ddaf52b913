// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The client's timeout.
extension HTTPConnection {
    /// Restarts the client's timeout.
    ///
    /// It only moves the deadline, because scheduling a timer for each request would cost more than the request.
    func startTimer(_ context: ChannelHandlerContext) {
        deadline = context.eventLoop.now + shared.timeout
        if timer == nil { setTimer(shared.timeout, context) }
    }

    /// Stops the client's timeout.
    func stopTimer() {
        deadline = nil
    }

    private func setTimer(_ delay: TimeAmount, _ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in
            timer = nil
            guard let deadline, let context = self.context else { return }
            let remaining = deadline - context.eventLoop.now
            if remaining > .zero { setTimer(remaining, context) } else { context.close(promise: nil) }
        }
    }
}
