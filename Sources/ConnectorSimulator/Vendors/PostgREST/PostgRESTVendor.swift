// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// PostgREST: tables with rows, and their description at the root.
///
/// The database has the tables that rows were inserted into; each has all columns, null unless they were written, and `id` is its
/// key. Any wrong token answers 401; so does a missing one, except for the description and for a table that does not exist. A
/// request for a single row answers 406 and changes nothing if there is no row or more than one. Other tables in a selection,
/// aggregates, functions and text search are refused. Source: the documentation of PostgREST 12.
final class PostgRESTVendor: Vendor {
    static let name = "postgrest"
    static let demoCredentials = ["token": "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiZGVtbyJ9.demo"]
    static let secretKeys = ["token"]

    private let credentials: AcceptedCredentials
    /// The rows by table.
    private let tables = Mutex<[ExactText: [JSONObject]]>([:])

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let token = request.fields["Authorization"]?.split(ascii: " ").last.map(String.init)
        guard token == nil || credentials.accepts("token", token) else {
            return failure(status: 401, code: "PGRST301", message: "JWSError JWSInvalidSignature")
        }
        guard let table = request.components.first else {
            return HTTPResponse(json: ["swagger": "2.0", "info": ["title": "PostgREST API"], "paths": [:]])
        }
        guard request.components.count == 1 else {
            guard table == "rpc", request.components.count == 2 else {
                return failure(status: 404, code: "PGRST125", message: "Invalid path specified in request URL")
            }
            let message = "Could not find the function public.\(request.components[1]) in the schema cache"
            return failure(status: 404, code: "PGRST202", message: message)
        }
        return tables.withLock { tables in
            let name = ExactText(table)
            guard request.method == "POST" || tables[name] != nil else {
                let message = "Could not find the table 'public.\(table)' in the schema cache"
                return failure(status: 404, code: "PGRST205", message: message)
            }
            guard token != nil else {
                return failure(status: 401, code: "42501", message: "permission denied for table \(table)")
            }
            do throws(PostgRESTFailure) {
                var rows = tables[name] ?? []
                let answer = try PostgRESTCall(request, of: table).respond(on: &rows)
                tables[name] = rows
                return answer
            } catch {
                return error.response
            }
        }
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        return PostgRESTFailure(
            status: status,
            code: code ?? (status == 503 ? "PGRST001" : "XX000"),
            message: message ?? HTTPReason.text(of: status)
        ).response
    }
}
