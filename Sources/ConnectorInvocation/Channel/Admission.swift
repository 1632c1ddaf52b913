// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The right to be inside a gate, whose instance is not destroyed before that ends; on a `serial` gate, also the only one to be.
///
/// Ends with its value, exactly once. It retains nothing: a seat of the ``Door`` keeps the instance as long as anybody is counted
/// in, which costs one atomic addition instead of a reference count on every step.
///
/// `@unchecked Sendable`: the instance and the door are, and whose thread it is that ends the admission does not matter. Whoever
/// asks a door for an admission keeps the door as long.
@usableFromInline
@safe
package struct Admission: ~Copyable, @unchecked Sendable {
    private let door: Unmanaged<Door>
    private let seat: Int
    private let occupant: UnsafePointer<Door.Occupant>

    /// For a caller that the door has just counted in.
    package init(_ door: Unmanaged<Door>, seat: Int, _ occupant: UnsafePointer<Door.Occupant>) {
        unsafe self.door = door
        self.seat = seat
        unsafe self.occupant = occupant
    }

    deinit {
        unsafe occupant.pointee.instance?._withUnsafeGuaranteedRef { $0.turn?.end() }
        unsafe door._withUnsafeGuaranteedRef { $0.leave(seat) }
    }

    /// How calls reach the instance; good as long as somebody keeps it, beyond the admission too.
    package var channel: any Channel { unsafe occupant.pointee.channel }

    /// Lends the instance without counting a reference.
    ///
    /// - Throws: `unsupported` if it is not in this process.
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
