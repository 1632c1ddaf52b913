// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import NIOHTTP2

extension ServiceFailure {
    /// Converts an error of a stream or a connection of HTTP/2.
    init(_ error: any NIOHTTP2Error, _ place: String) {
        self =
            switch error {
            case let error as NIOHTTP2Errors.StreamClosed: .reset(error.errorCode, place)
            case is NIOHTTP2Errors.IOOnClosedConnection, is NIOHTTP2Errors.CreatedStreamAfterGoaway: .closedEarly(place)
            case is NIOHTTP2Errors.ExcessivelyLargeHeaderBlock:
                .violation("the answer of \(place) has more than 16 KiB of headers")
            default: .violation("the answer of \(place) is not HTTP/2 (\(type(of: error)))")
            }
    }

    /// A stream was reset: by the server, or by the parser, which has one code for all that is wrong with an answer.
    private static func reset(_ code: HTTP2ErrorCode, _ place: String) -> Self {
        let name = codes.indices.contains(code.networkCode) ? codes[code.networkCode] : "\(code.networkCode)"
        return switch code {
        case .protocolError, .flowControlError, .frameSizeError, .compressionError:
            .violation("HTTP/2 with \(place) failed (\(name)); the answer may be wrong, as with a false content-length")
        default: .unavailable("\(place) reset the request (\(name))")
        }
    }

    /// The names of the error codes: RFC 9113, section 7.
    private static let codes = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
}
