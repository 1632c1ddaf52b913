// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector

/// The `http/1` service: see services/http.h.
enum HTTPTable {
    private typealias Error = UnsafeMutablePointer<connector_error>

    private static let request:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_http_request>?, connector_http_done?,
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt64>?, Error?
        ) -> Int32 = { context, request, done, user, id, error in
            unsafe ServiceTables.answer(context, error) { services throws(ServiceFailure) in
                guard let done = unsafe done, let id = unsafe id else {
                    throw .misuse("null where http/1 allows none")
                }
                // Tell the plugin the id before anything can complete the request and call `done`.
                let name = services.newIdentifier()
                unsafe id.pointee = name
                let template = try unsafe RequestTemplate(copying: request, limit: services.requestLimit) {
                    body throws(ServiceFailure) -> [UInt8]? in
                    try unsafe services.compressed(body)
                }
                try services.startRequest(name, template, unsafe RequestCallback(done, user: user), silence: nil)
            }
        }

    private static let stream:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_http_request>?, UnsafePointer<connector_http_receiver>?,
            UnsafeMutablePointer<UInt64>?, Error?
        ) -> Int32 = { context, request, receiver, id, error in
            unsafe ServiceTables.answer(context, error) { services throws(ServiceFailure) in
                guard let id = unsafe id else { throw .misuse("null where http/1 allows none") }
                let name = services.newIdentifier()
                unsafe id.pointee = name
                let template = try unsafe RequestTemplate(copying: request, limit: services.requestLimit)
                let receiver = try unsafe ResponseReceiver(copying: receiver)
                try services.startRequest(name, template, RequestCallback(receiver), silence: receiver.silence)
            }
        }

    private static let resume: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, id in
        unsafe ServiceTables.at(context)?.resumeRequest(id)
    }

    private static let write:
        @convention(c) (UnsafeMutableRawPointer?, UInt64, UnsafePointer<UInt8>?, UInt64, UInt32, Error?) -> Int32 = {
            context,
            id,
            part,
            length,
            isLast,
            error in
            unsafe ServiceTables.answer(context, error) { services throws(ServiceFailure) in
                let bytes = try unsafe RequestTemplate.bodyPart(part, length)
                try services.writeRequest(id, bytes, isLast: isLast != 0)
            }
        }

    private static let cancel: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, id in
        unsafe ServiceTables.at(context)?.cancelRequest(id)
    }

    /// The table for one instance.
    static func table(_ context: UnsafeMutableRawPointer) -> connector_http {
        unsafe connector_http(
            struct_size: UInt32(MemoryLayout<connector_http>.size),
            flags: 0,
            context: context,
            request: fitting(request),
            cancel: fitting(cancel),
            stream: fitting(stream),
            resume: fitting(resume),
            write: fitting(write)
        )
    }
}
