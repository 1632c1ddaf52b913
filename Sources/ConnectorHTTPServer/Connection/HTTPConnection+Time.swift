// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// How long a client may take.
extension HTTPConnection {
    /// Begins the client's time again.
    ///
    /// The loop's timer stays as it is: to set it for each request takes longer than the request.
    func startTimer(_ context: ChannelHandlerContext) {
        deadline = context.eventLoop.now + shared.patience
        if timer == nil { setTimer(shared.patience, context) }
    }

    /// Stops the client's time.
    func stopTimer() {
        deadline = nil
    }

    private func setTimer(_ delay: TimeAmount, _ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in
            timer = nil
            guard let deadline, let context = self.context else { return }
            let left = deadline - context.eventLoop.now
            if left > .zero { setTimer(left, context) } else { context.close(promise: nil) }
        }
    }
}
