// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A client of a connector, whose path its errors have.
protocol ConnectorClient {
    /// The connector that it calls.
    var target: ClientTarget { get }
}

extension AnalyticsClient: ConnectorClient {}

extension DatabaseClient: ConnectorClient {}

extension ClientTarget {
    /// Checks or encodes what the caller gave; an error has the connector's path, as the errors of calls do.
    func checked<Value>(_ body: () throws(ConnectorError) -> Value) throws(ConnectorError) -> Value {
        do throws(ConnectorError) {
            return try body()
        } catch {
            throw described(error)
        }
    }

    /// Does something that waits; an error has the connector's path, as the errors of calls do.
    func describing<Value>(_ body: () async throws(ConnectorError) -> Value) async throws(ConnectorError) -> Value {
        do throws(ConnectorError) {
            return try await body()
        } catch {
            throw described(error)
        }
    }

    /// Checks or encodes for what has the interface of a client. One without a connector, as in an application's tests, has no path to name.
    static func checked<Client, Value>(
        for client: Client,
        _ body: () throws(ConnectorError) -> Value
    ) throws(ConnectorError) -> Value {
        do throws(ConnectorError) {
            return try body()
        } catch {
            throw (client as? any ConnectorClient)?.target.described(error) ?? error
        }
    }
}
