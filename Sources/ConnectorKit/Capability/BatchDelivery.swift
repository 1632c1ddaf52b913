// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// Delivers many things in requests that keep a vendor's limits, and answers for each thing.
///
/// A request that the vendor calls invalid or too large is divided until the thing to blame is alone: that one is rejected,
/// the others are delivered. A failure that may pass stops the delivery: what is left is to be tried again.
public struct BatchDelivery: Sendable {
    /// The most bytes that one encoded thing may have.
    public var itemBytes: Int
    /// The most bytes that the things of one request may have, each with one byte of separator.
    public var batchBytes: Int
    /// The most things in one request.
    public var batchCount: Int

    /// Takes a vendor's limits.
    public init(itemBytes: Int, batchBytes: Int, batchCount: Int) {
        self.itemBytes = itemBytes
        self.batchBytes = batchBytes
        self.batchCount = max(1, batchCount)
    }

    /// Delivers things.
    ///
    /// - Parameters:
    ///   - items: The things, in the order of the answers.
    ///   - encode: What is sent of one thing; throws if the vendor cannot take it at all.
    ///   - send: Sends one request with some things and their encodings; throws a ``PluginError`` unless the vendor took all.
    /// - Returns: An answer for each thing, in order.
    /// - Throws: A ``PluginError`` if nothing was delivered for a reason that is neither the things' nor likely to pass.
    public func deliver<Item>(
        _ items: [Item],
        encode: (Item) throws -> [UInt8],
        send: ([(item: Item, bytes: [UInt8])]) async throws -> Void
    ) async throws -> [DeliveryAnswer] {
        var progress = Progress(count: items.count)
        var encoded = [[UInt8]](repeating: [], count: items.count)
        for (index, item) in items.enumerated() {
            do {
                encoded[index] = try encode(item)
                if encoded[index].count > itemBytes {
                    throw PluginError(.tooLarge, "\(encoded[index].count) bytes; the vendor takes \(itemBytes)")
                }
            } catch {
                let failure = PluginError(error)
                progress.answers[index] = .rejected(failure.message, code: failure.status.code)
            }
        }
        var batches = batches(of: encoded.indices.filter { progress.answers[$0] == nil }, encoded)
        while let batch = batches.popLast() {
            do {
                try await send(batch.map { (items[$0], encoded[$0]) })
                progress.accept(batch)
            } catch {
                let failure = PluginError(error)
                switch failure.status {
                case .cancelled: throw failure
                case .invalid, .tooLarge:
                    guard batch.count > 1 else {
                        progress.answers[batch[0]] = .rejected(failure.message, code: failure.status.code)
                        continue
                    }
                    batches.append(Array(batch[(batch.count / 2)...]))
                    batches.append(Array(batch[..<(batch.count / 2)]))
                default:
                    guard failure.isRetryable || progress.hasAccepted else { throw failure }
                    return progress.retrying(failure)
                }
            }
        }
        return progress.retrying(PluginError(.failed, "not delivered"))
    }

    /// The things in runs that keep the limits, the last run first.
    private func batches(of indices: [Int], _ encoded: [[UInt8]]) -> [[Int]] {
        var batches: [[Int]] = []
        var bytes = 0
        for index in indices {
            let size = encoded[index].count + 1
            if let last = batches.indices.last, batches[last].count < batchCount, bytes + size <= batchBytes {
                batches[last].append(index)
                bytes += size
            } else {
                batches.append([index])
                bytes = size
            }
        }
        return batches.reversed()
    }

    /// The answers so far.
    private struct Progress {
        var answers: [DeliveryAnswer?]
        var hasAccepted = false

        init(count: Int) {
            answers = Array(repeating: nil, count: count)
        }

        mutating func accept(_ batch: [Int]) {
            hasAccepted = true
            for index in batch { answers[index] = .accepted }
        }

        /// All answers, where those that are missing are to be tried again.
        func retrying(_ failure: PluginError) -> [DeliveryAnswer] {
            answers.map { answer in
                answer ?? .retry(failure.message, after: failure.retryAfter, code: failure.status.code)
            }
        }
    }
}
