// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct ClickHouseVendorTests {
    private let server = ClickHouseVendor.demo()

    private func ask(_ query: String, _ rows: String = "", token: String = "", key: String = "demo-password")
        -> HTTPResponse
    {
        let target =
            "/?query=\(PercentCoding.encode(query))" + (token.isEmpty ? "" : "&insert_deduplication_token=\(token)")
        return server.respond(
            to: SimulatedRequest("POST", target, headers: ["X-ClickHouse-Key": key], body: Array(rows.utf8))
        )
    }

    @Test func `rows are kept once for each token`() {
        for token in ["a", "a", "b"] {
            #expect(ask("INSERT INTO events FORMAT JSONEachRow", "{\"x\":1}\n{\"x\":2}", token: token).status == 200)
        }
        #expect(ask("SELECT * FROM `default`.`events`").text == String(repeating: "{\"x\":1}\n{\"x\":2}\n", count: 2))
        #expect(ask("SELECT 1 FROM events LIMIT 0").body.isEmpty)
        #expect(ask("SELECT 1").text == "1\n")
    }

    @Test func `rows may follow the statement, in the body or in the query`() {
        let statement = "INSERT INTO events\n FORMAT JSONEachRow"
        let headers: HTTPFields = ["X-ClickHouse-Key": "demo-password"]
        let body = Array("\(statement)\n{\"x\": 1}\n{\"x\": 2}\n".utf8)
        #expect(server.respond(to: SimulatedRequest("POST", "/", headers: headers, body: body)).status == 200)
        #expect(ask("\(statement) {\"x\": 3}", "{\"x\":4}").status == 200)
        #expect(ask("SELECT * FROM events").text == "{\"x\":1}\n{\"x\":2}\n{\"x\":3}\n{\"x\":4}\n")
    }

    @Test(arguments: [
        ("INSERT INTO events FORMAT JSONEachRow", "{\"x\":1}\n[", 400, "27"),
        ("INSERT INTO nowhere FORMAT JSONEachRow", "{}", 404, "60"), ("SELECT 1 FROM nowhere LIMIT 0", "", 404, "60"),
        ("DROP TABLE events", "", 501, "48"), ("SELECT 1 FORMAT Native", "", 501, "48"),
    ])
    func `a statement that cannot be executed is refused with a code`(
        _ query: String,
        _ rows: String,
        _ status: Int,
        _ code: String
    ) {
        let response = ask(query, rows)
        #expect(response.status == status)
        #expect(response.headers["X-ClickHouse-Exception-Code"] == code)
    }

    @Test func `a statement that is not simulated is told as such, and not as a mistake of the client`() {
        #expect(ask("DESCRIBE TABLE events").text.contains("simulator does not implement the statement \"DESCRIBE"))
    }

    @Test func `a client learns the version and the time zone, and of no settings`() {
        #expect(ask("SELECT version(), timezone()").text == "24.8.14.39\tUTC\n")
        let settings = ask("SELECT name, value, readonly FROM system.settings LIMIT 10000\n FORMAT Native")
        #expect(settings.status == 200 && settings.body.isEmpty)
        #expect(ask("SELECT version(), timezone()", key: "other").status == 403)
    }

    @Test func `a GET inserts nothing`() {
        let target = "/?query=\(PercentCoding.encode("INSERT INTO events FORMAT JSONEachRow {}"))"
        let refused = server.respond(to: .get(target, headers: ["X-ClickHouse-Key": "demo-password"]))
        #expect(refused.status == 500 && refused.headers["X-ClickHouse-Exception-Code"] == "164")
        #expect(ask("SELECT * FROM events").text == "")
    }

    @Test func `a wrong password is refused, except for a ping`() {
        #expect(ask("SELECT 1", key: "other").status == 403)
        #expect(server.respond(to: .get("/ping")).text == "Ok.\n")
    }
}
