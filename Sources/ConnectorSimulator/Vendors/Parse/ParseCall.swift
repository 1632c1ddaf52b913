// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One call of Parse's REST API, alone or in a batch.
struct ParseCall {
    /// The HTTP method, which may have come in the body.
    var method: String
    /// The components below the mount path.
    var path: [String]
    /// The mount path.
    var mount: String
    /// The fields of the body.
    var body: JSONObject
    /// The items of the query.
    var query = QueryItems()
    /// The most objects that a query returns.
    var maxLimit = Int.max

    /// The most calls in a batch.
    private static let batchLimit = 50

    /// Runs the call and returns status and document.
    func run(on store: inout ParseStore, now: Timestamp) throws(ParseFailure) -> (status: Int, document: JSONValue) {
        switch path.first {
        case "classes" where path.count == 2 || path.count == 3:
            guard ParseType.isClassName(path[1]) else {
                let rule =
                    "classnames can only have alphanumeric characters and _, and must start with an alpha character "
                throw ParseFailure(code: 103, message: "Invalid classname: \(path[1]), \(rule)")
            }
            return path.count == 2
                ? try runOnClass(path[1], on: &store, now: now)
                : try runOnObject(path[2], of: path[1], on: &store, now: now)
        case "events" where path.count == 2 && method == "POST": return (200, [:])
        case "batch" where path.count == 1 && method == "POST": return try runBatch(on: &store, now: now)
        default: throw ParseFailure(code: 101, message: "Cannot \(method) /\(path.joined(separator: "/"))")
        }
    }

    /// Adds an object to a class, or queries the class.
    private func runOnClass(
        _ name: String,
        on store: inout ParseStore,
        now: Timestamp
    ) throws(ParseFailure) -> (status: Int, document: JSONValue) {
        switch method {
        case "POST":
            let id = try store.create(body, of: name, now: now)
            return (201, ["objectId": .string(id), "createdAt": .string(now.description)])
        case "GET": return (200, try ParseQuery(parameters(), maxLimit: maxLimit).run(on: name, in: store))
        default: throw ParseFailure(code: 101, message: "Cannot \(method) /\(path.joined(separator: "/"))")
        }
    }

    /// Reads, changes or deletes an object.
    private func runOnObject(
        _ id: String,
        of name: String,
        on store: inout ParseStore,
        now: Timestamp
    ) throws(ParseFailure) -> (status: Int, document: JSONValue) {
        switch method {
        case "GET":
            guard let object = store.object(id, of: name) else { throw .objectNotFound }
            return (200, .object(ParseProjection(try parameters()).apply(to: object, in: store)))
        case "PUT":
            var document: JSONObject = ["updatedAt": .string(now.description)]
            for member in try store.update(id, with: body, of: name, now: now).members {
                document[member.name] = member.value
            }
            return (200, .object(document))
        case "DELETE":
            try store.delete(id, of: name)
            return (200, [:])
        default: throw ParseFailure(code: 101, message: "Cannot \(method) /\(path.joined(separator: "/"))")
        }
    }

    /// Runs several calls, each of which succeeds or fails independently.
    private func runBatch(
        on store: inout ParseStore,
        now: Timestamp
    ) throws(ParseFailure) -> (status: Int, document: JSONValue) {
        guard let requests = body["requests"]?.array else { throw .json("requests must be an array") }
        guard requests.count <= Self.batchLimit else { throw .json("too many requests in a batch") }
        var answers: [JSONValue] = []
        for request in requests {
            guard let target = request["path"]?.string else { throw .json("requests must have a path") }
            let components = SimulatedRequest("GET", target).components
            let root = components.firstIndex(of: "classes") ?? components.endIndex
            let call = ParseCall(
                method: request["method"]?.string?.uppercased() ?? "GET",
                path: Array(components[root...]),
                mount: mount,
                body: request["body"]?.object ?? JSONObject(),
                maxLimit: maxLimit
            )
            do {
                answers.append(["success": try call.run(on: &store, now: now).document])
            } catch {
                answers.append(["error": error.document])
            }
        }
        return (200, .array(answers))
    }

    /// The parameters of a query: those of the URL, parsed as JSON if they are valid JSON, and those of the body.
    private func parameters() throws(ParseFailure) -> JSONObject {
        var values = body
        for item in query.items {
            values[item.name] = (try? JSONValue(parsing: item.value)) ?? .string(item.value)
        }
        return values
    }
}
