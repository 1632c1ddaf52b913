// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct InfluxDBVendorTests {
    private let influx = InfluxDBVendor.demo()

    /// Writes lines to the demonstration database.
    private func write(_ lines: String, _ query: String = "db=demo") -> HTTPResponse {
        influx.respond(to: SimulatedRequest("POST", "/write?\(query)", body: Array(lines.utf8), receivedAt: noon))
    }

    /// The answer to a query, its first statement's.
    private func query(_ text: String, epoch: String = "ns") -> JSONValue {
        let target = "/query?db=demo&epoch=\(epoch)&q=\(PercentCoding.encode(text))"
        return influx.respond(to: .get(target)).json["results"]?[0] ?? .null
    }

    @Test func `what was written is returned, fields and tags together in order`() {
        #expect(write("cpu,host=a\\ b,zone=z value=0.5,n=3i,ok=t,text=\"a \\\"b\\\", c\" 1000").status == 204)
        let series = query("SELECT * FROM cpu")["series"]?[0]
        #expect(series?["columns"] == ["time", "host", "n", "ok", "text", "value", "zone"])
        #expect(series?["values"] == [[1000, "a b", 3, true, "a \"b\", c", 0.5, "z"]])
    }

    @Test func `a backslash in a field's name stays, unless it escapes what would end the name`() {
        #expect(write(#"m a\b=1,c\,d=2,e\\f=3 1"#).status == 204)
        #expect(query("SELECT * FROM m")["series"]?[0]?["columns"] == ["time", #"a\b"#, "c,d", #"e\\f"#])
    }

    @Test func `times are read and written in the precision that is asked for`() {
        #expect(write("m v=1 2", "db=demo&precision=s").status == 204)
        #expect(write("m v=2").status == 204)
        #expect(query("SELECT v FROM m", epoch: "s")["series"]?[0]?["values"] == [[2, 1.0], [1_767_355_200, 2.0]])
        #expect(query("SELECT v FROM m LIMIT 1", epoch: "")["series"]?[0]?["values"]?[0]?[0] == "1970-01-01T00:00:02Z")
    }

    @Test func `conditions, order, limit and offset are obeyed`() {
        for number in 1...5 { _ = write("m,host=h\(number % 2) v=\(number)i \(number)") }
        #expect(values("SELECT v FROM m WHERE host='h1' AND v >= 3") == [3, 5])
        #expect(values("select v from \"autogen\".\"m\" where time > 2 and time <= 4") == [3, 4])
        #expect(values("SELECT v FROM m WHERE host != 'h1'") == [2, 4])
        #expect(values("SELECT v FROM m ORDER BY time DESC LIMIT 2 OFFSET 1") == [4, 3])
        #expect(values("SELECT v FROM m WHERE time < '1970-01-01T00:00:00.000000003Z'") == [1, 2])
        #expect(values("SELECT v FROM m WHERE time > now() - 1h") == [])
        #expect(query("SELECT v FROM m GROUP BY host")["series"]?.array?.count == 2)
        #expect(query("SELECT COUNT(v), MEAN(v) FROM m")["series"]?[0]?["values"] == [[0, 5, 3.0]])
    }

    /// The second column of a query's answer.
    private func values(_ text: String) -> [Int64?] {
        (query(text)["series"]?[0]?["values"]?.array ?? []).map { $0[1]?.integer }
    }

    @Test func `a point of the same series and time is merged`() {
        _ = write("m,t=a v=1 5\nm,t=b v=2 5")
        _ = write("m,t=a w=3 5")
        let values = query("SELECT * FROM m WHERE t='a'")["series"]?[0]?["values"]
        #expect(values == [[5, "a", 1.0, 3.0]])
    }

    @Test(arguments: [
        ("bucket=demo/autogen&precision=s", 204), ("bucket=demo&precision=s", 204), ("bucket=demo/&precision=s", 204),
        ("bucket=demo/autogen&precision=h", 400), ("bucket=other/autogen", 404), ("bucket=", 404), ("", 404),
        ("bucket=/autogen", 404), ("bucket=demo/monthly", 500),
    ])
    func `clients of version 2 write to a bucket`(_ query: String, _ status: Int) {
        let request = SimulatedRequest("POST", "/api/v2/write?\(query)", body: Array("m v=1i 2".utf8))
        #expect(influx.respond(to: request).status == status)
        if status == 204 { #expect(self.query("SELECT v FROM m")["series"]?[0]?["values"] == [[2_000_000_000, 1]]) }
    }

    @Test func `a mark that is followed by a combining one is read`() {
        #expect(write("m,t=a\u{301}\\,b,u=x,\u{301}k=y s=\"a\\\"\u{301}b\",\u{301}n=1i 1").status == 204)
        let series = query("SELECT s FROM \"m\" WHERE t = 'a\u{301},b'")["series"]?[0]
        let expected: JSONValue = "a\"\u{301}b"
        #expect(series?["values"]?[0]?[1] == expected)
        #expect(values("SELECT \"\u{301}n\" FROM m WHERE s='a\"\u{301}b'") == [1])
    }

    @Test func `points are ordered by time, and series by the bytes of their tags`() {
        _ = write("m,t=\u{e9} v=3i 5\nm,t=e\u{301} v=4i 5\nm v=1i 2\nm v=2i 3")
        #expect(values("SELECT v FROM m") == [1, 2, 3, 4])
    }

    @Test func `thousands of points of one time are kept`() {
        var database = InfluxDatabase()
        for number in 0..<8000 {
            let fields = [ExactText("v"): InfluxPoint.Field(kind: .integer, value: .integer(Int64(number)))]
            let tags = [ExactText("t"): ExactText("\(number)")]
            let point = InfluxPoint(measurement: ExactText("m"), tags: tags, fields: fields, time: 1)
            #expect(database.insert(point) == nil)
        }
        #expect(database.points(of: ExactText("m")).count == 8000)
        #expect(database.names == [ExactText("m")])
    }

    @Test func `names that are only equivalent are kept apart`() {
        let (short, long) = ("\u{e9}", "e\u{301}")
        #expect(write("\(short),\(short)=a,\(long)=b \(short)=1i,\(long)=2i 1\n\(long) v=3i 1").status == 204)
        #expect(values("SELECT v FROM \"\(long)\"") == [3])
        #expect(values("SELECT \"\(short)\" FROM \"\(short)\"") == [1])
        #expect(values("SELECT \"\(long)\" FROM \"\(short)\" WHERE \"\(long)\" = 'b'") == [2])
        #expect(values("SELECT \"\(long)\" FROM \"\(short)\" WHERE \"\(long)\" = 'a'") == [])
        let names = query("SHOW MEASUREMENTS")["series"]?[0]?["values"]
        #expect(names == [[.string(long)], [.string(short)]])
        _ = write("m,t=\(short) v=1i 1\nm,t=\(long) v=2i 1")
        #expect(query("SELECT v FROM m GROUP BY t")["series"]?.array?.count == 2)
        #expect(query("SHOW TAG VALUES FROM m WITH KEY = t")["series"]?[0]?["values"]?.array?.count == 2)
    }

    @Test(arguments: [
        ("m", "missing fields"), ("m,t v=1", "missing tag value"), ("m v=", "missing field value"),
        ("m v=abc", "invalid number"), ("m v=1 abc", "bad timestamp"), ("m v=\"a", "unbalanced quotes"),
        (",t=a v=1", "missing measurement"), ("m v=1 99999999999999999999", "bad timestamp"),
        ("m v=1x", "invalid number"), ("m v\\\\ =1", "invalid field format"), ("m v\\=1", "invalid field format"),
        ("m v\\\\,w=1", "invalid field format"), ("m v\\\\=1 5", "invalid value: field-key=v\\\\=1"),
        ("m v=nan", "invalid number"), ("m v=99999999999999999999i", "unable to parse integer"),
    ])
    func `a line that cannot be read is refused in the server's words`(line: String, reason: String) {
        let response = write(line)
        #expect(response.status == 400)
        #expect(response.json["error"]?.string?.hasPrefix("unable to parse '\(line)': \(reason)") == true)
    }

    @Test func `good lines are stored although others are refused`() {
        let response = write("m v=1 1\nm v=\nm v=2 2")
        #expect(response.status == 400)
        #expect(response.json["error"]?.string?.hasPrefix("partial write: unable to parse 'm v='") == true)
        #expect(values("SELECT v FROM m") == [1, 2])
        let conflict = write("m v=\"text\" 3")
        #expect(conflict.status == 400)
        #expect(
            conflict.json["error"]
                == "partial write: field type conflict: input field \"v\" on measurement \"m\" is type string, already exists as type float dropped=1"
        )
    }

    @Test func `an unknown or unnamed database is refused`() {
        #expect(write("m v=1", "").status == 400)
        let unknown = write("m v=1", "db=other")
        #expect(unknown.status == 404)
        #expect(unknown.json["error"] == "database not found: \"other\"")
        #expect(
            influx.respond(to: .get("/query?db=other&q=SELECT%20*%20FROM%20m")).json["results"]?[0]?["error"] != nil
        )
    }

    @Test func `an unknown retention policy is the server's error, also without points`() {
        #expect(write("m v=1 1", "db=demo&rp=autogen").status == 204)
        #expect(write("m v=1 1", "db=demo&rp=").status == 204)
        for lines in ["", "m v=1 1"] {
            let unknown = write(lines, "db=demo&rp=monthly")
            #expect(unknown.status == 500)
            #expect(unknown.json["error"] == "retention policy not found: monthly")
        }
        #expect(write("m v=1 1", "db=other&rp=monthly").status == 404)
    }

    @Test(arguments: [
        "", "SELEC", "SELECT", "SELECT *", "SELECT * FROM m WHERE", "SELECT * FROM m LIMIT x", "SELECT 'a", "SHOW",
    ])
    func `a query that cannot be read is refused`(text: String) {
        let response = influx.respond(to: .get("/query?db=demo&q=\(PercentCoding.encode(text))"))
        #expect(response.status == 400)
        #expect(response.json["error"]?.string != nil)
    }

    @Test func `parentheses nest, but not without end`() {
        _ = write("m v=1 1")
        #expect(values("SELECT v FROM m WHERE ((v = 1) AND (v < 2))") == [1])
        let deep = String(repeating: "(", count: 10_000)
        let body = Array("q=SELECT v FROM m WHERE \(deep)v=1".utf8)
        let headers: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
        let request = SimulatedRequest("POST", "/query?db=demo", headers: headers, body: body)
        #expect(influx.respond(to: request).status == 400)
    }

    @Test func `databases and measurements are listed, made and dropped`() {
        _ = write("m,t=a v=1 1")
        #expect(query("SHOW MEASUREMENTS")["series"]?[0]?["values"] == [["m"]])
        #expect(query("SHOW TAG KEYS FROM m")["series"]?[0]?["values"] == [["t"]])
        #expect(query("SHOW FIELD KEYS")["series"]?[0]?["values"] == [["v", "float"]])
        let made = influx.respond(to: SimulatedRequest("POST", "/query?q=CREATE%20DATABASE%20%22x%20y%22"))
        #expect(made.json == ["results": [["statement_id": 0]]])
        #expect(query("SHOW DATABASES")["series"]?[0]?["values"] == [["demo"], ["x y"]])
        _ = query("DROP MEASUREMENT m")
        #expect(query("SHOW MEASUREMENTS")["series"] == nil)
    }

    @Test func `credentials are asked for only where some are configured`() {
        #expect(influx.respond(to: .get("/ping")).status == 204)
        let guarded = InfluxDBVendor(
            credentials: AcceptedCredentials([["database": "d", "username": "u", "password": "p"]])
        )
        #expect(guarded.respond(to: .get("/ping")).status == 204)
        let missing = guarded.respond(to: .get("/query?q=SHOW%20DATABASES"))
        #expect(missing.status == 401)
        #expect(missing.json["error"] == "unable to parse authentication credentials")
        #expect(missing.headers["WWW-Authenticate"] == "Basic realm=\"InfluxDB\"")
        let wrong = guarded.respond(to: .get("/query?q=SHOW%20DATABASES&u=u&p=x"))
        #expect(wrong.json["error"] == "authorization failed")
        #expect(guarded.respond(to: .get("/query?q=SHOW%20DATABASES&u=u&p=p")).status == 200)
        #expect(
            guarded.respond(to: .get("/query?q=SHOW%20DATABASES", headers: ["Authorization": "Basic dTpw"])).status
                == 200
        )
        #expect(
            guarded.respond(to: .get("/query?q=SHOW%20DATABASES", headers: ["Authorization": "Token u:p"])).status
                == 200
        )
    }
}
