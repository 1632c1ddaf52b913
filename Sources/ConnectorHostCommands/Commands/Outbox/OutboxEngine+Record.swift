// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import ConnectorOutbox

extension (any OutboxEngine)? {
    /// What is known of one event.
    ///
    /// - Throws: `missing` if that is nothing.
    func found(_ id: String, _ targets: Set<String>?) async throws(ConnectorError) -> [OutboxRecord] {
        let records = try await self?.records(RecordSelection(targets: targets, ids: [id])) ?? []
        guard records.isEmpty else { return records }
        throw ConnectorError(
            .missing,
            "the outbox does not know the event \(id)",
            fix: "it was never stored here, or it was delivered, and 10,000 others after it"
        )
    }
}
