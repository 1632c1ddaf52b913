// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The right to be inside a gate: its instance outlives the admission; on a `serial` gate it includes the turn.
///
/// It is given up exactly once, with the value. It retains nothing: a seat of the ``Door`` keeps the instance as long
/// as a caller is counted in, which costs one atomic addition instead of a reference count at every step.
///
/// `@unchecked Sendable`: the instance and the door are Sendable, and any thread may give the admission up. The caller
/// that asks a door for an admission keeps the door for as long.
@usableFromInline
@safe
package struct Admission: ~Copyable, @unchecked Sendable {
    private let unownedDoor: Unmanaged<Door>
    private let seat: Int
    private let occupant: UnsafePointer<Door.Occupant>

    /// Creates the admission of a caller that the door has just counted in.
    package init(_ door: Unmanaged<Door>, seat: Int, _ occupant: UnsafePointer<Door.Occupant>) {
        unsafe unownedDoor = door
        self.seat = seat
        unsafe self.occupant = occupant
    }

    deinit {
        unsafe occupant.pointee.instance?._withUnsafeGuaranteedRef { $0.turn?.passOn() }
        unsafe unownedDoor._withUnsafeGuaranteedRef { $0.leave(seat) }
    }

    /// The door, for those who keep the admission for longer than their caller.
    package var door: Door { unsafe unownedDoor.takeUnretainedValue() }

    /// The channel to the instance; valid as long as the caller keeps it, even beyond the admission.
    package var channel: any Channel { unsafe occupant.pointee.channel }

    /// Lends the instance to the body without counting a reference.
    ///
    /// - Throws: `unsupported` if the instance is not in this process.
    @inline(__always)
    package func with<Result>(
        _ body: (PluginInstance) throws(ConnectorError) -> Result
    ) throws(ConnectorError) -> Result {
        guard let reference = unsafe occupant.pointee.instance else { throw Self.isElsewhere }
        let result = unsafe reference._withUnsafeGuaranteedRef { instance -> Swift.Result<Result, ConnectorError> in
            do throws(ConnectorError) {
                return .success(try body(instance))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static var isElsewhere: ConnectorError {
        ConnectorError(
            .unsupported,
            "the plugin runs in a process of its own, where its functions have no address",
            fix: "call the operation by its name"
        )
    }
}
