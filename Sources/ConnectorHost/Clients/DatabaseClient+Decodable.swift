// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension DatabaseClient {
    /// Reads a record as a value.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - collection: The record's collection.
    ///   - type: The type to decode the record's members as.
    ///   - options: The timeout of the call.
    /// - Throws: `missing` if the record does not exist; `invalid`, with the path to the member that does not fit the
    ///   type.
    public func get<Value: Decodable>(
        _ id: String,
        in collection: String,
        as type: Value.Type,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Value {
        let record = try await get(id, in: collection, options: options)
        do throws(ConnectorError) {
            return try record.decode(as: type)
        } catch {
            throw target.described(error)
        }
    }
}
