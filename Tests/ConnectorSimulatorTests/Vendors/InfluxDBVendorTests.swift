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

    /// The answer to the first statement of a query.
    private func query(_ text: String, epoch: String = "ns") -> JSONValue {
        let target = "/query?db=demo&epoch=\(epoch)&q=\(PercentCoding.encode(text))"
        return influx.respond(to: .get(target)).json["results"]?[0] ?? .null
    }

    @Test func `written points are returned, with fields and tags together in order`() {
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

    @Test func `a punctuation mark followed by a combining one is read`() {
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

    @Test func `canonically equivalent names are kept apart`() {
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
        ("m v=abc", "invalid boolean"), ("m v=1 abc", "bad timestamp"), ("m v=\"a", "unbalanced quotes"),
        (",t=a v=1", "missing measurement"), ("m v=1 99999999999999999999", "strconv.ParseInt"),
        ("m v=1x", "invalid number"), ("m v\\\\ =1", "invalid field format"), ("m v\\=1", "invalid field format"),
        ("m v\\\\,w=1", "invalid field format"), ("m v\\\\=1 5", "invalid value: field-key=v\\\\=1"),
        ("m v=nan", "invalid number"), ("m v=99999999999999999999i", "unable to parse integer"),
        ("m v=+5", "invalid boolean"), ("m v=--1", "invalid number"), ("m v=1.5i", "invalid number"),
        ("m v=1e400", "invalid float"), ("m v=1\r", "invalid number"), ("m v=1 1 2", "point is invalid"),
        ("m v=1 9223372036854775807", "time outside range"), ("m v=1 -9223372036854775808", "time outside range"),
        ("m v=\"a\"b\"", "unbalanced quotes"), ("m v=1,,w=2", "invalid field format"), ("m =1", "missing field key"),
    ])
    func `a line that cannot be read is refused in the server's words`(line: String, reason: String) {
        let response = write(line)
        #expect(response.status == 400)
        #expect(response.json["error"]?.string?.hasPrefix("unable to parse '\(line)': \(reason)") == true)
    }

    @Test func `a text ends at a comma or blank, and loses its last character`() {
        #expect(write("m a=\"x\"y,b=\"x, y\" 1").status == 204)
        #expect(query("SELECT a, b FROM m")["series"]?[0]?["values"] == [[1, "x\"", "x, y"]])
    }

    @Test func `nothing but the time is named time`() {
        for (line, reason) in [
            ("m time=1", "invalid field name: input field"), ("m,time=x v=1", "invalid tag key: input tag"),
        ] {
            let answer = write(line)
            let words = "partial write: \(reason) \"time\" on measurement \"m\" is invalid dropped=1"
            #expect(answer.status == 400 && answer.json["error"] == .string(words))
        }
        #expect(write("m time=1,v=2 1").status == 204)
        #expect(query("SELECT * FROM m")["series"]?[0]?["columns"] == ["time", "v"])
    }

    @Test func `an unknown consistency level is refused`() {
        #expect(write("m v=1 1", "db=demo&consistency=quorum").status == 204)
        #expect(write("m v=1 1", "db=demo&consistency=most").json["error"] == "invalid consistency level")
    }

    @Test func `valid lines are stored even if others are refused`() {
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
        "DELETE FROM m", "DROP SERIES FROM m WHERE t = 'a'", "DROP USER u", "CREATE RETENTION POLICY p ON demo",
        "CREATE DATABASE d WITH DURATION 1d", "GRANT ALL TO u", "SHOW USERS", "SHOW TAG KEYS LIMIT 1",
        "SHOW SERIES WHERE t = 'a'", "SHOW MEASUREMENTS WITH MEASUREMENT =~ /m/", "SELECT v FROM m SLIMIT 1",
        "SELECT v FROM m WHERE v = 1 OR v = 2", "SELECT v FROM m, n", "SELECT v FROM a.b.c.d",
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

    @Test func `a measurement without tags has no part in the answer about tag keys`() {
        _ = write("a v=1 1\nb,t=x v=1 1\nc v=1 1")
        #expect(query("SHOW TAG KEYS")["series"]?.array?.map { $0["name"] } == ["b"])
    }

    @Test func `lists of measurements and series have pages`() {
        _ = write("a,t=x\\ y v=1 1\nb,t=x\\,y v=1 1\nc\\ d,t\\=u=x v=1 1")
        func rows(_ text: String) -> JSONValue? { query(text)["series"]?[0]?["values"] }
        #expect(rows("SHOW MEASUREMENTS LIMIT 1 OFFSET 1") == [["b"]])
        #expect(rows("SHOW MEASUREMENTS OFFSET 3") == nil)
        #expect(rows("SHOW MEASUREMENTS LIMIT 0")?.array?.count == 3)
        #expect(rows("SHOW SERIES LIMIT 2") == [[#"a,t=x\ y"#], [#"b,t=x\,y"#]])
        #expect(rows("SHOW SERIES OFFSET 2") == [[#"c\ d,t\=u=x"#]])
    }

    @Test func `a function that selects a point has its time, alone, and its type`() {
        _ = write("m,t=a v=3i,w=1.5,s=\"x\",b=t 10\nm,t=b v=9007199254740993i 20\nm,t=a v=5i 30")
        func row(_ text: String) -> JSONValue? { query("SELECT \(text)")["series"]?[0]?["values"]?[0] }
        #expect(row("last(v) FROM m") == [30, 5] && row("first(v) FROM m") == [10, 3])
        #expect(row("max(v) FROM m") == [20, 9_007_199_254_740_993] && row("min(v) FROM m") == [10, 3])
        #expect(row("v FROM m WHERE v = 9007199254740992") == nil && row("v FROM m WHERE v < 3.5") == [10, 3])
        #expect(row("max(b) FROM m") == [10, true] && row("sum(v) FROM m WHERE t = 'a'") == [0, 8])
        #expect(row("max(v), min(v) FROM m WHERE time > 5") == [6, 9_007_199_254_740_993, 3])
        #expect(row("count(v) FROM m OFFSET 1") == nil && row("count(nothing) FROM m") == nil)
        #expect(query("SELECT max(*) FROM m")["series"]?[0]?["columns"] == ["time", "max_b", "max_v", "max_w"])
        #expect(query("SELECT v, v FROM m")["series"]?[0]?["columns"] == ["time", "v", "v_1"])
        #expect(
            query("SELECT sum(s) FROM m")["error"] == "unsupported sum iterator type: *query.stringInterruptIterator"
        )
    }

    @Test func `a statement may name its database and its retention policy`() {
        _ = query("CREATE DATABASE other")
        _ = write("m v=1i 1")
        _ = write("m v=2i 1", "db=other")
        #expect(values("SELECT v FROM other..m") == [2] && values("SELECT v FROM other.autogen.m") == [2])
        #expect(values("SELECT v FROM autogen.m") == [1])
        #expect(query("SELECT v FROM none..m")["error"] == "database not found: none")
        #expect(query("SELECT v FROM monthly.m")["error"] == "retention policy not found: monthly")
        #expect(query("SHOW FIELD KEYS ON none")["error"] == "database not found: none")
        #expect(query("SHOW MEASUREMENTS ON none") == ["statement_id": 0])
    }

    @Test func `credentials are required only if some are configured`() {
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
