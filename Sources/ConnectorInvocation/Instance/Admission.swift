// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The right to be inside a gate. The instance outlives the admission, which on a `serial` gate also occupies the serial gate.
///
/// The admission ends exactly once, when the value is destroyed. It retains nothing: a seat of the ``RundownGuard`` keeps the
/// instance alive while a caller is counted in, at the cost of one atomic addition instead of reference counting at every step.
///
/// `@unchecked Sendable`: the instance and the guard are Sendable, and any thread may end the admission. The caller that requests
/// an admission keeps the guard alive for as long.
@usableFromInline
@safe
package struct Admission: ~Copyable, @unchecked Sendable {
    private let unownedGuard: Unmanaged<RundownGuard>
    private let seat: Int
    private let occupant: UnsafePointer<RundownGuard.Occupant>

    /// Creates an admission for a caller that the guard has just counted in.
    package init(_ rundown: Unmanaged<RundownGuard>, seat: Int, _ occupant: UnsafePointer<RundownGuard.Occupant>) {
        unsafe unownedGuard = rundown
        self.seat = seat
        unsafe self.occupant = occupant
    }

    deinit {
        unsafe occupant.pointee.instance?._withUnsafeGuaranteedRef { $0.serialGate?.leave() }
        unsafe unownedGuard._withUnsafeGuaranteedRef { $0.leave(seat) }
    }

    /// The rundown guard, for code whose admission outlives its caller.
    package var rundown: RundownGuard { unsafe unownedGuard.takeUnretainedValue() }

    /// The channel to the instance. The caller may retain it beyond the admission.
    package var channel: any Channel { unsafe occupant.pointee.channel }

    /// An operation that runs to completion on its caller's thread; nil for any other. It lives as long as the admission.
    package func promptOperation(named name: String) -> Unmanaged<ResolvedOperation>? {
        guard let reference = unsafe occupant.pointee.instance else { return nil }
        return unsafe reference._withUnsafeGuaranteedRef { unsafe $0.resolved.prompt(named: name) }
    }

    /// Lets a prompt function run on its caller's thread; see ``PluginInstance/enterPromptly()``. False for a plugin in a runner.
    package func enterPromptly() -> Bool {
        guard let reference = unsafe occupant.pointee.instance else { return false }
        return unsafe reference._withUnsafeGuaranteedRef { $0.enterPromptly() }
    }

    /// Lends the body the instance, or functions that forward calls to it; without reference counting if it is in this process.
    ///
    /// - Throws: `unsupported` if its functions cannot be called from this process.
    package func lend(_ body: (PluginInstance) throws(ConnectorError) -> Void) throws(ConnectorError) {
        guard let reference = unsafe occupant.pointee.instance else {
            return try body(try channel.forwardingInstance())
        }
        let failure = unsafe reference._withUnsafeGuaranteedRef { instance -> ConnectorError? in
            do throws(ConnectorError) {
                try body(instance)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Lends the instance to a body that returns a result, which takes longer than ``lend(_:)``.
    package func with<Result>(
        _ body: (PluginInstance) throws(ConnectorError) -> Result
    ) throws(ConnectorError) -> Result {
        var result: Result?
        try lend { instance throws(ConnectorError) in result = try body(instance) }
        // Without a result there was an error.
        return unsafe result.unsafelyUnwrapped
    }
}
