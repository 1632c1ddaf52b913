// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorHost
internal import ConnectorOutbox

/// The endpoints of the outbox.
extension ControlAPI {
    /// The maximum number of dead letters in one response.
    package static let recordLimit = 10_000
    private static let connector = ControlField("connector", .text, "Only this connector and those below it.")

    /// The endpoints that do the same as `connector-host outbox`.
    static func outbox(of host: ConnectorHost) -> [ControlEndpoint] {
        [
            ControlEndpoint(
                operation: "outbox",
                path: "/api/v1/outbox",
                summary: "The queue of each connector: the document of `connector-host outbox list --json`.",
                query: [connector],
                answers: [answer("The outboxes.", ControlSchemas.outbox)]
            ) { input throws(ConnectorError) in
                let (statistics, targets) = try await selected(input, host)
                return ServerResponse(
                    OutboxDocument.statistics(statistics.filter { targets?.contains($0.key) ?? true })
                )
            },
            ControlEndpoint(
                operation: "event",
                path: "/api/v1/outbox/{id}",
                summary:
                    "An event and its delivery attempts: the document of `connector-host outbox show --json`.",
                segments: [ControlField("id", .text, isRequired: true, "The event's id.")],
                query: [connector],
                answers: [answer("The event.", ControlSchemas.outboxEvent)]
            ) { input throws(ConnectorError) in
                let targets = try await selected(input, host).targets
                let id = input["id"] ?? ""
                let records = try await host.outboxRecords(RecordSelection(paths: targets, ids: [id]))
                guard !records.isEmpty else {
                    var others: [OutboxRecord] = []
                    if targets != nil { others = try await host.outboxRecords(RecordSelection(ids: [id])) }
                    throw OutboxDocument.unknownEvent(id, at: input["connector"], butAt: others)
                }
                return ServerResponse(OutboxDocument.event(records, showsPayload: true))
            },
            ControlEndpoint(
                operation: "dead",
                path: "/api/v1/dead",
                summary: "The dead letters, oldest first: the document of `connector-host outbox dead --json`.",
                query: [
                    connector,
                    ControlField(
                        "limit",
                        .integer(1...Int64(recordLimit)),
                        "The maximum number of letters; 100 by default."
                    ),
                    ControlField(
                        "after",
                        .cursor,
                        "Continue after this cursor: the member next of the previous answer."
                    ),
                ],
                answers: [answer("The dead letters.", ControlSchemas.dead)]
            ) { input throws(ConnectorError) in
                let limit = input.integer("limit") ?? 100
                let selection = RecordSelection(
                    paths: try await selected(input, host).targets,
                    states: [.dead],
                    limit: limit,
                    after: input["after"].flatMap(RecordCursor.init)
                )
                let records = try await host.outboxRecords(selection)
                return ServerResponse(OutboxDocument.dead(records, next: records.next(limit: limit)))
            },
            letters("replay", "Puts dead letters back in the queue.", done: "replayed", host) {
                host,
                selection,
                other throws(ConnectorError) in
                guard let other else { return try await host.replay(selection) }
                return try await host.replay(selection, to: other)
            },
            letters("drop", "Drops dead letters, or waiting events, for good.", done: "dropped", host) {
                host,
                selection,
                _ throws(ConnectorError) in
                return (try await host.drop(selection), nil)
            },
        ]
    }

    /// The endpoint that replays or drops events, either by id or all of them.
    private static func letters(
        _ name: String,
        _ summary: String,
        done: String,
        _ host: ConnectorHost,
        _ act:
            @escaping @Sendable (ConnectorHost, RecordSelection, _ to: String?) async throws(ConnectorError)
            -> (count: Int, left: ConnectorError?)
    ) -> ControlEndpoint {
        var body = [
            ControlField("ids", .texts, "The ids of the events; either ids or all is required."),
            ControlField("all", .yes, "Every event; with connector, every event of that connector."),
            connector,
        ]
        if name == "drop" { body.append(ControlField("queued", .flag, "Whether to drop waiting events as well.")) }
        if name == "replay" {
            body.append(ControlField("to", .text, "The connector that gets them; by default, the one that had each."))
        }
        return ControlEndpoint(
            operation: "\(name)Events",
            method: .post,
            path: "/api/v1/dead/\(name)",
            summary: "\(summary) The document of `connector-host outbox \(name) --json`.",
            body: body,
            choice: ["ids", "all"],
            answers: [answer("The number of events.", ControlSchemas.count(of: done))]
        ) { input throws(ConnectorError) in
            let ids = input.texts("ids")
            let selection = RecordSelection(
                paths: try await selected(input, host).targets,
                ids: ids.map(Set.init),
                states: input.flag("queued") ? [.dead, .queued] : [.dead]
            )
            let (count, left) = try await act(host, selection, input["to"])
            if count == 0, let ids { throw left ?? OutboxDocument.unknown(ids, queued: input.flag("queued")) }
            return ServerResponse(OutboxDocument.count(done, count, errors: left.map { [$0] } ?? []))
        }
    }

    /// The statistics of every outbox, and the connectors that a request selects; nil for all.
    private static func selected(
        _ input: ControlInput,
        _ host: ConnectorHost
    ) async throws(ConnectorError) -> (statistics: [String: QueueStatistics], targets: Set<String>?) {
        let statistics = try await host.outboxStatistics()
        guard let path = input["connector"] else { return (statistics, nil) }
        return (statistics, try OutboxDocument.targets(of: path, among: Set(statistics.keys), host.configuration))
    }
}
