// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Stores records in the classes of a Parse Server (docs.parseplatform.org/rest/guide).
struct Parse: DatabasePlugin {
    private let host: Host
    private let requests: ParseRequests
    /// The launch information of the application; nil if the server does not count launches.
    private let launch: JSONValue?
    private let launches: ParseLaunches

    init(configuration: PluginConfiguration, host: Host) throws {
        try self.init(configuration: configuration, host: host, launches: .ofThisProcess)
    }

    /// - Parameter launches: Records which launches were reported.
    init(configuration: PluginConfiguration, host: Host, launches: ParseLaunches) throws {
        self.host = host
        self.launches = launches
        requests = ParseRequests(
            endpoint: try configuration.url("endpoint"),
            applicationId: try configuration.string("applicationId"),
            clientKey: configuration.optionalSecret("clientKey"),
            restAPIKey: configuration.optionalSecret("restApiKey")
        )
        launch = configuration["launch"]
        if let launch, launch.object == nil {
            throw PluginError(
                .invalid,
                "launch must be an object, such as {} or {\"pushHash\": \"…\"}",
                domain: "parse"
            )
        }
    }

    /// Reads the application's configuration, which needs the application's credentials and changes nothing.
    func open() async throws -> [Evidence] {
        _ = try await exchange(requests.configuration, for: ParseAnswer.configuration)
        return [.authenticated("the server accepted the application's id and key")]
    }

    func create(_ record: JSONObject, in collection: String, id: String?) async throws -> DatabaseRecord {
        let record = try ParseRecord.checked(record)
        let answer: JSONValue
        do throws(PluginError) {
            let request = requests.create(record, in: collection, id: id, requestId: RandomIdentifier.uuid())
            answer = try await send(request, for: ParseAnswer.created)
        } catch {
            // The option allowCustomObjectId of the server is off. Other names have the same code.
            let words = "objectId is an invalid field name"
            guard id != nil, error.detail == 105, error.message.contains(words) else { throw error }
            let message = "the server assigns the ids of new objects: \(error.message)"
            throw PluginError(.unsupported, message, domain: "parse", detail: error.detail)
        }
        let newId = answer["objectId"]?.string ?? ""
        return ParseRecord.stored(record, id: newId, version: answer["createdAt"]?.string, answer: answer)
    }

    func get(_ id: String, in collection: String) async throws -> DatabaseRecord {
        try ParseRecord.read(try await send(requests.get(id, in: collection), for: ParseAnswer.object))
    }

    /// Parse always merges, so `replace` explicitly deletes the members that the new record lacks.
    func replace(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        try refuse(version)
        let record = try ParseRecord.checked(record)
        let present = try await get(id, in: collection)
        var changes = record
        for name in present.data.names where record[name] == nil { changes[name] = ["__op": "Delete"] }
        let answer = try await send(requests.update(id, with: changes, in: collection), for: ParseAnswer.updated)
        return ParseRecord.stored(record, id: id, version: answer["updatedAt"]?.string, answer: answer)
    }

    func update(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        try refuse(version)
        let request = try requests.update(id, with: ParseRecord.checked(record), in: collection)
        _ = try await send(request, for: ParseAnswer.updated)
        do throws(PluginError) {
            return try ParseRecord.read(await send(requests.get(id, in: collection), for: ParseAnswer.object))
        } catch {
            guard error.status != .notFound, error.status != .cancelled else { throw error }
            // Not to be retried, lest another server be asked to change the record instead.
            let message = "the record was changed, but cannot be read: \(error.message)"
            throw PluginError(.failed, message, domain: "parse", detail: error.detail)
        }
    }

    func delete(_ id: String, in collection: String, version: String?) async throws {
        try refuse(version)
        _ = try await send(requests.delete(id, in: collection), for: ParseAnswer.done)
    }

    func query(_ query: DatabaseQuery, in collection: String) async throws -> DatabasePage {
        let skip = try ParseQuery.skip(query.cursor)
        let answer = try await send(requests.query(query, skip: skip, in: collection), for: ParseAnswer.results)
        let records = try (answer["results"]?.array ?? []).prefix(query.limit).map { try ParseRecord.read($0) }
        // A server may return fewer records than it was asked for, so only the total count says whether more follow.
        let end = skip + records.count
        let hasMore = !records.isEmpty && end < answer["count"]?.integer ?? .max
        return DatabasePage(records: records, cursor: hasMore ? "\(end)" : nil)
    }

    private func refuse(_ version: String?) throws(PluginError) {
        guard version != nil else { return }
        throw PluginError(.unsupported, "Parse has no versions to check", domain: "parse")
    }

    /// Sends a request of an operation. The first one in the process also reports the launch.
    private func send(_ request: HTTPRequest, for answer: VendorAnswer) async throws(PluginError) -> JSONValue {
        await reportLaunch()
        return try await exchange(request, for: answer)
    }

    /// Reports once that the application was opened. Commands and proofs only open the gate, so `open` does not.
    ///
    /// A failure is logged and does not affect operations. The report is repeated only if the server was unavailable.
    private func reportLaunch() async {
        let application = "\(requests.applicationId) \(requests.endpoint)"
        guard let launch, launches.claim(application) else { return }
        var request = requests.appOpened(at: host.clock.now, pushHash: launch["pushHash"]?.string)
        request.timeout = .seconds(5)
        do throws(PluginError) {
            _ = try await exchange(request, for: ParseAnswer.noted)
        } catch {
            if error.status == .unavailable { launches.release(application) }
            host.log.log(.warning, "cannot report the launch", ["error": .string(error.message)])
        }
    }

    private func exchange(_ request: HTTPRequest, for answer: VendorAnswer) async throws(PluginError) -> JSONValue {
        try answer.body(of: await host.http.send(request)) { ParseFailure.failure($0, now: host.clock.now) }
    }
}
