// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorKit
import ConnectorManifest
import Testing

@Suite struct StatusTests {
    @Test(arguments: [
        (CONNECTOR_FAILED, PluginStatus.failed, ConnectorError.Code.failed),
        (CONNECTOR_INVALID, .invalid, .invalid),
        (CONNECTOR_UNSUPPORTED, .unsupported, .unsupported),
        (CONNECTOR_UNAUTHORIZED, .unauthorized, .unauthorized),
        (CONNECTOR_NOT_FOUND, .notFound, .missing),
        (CONNECTOR_CONFLICT, .conflict, .conflict),
        (CONNECTOR_RATE_LIMITED, .rateLimited, .rateLimited),
        (CONNECTOR_UNAVAILABLE, .unavailable, .unavailable),
        (CONNECTOR_TIMED_OUT, .timedOut, .timedOut),
        (CONNECTOR_CANCELLED, .cancelled, .cancelled),
        (CONNECTOR_DENIED, .denied, .denied),
        (CONNECTOR_TOO_LARGE, .tooLarge, .tooLarge),
        (CONNECTOR_PROTOCOL, .protocolViolation, .protocolViolation),
        (CONNECTOR_NOT_OPEN, .notOpen, .notOpen),
    ])
    func `a status has the same number in the header and in Swift, and one error code`(
        number: Int32,
        status: PluginStatus,
        code: ConnectorError.Code
    ) {
        #expect(status.rawValue == number)
        #expect(ConnectorError.Code(abiStatus: number) == code)
        #expect(code.abiStatus == number)
    }

    @Test(arguments: [Int32(CONNECTOR_OK), Int32(CONNECTOR_MISUSE), -1, .max])
    func `no other number has a code`(number: Int32) {
        #expect(ConnectorError.Code(abiStatus: number) == nil)
    }
}
