// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension OneShot {
    /// Waits for the value until a deadline.
    ///
    /// - Parameters:
    ///   - deadline: Nanoseconds of the clock's monotonic time; `UInt64.max` means no deadline and starts no timer.
    ///   - clock: The clock of the deadline.
    /// - Returns: The value; nil at the deadline.
    package func wait(by deadline: UInt64, on clock: any HostClock) async -> Value? {
        if let value { return value }
        guard deadline < .max else { return await wait() }
        let ticket = ticket()
        let timer = clock.schedule(at: deadline) { [self] in leave(ticket) }
        defer { clock.cancel(timer) }
        return await wait(as: ticket)
    }

    /// Waits for the value, at most for a duration.
    ///
    /// - Returns: The value; nil if the time runs out.
    package func wait(for duration: Duration, on clock: any HostClock) async -> Value? {
        await wait(by: clock.now().saturatingAdding(duration.nanoseconds), on: clock)
    }
}
