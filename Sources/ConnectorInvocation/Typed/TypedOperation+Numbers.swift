// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
public import ConnectorBase

extension OperationLease where Function == OperationFunction.Numbers1 {
    /// Calls the function once, without allocation, locks or reference counting.
    ///
    /// - Throws: The plugin's error.
    @inlinable
    @inline(__always)
    public func callAsFunction(_ a: Double) throws(ConnectorError) -> Double {
        var result = 0.0
        try unsafe call { unsafe $0.function($1, a, &result, $2) }
        return result
    }
}

extension TypedOperation where Function == OperationFunction.Numbers1 {
    /// Calls the operation once; for many consecutive calls, take a lease.
    ///
    /// - Parameter options: The timeout of the wait for a turn on a `serial` gate. The function itself is not
    ///   interrupted.
    /// - Throws: `not-open`; `timed-out` or `cancelled` during the wait for a turn; the plugin's error.
    public func callAsFunction(
        _ a: Double,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Double {
        try await withLease(options: options) { lease throws(ConnectorError) in try lease(a) }
    }
}

extension OperationLease where Function == OperationFunction.Numbers2 {
    /// Calls the function once, without allocation, locks or reference counting.
    ///
    /// - Throws: The plugin's error.
    @inlinable
    @inline(__always)
    public func callAsFunction(_ a: Double, _ b: Double) throws(ConnectorError) -> Double {
        var result = 0.0
        try unsafe call { unsafe $0.function($1, a, b, &result, $2) }
        return result
    }
}

extension TypedOperation where Function == OperationFunction.Numbers2 {
    /// Calls the operation once; for many consecutive calls, take a lease.
    ///
    /// - Parameter options: The timeout of the wait for a turn on a `serial` gate. The function itself is not
    ///   interrupted.
    /// - Throws: `not-open`; `timed-out` or `cancelled` during the wait for a turn; the plugin's error.
    public func callAsFunction(
        _ a: Double,
        _ b: Double,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Double {
        try await withLease(options: options) { lease throws(ConnectorError) in try lease(a, b) }
    }
}

extension OperationLease where Function == OperationFunction.Numbers3 {
    /// Calls the function once, without allocation, locks or reference counting.
    ///
    /// - Throws: The plugin's error.
    @inlinable
    @inline(__always)
    public func callAsFunction(_ a: Double, _ b: Double, _ c: Double) throws(ConnectorError) -> Double {
        var result = 0.0
        try unsafe call { unsafe $0.function($1, a, b, c, &result, $2) }
        return result
    }
}

extension TypedOperation where Function == OperationFunction.Numbers3 {
    /// Calls the operation once; for many consecutive calls, take a lease.
    ///
    /// - Parameter options: The timeout of the wait for a turn on a `serial` gate. The function itself is not
    ///   interrupted.
    /// - Throws: `not-open`; `timed-out` or `cancelled` during the wait for a turn; the plugin's error.
    public func callAsFunction(
        _ a: Double,
        _ b: Double,
        _ c: Double,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Double {
        try await withLease(options: options) { lease throws(ConnectorError) in try lease(a, b, c) }
    }
}
