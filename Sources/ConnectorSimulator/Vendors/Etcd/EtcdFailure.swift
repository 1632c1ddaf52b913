// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// An error of etcd: its gRPC code, which the gateway maps to an HTTP status, and its message.
struct EtcdFailure: Error {
    var code: Int64
    var words: String

    /// The error for a request that is malformed or asks for something impossible.
    static func invalid(_ words: String) -> EtcdFailure { EtcdFailure(code: 3, words: words) }

    static let noKey = invalid("etcdserver: key is not provided")
    /// A put gives a value, and wants to keep the one that is there.
    static let valueProvided = invalid("etcdserver: value is provided")
    /// A put gives a lease, and wants to keep the one that is there.
    static let leaseProvided = invalid("etcdserver: lease is provided")
    /// There is no key whose value or lease a put could keep; or a member is missing that says what an operation does.
    static let keyNotFound = invalid("etcdserver: key not found")
    /// There is no such lease.
    static let noLease = EtcdFailure(code: 5, words: "etcdserver: requested lease not found")
    static let duplicateKey = invalid("etcdserver: duplicate key given in txn request")
    static let tooManyOperations = invalid("etcdserver: too many operations in txn request")
    static let badCredentials = invalid("etcdserver: authentication failed, invalid user ID or password")
    static let noUser = invalid("etcdserver: user name is empty")
    static let badToken = EtcdFailure(code: 16, words: "etcdserver: invalid auth token")
    static let oldToken = invalid("etcdserver: revision of auth store is old")
    static let authenticationIsOff = EtcdFailure(code: 9, words: "etcdserver: authentication is not enabled")
    static let compacted = EtcdFailure(code: 11, words: "etcdserver: mvcc: required revision has been compacted")
    static let future = EtcdFailure(code: 11, words: "etcdserver: mvcc: required revision is a future revision")
    static let tooLarge = invalid("etcdserver: request is too large")
    static let noSpace = EtcdFailure(code: 8, words: "etcdserver: mvcc: database space exceeded")

    /// The error for a feature of the real server that this simulator lacks.
    static func unimplemented(_ name: String) -> EtcdFailure {
        EtcdFailure(code: 12, words: "the simulator does not implement \(name)")
    }

    /// The HTTP status of the code (grpc-gateway, `runtime.HTTPStatusFromCode`).
    var status: Int {
        switch code {
        case 5: 404
        case 7: 403
        case 8: 429
        case 12: 501
        case 14: 503
        case 16: 401
        case 3, 9, 11: 400
        default: 500
        }
    }

    /// The body of the answer.
    var json: JSONValue { ["error": .string(words), "code": .integer(code), "message": .string(words)] }
}
