// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct MatomoVendorTests {
    private let server = MatomoVendor.demo()
    private let token = MatomoVendor.demoCredentials["token"] ?? ""

    private func batch(_ requests: [JSONValue], token: String? = nil) -> JSONValue {
        var body: JSONObject = ["requests": .array(requests)]
        if let token { body["token_auth"] = .string(token) }
        return server.respond(to: .json("POST", "/matomo.php", .object(body))).json
    }

    @Test func `a batch is tracked, and a superuser is told what is invalid`() {
        let requests: [JSONValue] = [
            ["idsite": 1, "rec": "1", "e_c": "a", "e_a": "b & c"], "?idsite=2&rec=1", "?idsite=1&rec=1&e_c=a&e_a=", 7,
        ]
        #expect(batch(requests) == ["status": "success", "tracked": 1, "invalid": 3])
        #expect(batch(requests, token: token)["invalid_indices"] == [1, 2, 3])
        #expect(batch(requests, token: "other")["invalid_indices"] == nil)
    }

    @Test func `the id of a visitor has 16 characters, unless a user's takes its place`() {
        let requests: [JSONValue] = [
            "?idsite=1&rec=1&cid=089c1307b5458527", "?idsite=1&rec=1&cid=xyz", "?idsite=1&rec=1&cid=xyz&uid=u",
            "?idsite=1&rec=1&cid=", "?idsite=1&rec=1&_id=xyz",
        ]
        #expect(batch(requests, token: token)["invalid_indices"] == [1])
    }

    @Test func `a lock timeout is answered as a success that tracked nothing`() {
        let response = server.failure(status: nil, code: "1205", message: nil)
        #expect(response.status == 200)
        #expect(response.json == ["status": "success", "tracked": 0, "invalid": 0])
    }

    @Test func `an event older than a day, or with an IP address, needs a token`() {
        // A day before noon, and a second later.
        let (old, new): (JSONValue, JSONValue) = (
            "?idsite=1&rec=1&cdt=1767268800", "?idsite=1&rec=1&cdt=2026-01-01%2012:00:01"
        )
        #expect(batch([old, new, "?idsite=1&rec=1&cip=192.0.2.1"])["tracked"] == 1)
        #expect(batch([old, new, "?idsite=1&rec=1&cip=192.0.2.1"], token: token)["tracked"] == 3)
    }

    @Test(arguments: ["0", "\(Int64.min)", "\(Int64.max)", "1999-01-01%2000:00:00", "2030-01-01%2000:00:00", "soon"])
    func `a time that Matomo does not take is ignored, and needs no token`(_ time: String) {
        #expect(batch([.string("?idsite=1&rec=1&cdt=\(time)")])["tracked"] == 1)
    }

    @Test func `a batch without a token has those of its requests`() {
        let addressed = "?idsite=1&rec=1&cip=192.0.2.1"
        #expect(batch([.string("\(addressed)&token_auth=\(token)"), .string(addressed)])["tracked"] == 1)
        #expect(batch([.string("\(addressed)&token_auth=\(token)")], token: "other")["tracked"] == 0)
    }

    @Test(arguments: [0, "0"] as [JSONValue])
    func `a batch that asks for no answer gets none`(flag: JSONValue) {
        let body: JSONValue = ["requests": ["?idsite=1&rec=1"], "send_image": flag]
        let response = server.respond(to: .json("POST", "/matomo.php", body))
        #expect(response.status == 204 && response.body.isEmpty)
    }

    @Test(arguments: ["/matomo.php", "/piwik.php"])
    func `a single request is answered with an image, or with nothing`(_ path: String) {
        let image = server.respond(to: .get("\(path)?idsite=1&rec=1"))
        #expect(image.status == 200 && image.headers["Content-Type"] == "image/gif")
        let form = SimulatedRequest(
            "POST",
            path,
            headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array("idsite=1&rec=1&send_image=0".utf8)
        )
        #expect(server.respond(to: form).status == 204)
        #expect(server.respond(to: .get("\(path)?idsite=2&rec=1")).status == 400)
        #expect(server.respond(to: .get(path)).text.hasPrefix("This resource is part of Matomo"))
    }

    @Test func `the reporting API names the site to those who may see it`() {
        let path = "/index.php?module=API&method=SitesManager.getSiteFromId&format=json"
        func ask(_ site: String, _ token: String) -> HTTPResponse {
            let body = Array("token_auth=\(token)".utf8)
            let type: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
            return server.respond(to: SimulatedRequest("POST", "\(path)&idSite=\(site)", headers: type, body: body))
        }
        #expect(ask("1", token).json["name"] == "Demo")
        #expect(ask("2", token).status == 401 && ask("1", "other").json["result"] == "error")
        let form = "module=API&method=SitesManager.getSiteFromId&idSite=1&token_auth=\(token)"
        let type: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
        let posted = SimulatedRequest("POST", "/", headers: type, body: Array(form.utf8))
        #expect(server.respond(to: posted).json["name"] == "Demo")
        #expect(server.respond(to: .get("/index.php?module=API&method=API.getMatomoVersion")).status == 404)
    }
}
