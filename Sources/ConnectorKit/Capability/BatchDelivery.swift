// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorCapabilities

/// Delivers many items in requests within a vendor's limits, and returns an answer for each item.
///
/// If the vendor calls a request invalid or too large, `BatchDelivery` splits it until it finds the faulty item. It rejects that item and
/// delivers the others; if the failure is not the vendor's verdict, because it is retryable or the host's own, it asks the host to retry
/// that item. If the vendor itself says which items it refuses, throw a ``BatchRefusal``. Any other failure ends the delivery;
/// the answers ask the host to retry the items of that request, and say that those of later ones were not sent. So do they if half of
/// the time is over that the call had left when the delivery began, after which no further request starts. A request that is not answered
/// times out a little before the call: of a call that misses its deadline, the host learns nothing, and delivers everything again.
public struct BatchDelivery: Sendable {
    /// The greatest size of one encoded item, in bytes.
    public var itemBytes: Int
    /// The greatest total size of the items of one request, in bytes, counting one separator byte per item.
    public var batchBytes: Int
    /// The most items in one request.
    public var batchCount: Int

    /// Creates a delivery within a vendor's limits.
    public init(itemBytes: Int, batchBytes: Int, batchCount: Int) {
        self.itemBytes = itemBytes
        self.batchBytes = batchBytes
        self.batchCount = max(1, batchCount)
    }

    /// Delivers items.
    ///
    /// - Parameters:
    ///   - items: The items, in the order of the answers.
    ///   - encode: Encodes one item; throws if the vendor can never accept it.
    ///   - send: Sends one request with some items and their encodings; throws a ``PluginError`` or a ``BatchRefusal``
    ///     unless the vendor accepted all of them.
    /// - Returns: An answer for each item, in order.
    /// - Throws: A ``PluginError`` if the call was cancelled, or if no item was delivered, no item caused the failure,
    ///   and a retry will not help.
    @inlinable
    public func deliver<Item>(
        _ items: [Item],
        encode: (Item) throws -> [UInt8],
        send: ([(item: Item, bytes: [UInt8])]) async throws -> Void
    ) async throws -> [DeliveryAnswer] {
        var encoded = [[UInt8]](repeating: [], count: items.count)
        // The loops are not generic over the item: unspecialized, they would take most of an adapter's time.
        return try await deliver(items.count, in: [Array(items.indices)]) { index in
            encoded[index] = try encode(items[index])
            return encoded[index].count
        } send: { batch in
            try await send(batch.map { (items[$0], encoded[$0]) })
        }
    }

    /// Delivers items whose size in a request is known before they are encoded, so that they are encoded straight into its body.
    ///
    /// - Parameters:
    ///   - items: The items, in the order of the answers.
    ///   - size: Returns the size of an item in a request, in bytes; throws if the vendor can never accept it.
    ///   - send: Sends one request with some items; throws a ``PluginError`` or a ``BatchRefusal`` unless the vendor
    ///     accepted all of them.
    /// - Returns: An answer for each item, in order.
    /// - Throws: As ``deliver(_:encode:send:)`` does.
    @inlinable
    public func deliver<Item>(
        sized items: [Item],
        by size: (Item) throws -> Int,
        send: ([Item]) async throws -> Void
    ) async throws -> [DeliveryAnswer] {
        try await deliver(items.count, in: [Array(items.indices)]) { index in
            try size(items[index])
        } send: { batch in
            try await send(batch.map { items[$0] })
        }
    }

    /// Delivers items in requests that each hold items of one group only, such as one person's.
    ///
    /// - Parameters:
    ///   - items: The items, in the order of the answers.
    ///   - group: The group of an item.
    ///   - encode: As for ``deliver(_:encode:send:)``.
    ///   - send: As for ``deliver(_:encode:send:)``.
    @inlinable
    public func deliver<Item, Group: Hashable>(
        _ items: [Item],
        groupedBy group: (Item) -> Group,
        encode: (Item) throws -> [UInt8],
        send: ([(item: Item, bytes: [UInt8])]) async throws -> Void
    ) async throws -> [DeliveryAnswer] {
        var groups: [[Int]] = []
        var places: [Group: Int] = [:]
        for index in items.indices {
            let place = places[group(items[index]), default: groups.count]
            if place == groups.count { groups.append([]) }
            groups[place].append(index)
            places[group(items[index])] = place
        }
        var encoded = [[UInt8]](repeating: [], count: items.count)
        return try await deliver(items.count, in: groups) { index in
            encoded[index] = try encode(items[index])
            return encoded[index].count
        } send: { batch in
            try await send(batch.map { (items[$0], encoded[$0]) })
        }
    }

    /// Delivers items by index; every index is in exactly one group.
    @usableFromInline
    func deliver(
        _ count: Int,
        in groups: [[Int]],
        size: (Int) throws -> Int,
        send: (_ batch: [Int]) async throws -> Void
    ) async throws -> [DeliveryAnswer] {
        var progress = Progress(count: count)
        var sizes = [Int](repeating: 0, count: count)
        for index in 0..<count {
            do {
                sizes[index] = try size(index)
                if sizes[index] > itemBytes {
                    throw PluginError(.tooLarge, "\(sizes[index]) bytes; the vendor takes \(itemBytes)")
                }
            } catch {
                let failure = PluginError(error)
                progress.answers[index] = .rejected(failure)
            }
        }
        var batches = Array(
            groups.flatMap { group in self.batches(of: group.filter { progress.answers[$0] == nil }, sizes) }
                .reversed()
        )
        Deadline.beginRequests()
        while let batch = batches.popLast() {
            guard !Deadline.isHalfOver, Deadline.remaining != .zero else {
                return progress.answered(else: .unsent("not sent: earlier requests took too much of the call's time"))
            }
            do {
                try await send(batch)
                progress.accept(batch)
            } catch let refusal as BatchRefusal {
                let others = progress.refuse(batch, refusal.failures)
                guard !others.isEmpty else { continue }
                if refusal.tookOthers { progress.accept(others) } else { batches.append(others) }
            } catch {
                let failure = PluginError(error)
                switch failure.status {
                case .cancelled: throw failure
                case .invalid, .tooLarge:
                    guard batch.count > 1 else {
                        progress.answers[batch[0]] = failure.isVerdict ? .rejected(failure) : .retry(failure)
                        continue
                    }
                    batches.append(Array(batch[(batch.count / 2)...]))
                    batches.append(Array(batch[..<(batch.count / 2)]))
                default:
                    guard failure.isRetryable || progress.hasAccepted else { throw failure }
                    for index in batch { progress.answers[index] = .retry(failure) }
                    return progress.answered(else: .unsent("not sent: an earlier request failed"))
                }
            }
        }
        return progress.answered(else: .retry(PluginError(.failed, "not delivered")))
    }

    /// Divides items into batches within the limits.
    private func batches(of indices: [Int], _ sizes: [Int]) -> [[Int]] {
        var batches: [[Int]] = []
        var bytes = 0
        for index in indices {
            let size = sizes[index] + 1
            if let last = batches.indices.last, batches[last].count < batchCount, bytes + size <= batchBytes {
                batches[last].append(index)
                bytes += size
            } else {
                batches.append([index])
                bytes = size
            }
        }
        return batches
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

        /// Answers the blamed items of a batch with their failures, by place, and returns the indexes of the others.
        mutating func refuse(_ batch: [Int], _ failures: [Int: PluginError]) -> [Int] {
            for (place, failure) in failures where batch.indices.contains(place) {
                answers[batch[place]] = failure.isVerdict ? .rejected(failure) : .retry(failure)
            }
            return batch.indices.filter { failures[$0] == nil }.map { batch[$0] }
        }

        /// All answers, with one for the items that have none.
        func answered(else rest: DeliveryAnswer) -> [DeliveryAnswer] { answers.map { $0 ?? rest } }
    }
}

extension DeliveryAnswer {
    /// The answer to an item that was sent, in vain: a vendor's `Retry-After: 0` does not make it ``unsent(_:)``.
    static func retry(_ failure: PluginError) -> DeliveryAnswer {
        let wait = failure.retryAfter == .zero ? nil : failure.retryAfter
        return .retry(failure.message, after: wait, code: failure.status.code)
    }

    /// The answer to an item that the vendor can never accept.
    fileprivate static func rejected(_ failure: PluginError) -> DeliveryAnswer {
        .rejected(failure.message, code: failure.status.code)
    }
}

extension PluginError {
    /// Whether the failure of a single item is what the vendor, or the adapter in its place, says of it for good. One that may pass is not,
    /// such as a gateway's limit, nor is the host's refusal of a request.
    fileprivate var isVerdict: Bool { !isRetryable && domain != Self.hostDomain }
}

extension [UInt8] {
    /// Appends encoded items with a separator between them; many times faster than the standard library's `joined`.
    package mutating func append(_ items: [[UInt8]], separator: UInt8) {
        reserveCapacity(count + items.reduce(0) { $0 + $1.count + 1 } + 16)
        for (index, item) in items.enumerated() {
            if index > 0 { append(separator) }
            self += item
        }
    }
}
