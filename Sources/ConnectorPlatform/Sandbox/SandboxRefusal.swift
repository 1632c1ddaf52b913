// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSandbox

/// A call of the system that the sandbox of another process refused.
package struct SandboxRefusal: Sendable, Equatable {
    /// The call's name.
    package var call: String
    /// Why it is refused, as a clause without a subject: `starts a process`.
    package var reason: String
    /// The setting of the sandbox that would allow it; nil if none does.
    package var setting: String?

    /// Creates a refusal.
    package init(call: String, reason: String, setting: String? = nil) {
        self.call = call
        self.reason = reason
        self.setting = setting
    }
}

/// Refuses the calls about which the filter of a sandboxed process asks its parent, and so knows of them.
package struct SandboxListener: Sendable {
    /// The calls that were refused and reported before, by number.
    private var isKnown: [Bool] = []

    /// Creates a listener that knows of no call.
    package init() {}

    /// Refuses the next call; blocks until there is one.
    ///
    /// - Parameters:
    ///   - descriptor: What the process has sent. `poll` finds it readable when a call waits.
    ///   - isReported: Whether the refusal is worth a report: not if the process only proves its sandbox.
    /// - Returns: The refusal if it is the first one of that call to be reported; nil otherwise, and if the call is gone.
    /// - Throws: If the descriptor is of no more use.
    package mutating func refuse(
        _ descriptor: Int32,
        isReported: Bool = true
    ) throws(SystemError) -> SandboxRefusal? {
        var refusal = unsafe sandbox_refusal()
        let result = unsafe sandbox_refuse(descriptor, &refusal)
        guard result >= 0 else { throw SystemError(-result) }
        guard result > 0, isReported else { return nil }
        let number = unsafe Int(refusal.number)
        if number >= isKnown.count { isKnown += [Bool](repeating: false, count: number + 1 - isKnown.count) }
        guard !isKnown[number] else { return nil }
        isKnown[number] = true
        let texts = unsafe [refusal.call, refusal.reason, refusal.setting].map { text in
            unsafe text.map { unsafe String(cString: $0) }
        }
        return SandboxRefusal(call: texts[0] ?? "", reason: texts[1] ?? "", setting: texts[2])
    }
}
