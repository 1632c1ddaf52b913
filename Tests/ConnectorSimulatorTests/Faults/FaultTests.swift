// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct FaultTests {
    private let vendors = ["segment", "kinto"]

    @Test func `every setting is read`() throws {
        let fault = try Fault(
            "segment:status=503,code=busy,times=2,retry-after=1,slow=1.5s,path=/v1/batch,method=post,header=X-A:b:c",
            vendors: vendors
        )
        var expected = Fault(vendor: "segment")
        expected.answer = .failure(status: 503, code: "busy")
        expected.times = 2
        expected.delay = .milliseconds(1500)
        expected.path = "/v1/batch"
        expected.method = "POST"
        expected.headers = ["Retry-After": "1", "X-A": "b:c"]
        #expect(fault == expected)
    }

    @Test(arguments: [
        (
            "segment:retry-after=1,status=503,times=2,code=busy",
            "segment:status=503,code=busy,header=Retry-After:1,times=2"
        ),
        ("kinto:path=/v1,slow=1.5s,method=post", "kinto:slow=1500ms,method=POST,path=/v1"),
        ("*:truncated", "*:truncated"),
        (#"kinto:header=X-Limits:60:a\,30:b,times=1"#, #"kinto:header=X-Limits:60:a\,30:b,times=1"#),
        (#"kinto:path=/a\,\,b,reset"#, #"kinto:reset,path=/a\,\,b"#),
    ])
    func `a fault's text reads back as the same fault`(text: String, expected: String) throws {
        let fault = try Fault(text, vendors: vendors)
        #expect(fault.description == expected)
        #expect(try Fault(expected, vendors: vendors) == fault)
    }

    @Test func `a header may have a comma`() throws {
        let fault = try Fault(#"segment:header=X-Limits:60:error:org\, 30:session:org,status=429"#, vendors: vendors)
        #expect(fault.headers == ["X-Limits": "60:error:org, 30:session:org"])
        #expect(fault.answer == .failure(status: 429, code: nil))
    }

    @Test(arguments: [
        ("*:reset", Fault.Answer.reset), ("kinto:truncated", .truncated), ("kinto:garbage", .garbage),
        ("kinto:portal", .portal), ("*:empty", .empty),
        ("kinto:slow=250ms", .unchanged), ("kinto:code=107", .failure(status: nil, code: "107")),
    ])
    func `every answer is read`(text: String, answer: Fault.Answer) throws {
        #expect(try Fault(text, vendors: vendors).answer == answer)
    }

    @Test(arguments: [
        ("", "expected TARGET:SETTING"), ("segment", "expected TARGET:SETTING"),
        ("segment:", "expected TARGET:SETTING"),
        ("sentry:reset", "no vendor \"sentry\""), ("segment:statsu=5", "unknown setting \"statsu\""),
        ("segment:status=abc", "whole number from 200 to 599"), ("segment:status=99", "from 200 to 599"),
        ("segment:status", "takes a value"), ("segment:reset=1", "takes no value"),
        ("segment:reset,status=500", "contradict"),
        ("segment:portal,status=500", "contradict"), ("segment:status=500,garbage", "contradicts"),
        ("segment:times=0,reset", "from 1 to"), ("segment:times=3", "nothing would go wrong"),
        ("segment:slow=2", "duration"), ("segment:slow=2h", "duration"), ("segment:slow=-1s", "duration"),
        ("segment:slow=nans", "duration"), ("segment:header=A B:c", "NAME:VALUE"),
        ("segment:reset,,", "unknown setting"),
    ])
    func `a wrong text is an error that says what is expected`(text: String, reason: String) {
        let error = #expect(throws: FaultError.self) { try Fault(text, vendors: vendors) }
        #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func `a fault applies as often as it says, and then the next one does`() throws {
        let schedule = FaultSchedule([
            try Fault("segment:status=503,times=2,path=/v1", vendors: vendors),
            try Fault("*:status=500", vendors: vendors),
        ])
        let request = SimulatedRequest.get("/v1/batch")
        let statuses = (0..<4).map { _ in schedule.next(for: request, of: "segment")?.answer }
        #expect(statuses.prefix(2).allSatisfy { $0 == .failure(status: 503, code: nil) })
        #expect(statuses.suffix(2).allSatisfy { $0 == .failure(status: 500, code: nil) })
        schedule.replace(with: [])
        #expect(schedule.next(for: request, of: "segment") == nil)
    }

    @Test func `a fault made in Swift waits an hour at most, and applies to no request after a negative number`() {
        var slow = Fault(vendor: "segment")
        slow.delay = .seconds(Int64.max)
        var none = slow
        none.times = .min
        let request = SimulatedRequest.get("/")
        #expect(FaultSchedule([slow]).next(for: request, of: "segment")?.delay == .seconds(3600))
        #expect(FaultSchedule([none]).next(for: request, of: "segment") == nil)
    }
}
