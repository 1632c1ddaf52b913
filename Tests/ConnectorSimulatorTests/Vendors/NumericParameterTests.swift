// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorManifest
import Testing

@testable import ConnectorSimulator

/// Every vendor survives every number: the vendors of a simulator share one process.
@Suite struct NumericParameterTests {
    /// A request in which `#` stands for a number.
    struct Template: Sendable, CustomTestStringConvertible {
        let vendor: String
        private let method: String
        private let target: String
        private let body: String
        private let headers: HTTPFields

        init(_ vendor: String, _ method: String, _ target: String, _ body: String = "", _ headers: HTTPFields = [:]) {
            (self.vendor, self.method, self.target, self.body, self.headers) = (vendor, method, target, body, headers)
        }

        var testDescription: String { "\(vendor) \(method) \(target) \(body)" }

        /// The request with a number.
        func request(_ number: String) -> SimulatedRequest {
            var fields = HTTPFields()
            for field in headers { fields.append(field.name, field.value.replacing("#", with: number)) }
            return SimulatedRequest(
                method,
                target.replacing("#", with: number),
                headers: fields,
                body: Array(body.replacing("#", with: number).utf8),
                receivedAt: noon
            )
        }
    }

    /// Requests without a body, one for each target.
    private static func get(_ vendor: String, _ targets: [String], _ headers: HTTPFields = [:]) -> [Template] {
        targets.map { Template(vendor, "GET", $0, "", headers) }
    }

    private static let json = "application/json"
    private static let authorization = "Basic ZGVtbzpkZW1vLXBhc3N3b3Jk"
    private static let basic: HTTPFields = ["Authorization": authorization, "Content-Type": json]
    private static let parse: HTTPFields = [
        "X-Parse-Application-Id": "demo-app", "X-Parse-REST-API-Key": "demo-rest-key",
    ]
    private static let bearer: HTTPFields = [
        "Authorization": "Bearer \(PostgRESTVendor.demoCredentials["token"] ?? "")"
    ]
    private static let signed: HTTPFields = ["Authorization": "Bearer dstok_demo"]
    private static let records = "/v1/buckets/demo/collections/things/records"
    private static let key = "0123456789abcdef0123456789abcdef"

    /// What vendors are sent first, so that the numbers find something.
    private static let first: [Template] = [
        Template("postgrest", "POST", "/things", #"[{"n":1},{"n":2}]"#, bearer),
        Template("datasette", "POST", "/demo/things/-/insert", #"{"rows":[{"n":1},{"n":2}]}"#, signed),
        Template("influxdb", "POST", "/write?db=demo", "m v=1 1\nm v=2 2"),
        Template("parse", "POST", "/parse/classes/Game", #"{"n":1}"#, parse),
        Template("kinto", "PUT", "/v1/buckets/demo/collections/things", #"{"data":{}}"#, basic),
        Template("kinto", "POST", records, #"{"data":{"n":1}}"#, basic),
        Template("webdav", "PUT", "/files/a", "content", basic),
        Template("etcd", "POST", "/v3/kv/put", #"{"key":"YQ==","value":"YQ=="}"#),
    ]

    private static let databases: [Template] =
        get("postgrest", ["limit=#", "offset=#", "n=eq.#", "n=lt.#"].map { "/things?\($0)" }, bearer)
        + get("datasette", ["_size=#", "_next=#", "n__lt=#"].map { "/demo/things.json?\($0)" })
        + get("parse", ["limit=#", "skip=#", "count=#"].map { "/parse/classes/Game?\($0)" }, parse)
        + get(
            "kinto",
            ["_limit=#", "_since=#", "_to=#", "_before=#", "last_modified=#", "min_n=#"].map { "\(records)?\($0)" },
            basic
        )
        + [
            Template("kinto", "GET", records, "", ["Authorization": authorization, "If-None-Match": "\"#\""]),
            Template("kinto", "POST", records, ##"{"data":{"last_modified":#}}"##, basic),
            Template(
                "kinto",
                "POST",
                records,
                ##"{"data":{}}"##,
                ["Authorization": authorization, "Content-Type": json, "If-Match": "\"#\""]
            ),
            Template("clickhouse", "POST", "/?query=SELECT%201%20FROM%20events%20LIMIT%20#&password=demo-password"),
        ]

    private static let series: [Template] =
        get(
            "influxdb",
            ["LIMIT%20#", "LIMIT%201%20OFFSET%20#", "WHERE%20time%3E#", "WHERE%20time%3Cnow()-#h", "WHERE%20time%3D-#"]
                .map { "/query?db=demo&epoch=ms&q=SELECT%20v%20FROM%20m%20\($0)" }
        ) + get("influxdb", ["/query?db=demo&epoch=#&q=SELECT%20v%20FROM%20m"])
        + [
            Template("influxdb", "POST", "/write?db=demo&precision=h", "m v=1 #"),
            Template("influxdb", "POST", "/write?db=demo", "m v=#i #\nm v=#"),
            Template("pushgateway", "POST", "/metrics/job/a", "a #\n", basic),
            Template(
                "victoriametrics",
                "POST",
                "/api/v1/import",
                ##"{"metric":{"__name__":"a"},"values":[#],"timestamps":[#]}"##,
                basic
            ),
        ]

    private static let places: [Template] =
        get(
            "nominatim",
            ["limit=#", "exclude_place_ids=#", "viewbox=#,#,#,#&bounded=1"].map { "/search?q=berlin&\($0)" }
        )
        + get("nominatim", ["/reverse?lat=#&lon=#", "/reverse?lat=52&lon=13&zoom=#", "/lookup?osm_ids=N#"])
        + get("photon", ["/api?q=berlin&limit=#", "/api?q=berlin&bbox=#,#,#,#", "/reverse?lat=#&lon=#"])
        + get("photon", ["/reverse?lat=52&lon=13&radius=#", "/reverse?lat=52&lon=13&limit=#"])
        + get(
            "opencage",
            ["limit=#&q=berlin", "q=#,#"].map {
                "/geocode/v1/json?key=\(OpenCageVendor.demoCredentials["key"] ?? "")&\($0)"
            }
        ) + get("google", ["/maps/api/geocode/json?key=AIza-demo-key&latlng=#,#"])

    private static let events: [Template] =
        get("matomo", ["/matomo.php?idsite=1&rec=1&cdt=#"])
        + [
            Template("matomo", "POST", "/matomo.php", ##"{"requests":["?idsite=1&rec=1&cdt=#"]}"##),
            Template(
                "sentry",
                "POST",
                "/api/1/envelope/",
                "{}\n{\"type\":\"event\",\"length\":#}\n{}\n",
                ["X-Sentry-Auth": "Sentry sentry_key=\(key), sentry_version=7"]
            ),
            Template(
                "amplitude",
                "POST",
                "/2/httpapi",
                "{\"api_key\":\"\(key)\",\"events\":[{\"user_id\":\"u\",\"event_type\":\"a\",\"time\":#}],"
                    + "\"options\":{\"min_id_length\":#}}"
            ),
        ]

    private static let stores: [Template] =
        ["limit", "revision", "sort_target"].flatMap { name in
            ["#", "\"#\""].map { number in
                let body = "{\"key\":\"YQ==\",\"range_end\":\"AA==\",\"\(name)\":\(number)}"
                return Template("etcd", "POST", "/v3/kv/range", body)
            }
        } + [
            Template("etcd", "POST", "/v3/kv/compaction", ##"{"revision":"#"}"##),
            Template("etcd", "POST", "/v3/watch", ##"{"create_request":{"key":"YQ==","start_revision":"#"}}"##),
            Template(
                "etcd",
                "POST",
                "/v3/kv/txn",
                ##"{"compare":[{"key":"YQ==","target":"MOD","mod_revision":"#","result":"LESS"}]}"##
            ),
            Template("webdav", "GET", "/files/a", "", ["Authorization": authorization, "Range": "bytes=#-#"]),
            Template("webdav", "GET", "/files/a", "", ["Authorization": authorization, "Range": "bytes=0-#"]),
            Template("webdav", "PROPFIND", "/files", "", ["Authorization": authorization, "Depth": "#"]),
        ]

    private static let numbers = ["-1", "\(Int.min)", "\(Int.max)", "0", ""]

    @Test(arguments: databases + series + places + events + stores, numbers)
    private func `a request with any number is answered`(_ template: Template, _ number: String) throws {
        let type = try #require(VendorCatalogue.type(named: template.vendor))
        // An etcd that knows users wants a token, which it gives on request.
        let vendor = type.init(
            credentials: AcceptedCredentials(template.vendor == "etcd" ? [] : [type.demoCredentials])
        )
        for request in Self.first where request.vendor == template.vendor {
            #expect(vendor.respond(to: request.request("")).status < 300)
        }
        #expect((200...499).contains(vendor.respond(to: template.request(number)).status))
    }

    @Test(arguments: [("GET", "", "list-type=2&max-keys=#"), ("PUT", "k", "uploadId=u&partNumber=#")], numbers)
    private func `S3 answers any number`(_ call: (method: String, key: String, query: String), _ number: String) {
        var bucket = S3Bucket()
        bucket.uploads["u"] = S3Bucket.Upload(key: ExactText(call.key), fields: [:])
        let request = SimulatedRequest(call.method, "/b?\(call.query.replacing("#", with: number))")
        var method = S3Method(request, bucket: "b", key: call.key, in: ["b": bucket])
        var status: Int
        do throws(S3Failure) { status = try method.respond().status } catch { status = error.status }
        #expect(status == 200 || status == 400)
    }
}
