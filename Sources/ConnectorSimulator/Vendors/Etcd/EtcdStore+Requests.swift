// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The effects of requests, and their answers.
extension EtcdStore {
    /// The most operations of a transaction, like etcd's `--max-txn-ops`.
    private static let operationLimit = 128
    /// The largest size of a key and its value together, in bytes, like etcd's `--max-request-bytes`.
    private static let valueLimit = 1_572_864

    /// The header of every answer.
    var header: JSONValue {
        [
            "cluster_id": "14841639068965178418", "member_id": "10276657743932975437",
            "revision": .string("\(revision)"), "raft_term": "2",
        ]
    }

    /// Answers `range`.
    func range(_ request: EtcdRequestReader) throws(EtcdFailure) -> JSONObject {
        var found = try pairs(in: request.range(), at: request.number("revision"))
        let count = found.count
        let target = try request.choice("sort_target", ["KEY", "VERSION", "CREATE", "MOD", "VALUE"])
        let order = try request.choice("sort_order", ["NONE", "ASCEND", "DESCEND"])
        switch target {
        case "VERSION": found.sort { $0.version < $1.version }
        case "CREATE": found.sort { $0.created < $1.created }
        case "MOD": found.sort { $0.modified < $1.modified }
        case "VALUE": found.sort { $0.value.lexicographicallyPrecedes($1.value) }
        default: break
        }
        if order == "DESCEND" { found.reverse() }
        for (name, revision) in [("mod", \EtcdKeyValue.modified), ("create", \.created)] {
            let first = try request.number("min_\(name)_revision")
            let last = try request.number("max_\(name)_revision")
            found.removeAll { $0[keyPath: revision] < first || last != 0 && $0[keyPath: revision] > last }
        }
        let limit = try request.number("limit")
        var answer: JSONObject = ["header": header]
        let (countOnly, keysOnly) = (try request.flag("count_only"), try request.flag("keys_only"))
        if !countOnly, !found.isEmpty {
            let shown = limit > 0 ? Array(found.prefix(Int(clamping: limit))) : found
            answer["kvs"] = .array(shown.map { $0.json(hasValue: !keysOnly) })
            if shown.count < found.count { answer["more"] = true }
        }
        if count > 0 { answer["count"] = .string("\(count)") }
        return answer
    }

    /// Answers `put`.
    mutating func put(_ request: EtcdRequestReader) throws(EtcdFailure) -> JSONObject {
        let key = try request.bytes("key")
        guard !key.isEmpty else { throw .noKey }
        let value = try value(of: key, request)
        guard key.count + value.count <= Self.valueLimit else { throw .tooLarge }
        let old = try put(key, value)
        var answer: JSONObject = ["header": header]
        if try request.flag("prev_kv"), let old { answer["prev_kv"] = old.json() }
        return answer
    }

    /// The value to put under a key: that of the request or, if the request says so, the one that is there.
    private func value(of key: [UInt8], _ request: EtcdRequestReader) throws(EtcdFailure) -> [UInt8] {
        let (value, lease) = (try request.bytes("value"), try request.number("lease"))
        let keeps = (value: try request.flag("ignore_value"), lease: try request.flag("ignore_lease"))
        if keeps.value, !value.isEmpty { throw .valueProvided }
        if keeps.lease, lease != 0 { throw .leaseProvided }
        // There are no leases.
        if lease != 0 { throw .noLease }
        guard keeps.value || keeps.lease else { return value }
        guard let old = try pairs(in: EtcdRange(key: key, end: nil)).first else { throw .keyNotFound }
        return keeps.value ? old.value : value
    }

    /// Answers `deleterange`.
    mutating func remove(_ request: EtcdRequestReader) throws(EtcdFailure) -> JSONObject {
        let old = try remove(request.range())
        var answer: JSONObject = ["header": header]
        if !old.isEmpty { answer["deleted"] = .string("\(old.count)") }
        if try request.flag("prev_kv"), !old.isEmpty { answer["prev_kvs"] = .array(old.map { $0.json() }) }
        return answer
    }

    /// Answers `txn`: evaluates the comparisons, then performs one list of operations or the other.
    mutating func transact(_ request: EtcdRequestReader) throws(EtcdFailure) -> JSONObject {
        let comparisons = try request.list("compare")
        let lists = (try request.list("success"), try request.list("failure"))
        guard max(comparisons.count, lists.0.count, lists.1.count) <= Self.operationLimit else {
            throw .tooManyOperations
        }
        try Self.check(lists.0)
        try Self.check(lists.1)
        var succeeds = true
        for comparison in comparisons where succeeds { succeeds = try holds(comparison) }
        var responses: [JSONValue] = []
        for operation in succeeds ? lists.0 : lists.1 { responses.append(try perform(operation)) }
        var answer: JSONObject = ["header": header]
        if succeeds { answer["succeeded"] = true }
        if !responses.isEmpty { answer["responses"] = .array(responses) }
        return answer
    }

    private static let operations = ["request_range", "request_put", "request_delete_range"]

    /// Refuses a list of operations that writes a key twice.
    private static func check(_ list: [EtcdRequestReader]) throws(EtcdFailure) {
        var keys: Set<[UInt8]> = []
        var removed: [EtcdRange] = []
        for operation in list {
            if let put = operation["request_put"] {
                guard keys.insert(try EtcdRequestReader(put).bytes("key")).inserted else { throw .duplicateKey }
            } else if let remove = operation["request_delete_range"] {
                removed.append(try EtcdRequestReader(remove).range())
            }
        }
        guard !keys.contains(where: { key in removed.contains { $0.contains(key) } }) else { throw .duplicateKey }
    }

    private mutating func perform(_ operation: EtcdRequestReader) throws(EtcdFailure) -> JSONValue {
        guard let name = operation.only(of: Self.operations), let body = operation[name] else {
            throw operation["request_txn"] == nil ? .keyNotFound : .unimplemented("nested transactions")
        }
        let request = try EtcdRequestReader(body)
        switch name {
        case "request_range": return ["response_range": .object(try range(request))]
        case "request_put": return ["response_put": .object(try put(request))]
        default: return ["response_delete_range": .object(try remove(request))]
        }
    }

    /// Whether a comparison holds for every key of its range; if none exists, zeros are compared.
    private func holds(_ comparison: EtcdRequestReader) throws(EtcdFailure) -> Bool {
        let range = try comparison.range()
        let target = try comparison.choice("target", ["VERSION", "CREATE", "MOD", "VALUE", "LEASE"])
        let result = try comparison.choice("result", ["EQUAL", "GREATER", "LESS", "NOT_EQUAL"])
        let none = EtcdKeyValue(key: range.key, value: [], created: 0, modified: 0, version: 0)
        var found = try pairs(in: range)
        if found.isEmpty {
            // No comparison of a value holds if there is no key.
            if target == "VALUE" { return false }
            found = [none]
        }
        let value = try comparison.bytes("value")
        let numbers = [
            "VERSION": try comparison.number("version"), "CREATE": try comparison.number("create_revision"),
            "MOD": try comparison.number("mod_revision"), "LEASE": try comparison.number("lease"),
        ]
        return found.allSatisfy { pair in
            let own = ["VERSION": pair.version, "CREATE": pair.created, "MOD": pair.modified, "LEASE": 0]
            let (isLess, isEqual): (Bool, Bool) =
                if let number = numbers[target], let own = own[target] {
                    (own < number, own == number)
                } else {
                    (pair.value.lexicographicallyPrecedes(value), pair.value == value)
                }
            return switch result {
            case "EQUAL": isEqual
            case "NOT_EQUAL": !isEqual
            case "LESS": isLess
            default: !isLess && !isEqual
            }
        }
    }
}
