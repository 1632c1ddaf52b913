// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The right to be inside a gate, which does not close before that ends; on a `serial` gate, also the only one to be.
///
/// It retains nothing: an instance stays alive as long as anybody is counted in, which costs one atomic addition instead of a
/// reference count on every step.
///
/// `@unchecked Sendable`: the instance is, and whose thread it is that ends the admission does not matter.
@usableFromInline
@safe
struct Admission: @unchecked Sendable {
    private let reference: Unmanaged<PluginInstance>

    /// For an instance that has just counted the caller in.
    init(_ reference: Unmanaged<PluginInstance>) {
        unsafe self.reference = reference
    }

    /// For an instance that has just counted the caller in.
    init(_ instance: PluginInstance) {
        unsafe reference = .passUnretained(instance)
    }

    /// The instance; not to be used after ``end()``.
    var instance: PluginInstance { unsafe reference.takeUnretainedValue() }

    /// Lends the instance without counting a reference.
    @inline(__always)
    func with<Result, Failure: Error>(_ body: (PluginInstance) throws(Failure) -> Result) throws(Failure) -> Result {
        let result = unsafe reference._withUnsafeGuaranteedRef { instance -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                return .success(try body(instance))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Lets the gate go; called exactly once.
    @usableFromInline
    func end() { unsafe reference._withUnsafeGuaranteedRef { $0.dismiss() } }
}
