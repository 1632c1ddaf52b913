// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct GA4VendorTests {
    private let server = GA4Vendor.demo()

    private func post(_ body: String, to path: String = "/debug/mp/collect?measurement_id=G-1") -> HTTPResponse {
        server.respond(to: SimulatedRequest("POST", path, body: Array(body.utf8)))
    }

    @Test func `anything sent to be collected is answered with 204`() {
        for body in ["", "{", #"{"client_id":"c","events":[{"name":"a"}]}"#] {
            #expect(post(body, to: "/mp/collect").status == 204)
        }
        #expect(server.respond(to: .get("/mp/collect")).status == 405)
        #expect(post("{}", to: "/collect").status == 404)
    }

    @Test func `the validation server has no objection to a valid event`() throws {
        let web = #"{"client_id":"c","events":[{"name":"a","params":{"b":1}}],"user_properties":{"c":{"value":1}}}"#
        #expect(try JSONValue(parsing: post(web).body) == ["validationMessages": []])
        let app = #"{"app_instance_id":"0123456789abcdef0123456789ABCDEF","events":[{"name":"a"}]}"#
        let answer = post(app, to: "/debug/mp/collect?firebase_app_id=1:2:ios:3")
        #expect(try JSONValue(parsing: answer.body) == ["validationMessages": []])
    }

    @Test(arguments: [
        ("{", "VALUE_INVALID"), (#"{"events":[{"name":"a"}]}"#, "VALUE_REQUIRED"),
        (#"{"client_id":"c","events":[]}"#, "VALUE_REQUIRED"), (#"{"client_id":"c","events":[{}]}"#, "VALUE_REQUIRED"),
        (#"{"client_id":"c","events":[{"name":"a b"}]}"#, "NAME_INVALID"),
        (#"{"client_id":"c","events":[{"name":"ga_b"}]}"#, "NAME_INVALID"),
        (#"{"client_id":"c","events":[{"name":"first_open"}]}"#, "NAME_RESERVED"),
        (#"{"client_id":"c","events":[{"name":"a","params":{"1":1}}]}"#, "NAME_INVALID"),
        (#"{"client_id":"c","events":[{"name":"a"}],"user_properties":{"x-y":{}}}"#, "NAME_INVALID"),
    ])
    func `the validation server names what is wrong`(_ body: String, _ code: String) throws {
        let messages = try JSONValue(parsing: post(body).body)["validationMessages"]?.array
        #expect(messages?.map { $0["validationCode"] } == [.string(code)])
    }

    @Test func `the limits on the numbers of things are kept`() throws {
        let events = Array(repeating: #"{"name":"a"}"#, count: 26).joined(separator: ",")
        let messages = try JSONValue(parsing: post(#"{"client_id":"c","events":[\#(events)]}"#).body)
        #expect(messages["validationMessages"]?[0]?["validationCode"] == "EXCEEDED_MAX_ENTITIES")
        #expect(
            try JSONValue(parsing: post("{}", to: "/debug/mp/collect").body)["validationMessages"]?.array?.count == 1
        )
    }
}
