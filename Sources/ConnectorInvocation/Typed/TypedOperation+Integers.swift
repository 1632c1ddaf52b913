// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
public import ConnectorBase

extension OperationLease where Function == OperationFunction.Integers1 {
    /// Calls the function once, without allocation, locks or reference counting.
    ///
    /// - Throws: The plugin's error.
    @inlinable
    @inline(__always)
    public func callAsFunction(_ a: Int64) throws(ConnectorError) -> Int64 {
        var result = 0 as Int64
        try unsafe call { unsafe $0.function($1, a, &result, $2) }
        return result
    }
}

extension TypedOperation where Function == OperationFunction.Integers1 {
    /// Calls the operation once; for many consecutive calls, take a lease.
    ///
    /// - Parameter options: The timeout of the wait for a turn on a `serial` gate. The function itself is not
    ///   interrupted.
    /// - Throws: `not-open`; `timed-out` or `cancelled` during the wait for a turn; the plugin's error.
    public func callAsFunction(
        _ a: Int64,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Int64 {
        try await withLease(options: options) { lease throws(ConnectorError) in try lease(a) }
    }
}

extension OperationLease where Function == OperationFunction.Integers2 {
    /// Calls the function once, without allocation, locks or reference counting.
    ///
    /// - Throws: The plugin's error.
    @inlinable
    @inline(__always)
    public func callAsFunction(_ a: Int64, _ b: Int64) throws(ConnectorError) -> Int64 {
        var result = 0 as Int64
        try unsafe call { unsafe $0.function($1, a, b, &result, $2) }
        return result
    }
}

extension TypedOperation where Function == OperationFunction.Integers2 {
    /// Calls the operation once; for many consecutive calls, take a lease.
    ///
    /// - Parameter options: The timeout of the wait for a turn on a `serial` gate. The function itself is not
    ///   interrupted.
    /// - Throws: `not-open`; `timed-out` or `cancelled` during the wait for a turn; the plugin's error.
    public func callAsFunction(
        _ a: Int64,
        _ b: Int64,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Int64 {
        try await withLease(options: options) { lease throws(ConnectorError) in try lease(a, b) }
    }
}

extension OperationLease where Function == OperationFunction.Integers3 {
    /// Calls the function once, without allocation, locks or reference counting.
    ///
    /// - Throws: The plugin's error.
    @inlinable
    @inline(__always)
    public func callAsFunction(_ a: Int64, _ b: Int64, _ c: Int64) throws(ConnectorError) -> Int64 {
        var result = 0 as Int64
        try unsafe call { unsafe $0.function($1, a, b, c, &result, $2) }
        return result
    }
}

extension TypedOperation where Function == OperationFunction.Integers3 {
    /// Calls the operation once; for many consecutive calls, take a lease.
    ///
    /// - Parameter options: The timeout of the wait for a turn on a `serial` gate. The function itself is not
    ///   interrupted.
    /// - Throws: `not-open`; `timed-out` or `cancelled` during the wait for a turn; the plugin's error.
    public func callAsFunction(
        _ a: Int64,
        _ b: Int64,
        _ c: Int64,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Int64 {
        try await withLease(options: options) { lease throws(ConnectorError) in try lease(a, b, c) }
    }
}
