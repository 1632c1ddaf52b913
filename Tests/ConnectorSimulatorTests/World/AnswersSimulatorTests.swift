// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHTTPServer
import ConnectorPlatform
import Testing

@testable import ConnectorSimulator

/// A simulator whose answers are a value in the test's code.
@Suite struct AnswersSimulatorTests {
    @Test func `answers given as a value are served, and their timeline follows the test's clock`() async throws {
        let clock = ManualHostClock()
        let simulator = try Simulator(
            answers: [
                "version": 1, "answers": [["path": "/v1/ping", "json": ["ok": true]]],
                "timeline": [["at": "5s", "for": "10s", "fault": "status=503"]],
            ],
            clock: clock
        )
        func status() -> Int {
            simulator.answer(SimulatedRequest("GET", "/v1/ping")).response.status
        }
        let serving = Task { try await simulator.run() }
        let url = try await simulator.baseURL(of: Simulator.answersVendor)
        #expect(url == "http://127.0.0.1:\(try await simulator.port)")
        #expect(status() == 200)
        clock.advance(by: .seconds(5))
        #expect(status() == 503)
        clock.advance(by: .seconds(10))
        #expect(status() == 200)
        simulator.stop()
        try await serving.value
        #expect(clock.timerCount == 0)
    }

    @Test func `all faults of answers given as a value are thrown`() {
        let bad = #expect(throws: SimulatorError.self) {
            try Simulator(answers: ["version": 1, "answers": [["path": "x"], ["status": 42]]])
        }
        guard case .invalidAnswers(let faults)? = bad else {
            Issue.record("\(String(describing: bad))")
            return
        }
        #expect(faults.count == 3)
        #expect(faults.first?.contains("the path \"x\" must begin with /") == true)
        let plugin = #expect(throws: SimulatorError.self) { try Simulator(answers: ["version": 1, "operations": []]) }
        #expect(plugin?.description.contains("ConnectorHost.testing(simulating:)") == true)
        let event = #expect(throws: SimulatorError.self) {
            try Simulator(answers: [
                "version": 1, "answers": [["path": "/"]], "timeline": [["at": "1s", "event": ["name": "reading"]]],
            ])
        }
        #expect(event?.description.contains("a simulator emits no events") == true)
    }
}
