// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Stores records in the collections of one bucket of a Kinto server (docs.kinto-storage.org).
final class Kinto: DatabasePlugin {
    private let requests: KintoRequests
    private let connection: KintoConnection

    init(configuration: PluginConfiguration, host: Host) throws {
        requests = KintoRequests(
            endpoint: try configuration.url("endpoint"),
            bucket: try configuration.string("bucket"),
            username: try configuration.string("username"),
            password: try configuration.secret("password")
        )
        connection = KintoConnection(host: host)
    }

    /// Reads the root, which names the user only if it accepted the credentials. Also reads the bucket, unless it is
    /// the user's default bucket, which reading would create.
    ///
    /// During a pause, asks for the root all the same, and at once: the answer says whether the pause still holds, so an operator's retry
    /// ends one that the server no longer wants. The bucket can wait.
    func open() async throws -> [Evidence] {
        let root = try await connection.proof(requests.root, for: KintoAnswer.root)
        guard let user = root["user"]?["id"]?.string else {
            throw PluginError(.unauthorized, "the server does not know the user of these credentials", domain: "kinto")
        }
        var detail = "the server answers as \(user)"
        if requests.bucket != "default", connection.pause == nil {
            do throws(PluginError) {
                _ = try await connection.send(requests.bucketMetadata, for: KintoAnswer.object)
            } catch {
                // Kinto hides what a user may not read. A hidden bucket looks like a missing one, and may still contain
                // collections that the user can access.
                guard error.status == .unauthorized else { throw error }
                detail += "; the bucket \(requests.bucket) does not exist, or is not readable for this user"
            }
        }
        if let pause = connection.pause { detail += "; it requested a pause of \(pause.brief)" }
        return [.authenticated(detail)]
    }

    /// Creates the collection if it does not exist, as other vendors do.
    func create(_ record: JSONObject, in collection: String, id: String?) async throws -> DatabaseRecord {
        let request = try requests.create(KintoRecord.checked(record), in: collection, id: id)
        var response = try await connection.response(to: request)
        if KintoAnswer.lacksCollection(response) {
            do throws(PluginError) {
                _ = try await connection.send(try requests.createCollection(collection), for: KintoAnswer.object)
            } catch {
                // Another client has just created the collection.
                guard error.status == .conflict else { throw error }
            }
            response = try await connection.response(to: request)
        }
        do throws(PluginError) {
            return try connection.record(of: response, to: request)
        } catch {
            // Kinto says of an id that is taken that the record was modified meanwhile.
            guard error.detail == 412, let id else { throw error }
            var taken = error
            taken.message = "there is a record \"\(id.prefix(40))\" already"
            throw taken
        }
    }

    func get(_ id: String, in collection: String) async throws -> DatabaseRecord {
        try await connection.record(requests.get(id, in: collection))
    }

    /// A `PUT` creates a missing record, so a replacement without a version looks up the current version first.
    func replace(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        let record = try KintoRecord.checked(record)
        if let version {
            return try await connection.record(requests.replace(id, with: record, in: collection, version: version))
        }
        for _ in 1...3 {
            let current = try await get(id, in: collection).version
            do throws(PluginError) {
                return try await connection.record(requests.replace(id, with: record, in: collection, version: current))
            } catch {
                guard error.status == .conflict else { throw error }
            }
        }
        throw PluginError(
            .conflict,
            "the record changed during each of three attempts",
            isRetryable: true,
            domain: "kinto"
        )
    }

    func update(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        try await connection.record(
            requests.update(id, with: KintoRecord.checked(record), in: collection, version: version)
        )
    }

    func delete(_ id: String, in collection: String, version: String?) async throws {
        _ = try await connection.send(requests.delete(id, in: collection, version: version), for: KintoAnswer.object)
    }

    /// A missing collection yields no records, as with other vendors.
    func query(_ query: DatabaseQuery, in collection: String) async throws -> DatabasePage {
        let request = try requests.query(query, in: collection)
        let response = try await connection.response(to: request)
        if KintoAnswer.lacksCollection(response) { return DatabasePage(records: [], cursor: nil) }
        let body = try connection.body(of: response, to: request, for: KintoAnswer.list)
        let next = response.headers["Next-Page"]
        let cursor = next.flatMap { HTTPURL($0) }?.value(of: "_token")
        // This is not the last page: the token contains the last record's values of the sort fields, and has made the URL too long.
        if let next, cursor == nil {
            throw PluginError(
                .unsupported,
                "the server's next page has an address of \(next.utf8.count) bytes, which cannot be read; sort and filter by shorter values",
                domain: "kinto"
            )
        }
        return DatabasePage(
            records: try body["data"]?.array?.map { try KintoRecord.read($0) } ?? [],
            cursor: cursor
        )
    }
}
