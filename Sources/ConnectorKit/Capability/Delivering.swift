// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities

extension Plugin {
    /// Reads a batch, delivers its readable elements, and returns the answers in the order of the batch.
    func answers<Model>(
        to batch: JSONValue,
        named name: String,
        read: (JSONValue, String) throws(ConnectorError) -> Model,
        deliver: ([Model]) async throws -> [DeliveryAnswer]
    ) async throws -> JSONValue {
        guard let elements = batch.array else {
            throw PluginError(.invalid, "\(name) must be an array, not \(batch.kind)")
        }
        let checked = CheckedBatch(elements) { element, index throws(ConnectorError) in
            try read(element, "\(name)[\(index)]")
        }
        let models = checked.models
        let delivered = models.isEmpty ? [] : try await deliver(models)
        guard delivered.count == models.count else {
            throw PluginError(.failed, "the adapter gave \(delivered.count) answers for \(models.count) \(name)")
        }
        return .array(checked.answers(delivered).map(\.json))
    }

    /// Delivers one model, and throws for any answer but `accepted`.
    func acceptedAnswer<Model>(
        to batch: [Model],
        deliver: ([Model]) async throws -> [DeliveryAnswer]
    ) async throws -> DeliveryAnswer {
        guard let answer = try await deliver(batch).first else {
            throw PluginError(.failed, "the adapter gave no answer")
        }
        guard answer.outcome != .accepted else { return answer }
        let isRejected = answer.outcome == .rejected
        throw PluginError(
            answer.code.flatMap(PluginStatus.init(code:)) ?? (isRejected ? .invalid : .unavailable),
            answer.reason ?? "the vendor did not accept it",
            isRetryable: !isRejected,
            retryAfter: answer.retryAfter
        )
    }
}
