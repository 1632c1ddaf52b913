// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorInvocation

/// The `http/1` service: see services/http.h.
package enum HTTPTable {
    private static let request:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_http_request>?, connector_http_done?,
            UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<connector_error>?
        ) -> Int32 = { context, request, done, user, id, error in
            guard let gate = unsafe GateServices.at(context), let done = unsafe done, let id = unsafe id else {
                return unsafe ServiceFailure.misuse("null where http/1 allows none").write(to: error)
            }
            // Tell the plugin the id before anything can complete the request and call `done`.
            let name = ServiceIdentifier.next()
            unsafe id.pointee = name
            do throws(ServiceFailure) {
                let limit = gate.host.options.http.requestLimit
                let template = try unsafe RequestTemplate(copying: request, limit: limit) {
                    body throws(ServiceFailure) -> [UInt8]? in
                    // A recording has the body as the plugin wrote it.
                    guard gate.context.recording == nil else { return nil }
                    return try unsafe Gzip.compress(body)
                }
                try gate.startRequest(name, template, unsafe RequestCallback(done, user: user))
                return Int32(CONNECTOR_OK)
            } catch let failure {
                return unsafe failure.write(to: error)
            }
        }

    private static let stream:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_http_request>?, UnsafePointer<connector_http_receiver>?,
            UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<connector_error>?
        ) -> Int32 = { context, request, receiver, id, error in
            guard let gate = unsafe GateServices.at(context), let id = unsafe id else {
                return unsafe ServiceFailure.misuse("null where http/1 allows none").write(to: error)
            }
            let name = ServiceIdentifier.next()
            unsafe id.pointee = name
            do throws(ServiceFailure) {
                let template = try unsafe RequestTemplate(copying: request, limit: gate.host.options.http.requestLimit)
                let receiver = try unsafe ResponseReceiver(copying: receiver)
                try gate.startRequest(name, template, RequestCallback(receiver), silence: receiver.silence)
                return Int32(CONNECTOR_OK)
            } catch let failure {
                return unsafe failure.write(to: error)
            }
        }

    private static let resume: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, id in
        unsafe GateServices.at(context)?.resumeRequest(id)
    }

    private static let write:
        @convention(c) (
            UnsafeMutableRawPointer?, UInt64, UnsafePointer<UInt8>?, UInt64, UInt32,
            UnsafeMutablePointer<connector_error>?
        ) -> Int32 = { context, id, part, length, isLast, error in
            guard let gate = unsafe GateServices.at(context) else {
                return unsafe ServiceFailure.misuse("null where http/1 allows none").write(to: error)
            }
            do throws(ServiceFailure) {
                try gate.writeRequest(id, unsafe RequestTemplate.bodyPart(part, length), isLast: isLast != 0)
                return Int32(CONNECTOR_OK)
            } catch let failure {
                return unsafe failure.write(to: error)
            }
        }

    private static let cancel: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, id in
        unsafe GateServices.at(context)?.completeRequest(id, .failure(.cancelled("the plugin cancelled the request")))
    }

    /// The table for one gate.
    package static func table(context: UnsafeMutableRawPointer) -> connector_http {
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
