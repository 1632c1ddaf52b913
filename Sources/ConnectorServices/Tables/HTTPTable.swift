// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorBase
internal import ConnectorInvocation

/// The `http/1` service: see services/http.h.
package enum HTTPTable {
    /// The maximum number of header fields in a request, and of their bytes in total.
    private static let fieldLimits = (count: 256, bytes: HTTPTransport.headLimit)

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
                let copy = try unsafe copy(request, limit: gate.host.options.http.requestLimit)
                try gate.startRequest(name, copy, unsafe RequestCallback(done, user: user))
                return Int32(CONNECTOR_OK)
            } catch let failure {
                return unsafe failure.redacted(by: gate.context.redactor).write(to: error)
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
                let template = try unsafe copy(request, limit: gate.host.options.http.requestLimit)
                let (callback, silence) = try unsafe copy(receiver)
                try gate.startRequest(name, template, callback, silence: silence)
                return Int32(CONNECTOR_OK)
            } catch let failure {
                return unsafe failure.redacted(by: gate.context.redactor).write(to: error)
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
                let limit = Int(CONNECTOR_HTTP_PART_LIMIT)
                guard length <= UInt64(limit) else { throw .tooLarge("the part has more than \(limit) bytes") }
                guard let bytes = unsafe PluginMemory.bytes(part, length, limit: limit) else {
                    throw .misuse("the part is null with a length")
                }
                try gate.writeRequest(id, bytes, isLast: isLast != 0)
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

    /// Copies a request from the plugin's memory.
    private static func copy(
        _ pointer: UnsafePointer<connector_http_request>?,
        limit: Int
    ) throws(ServiceFailure) -> RequestTemplate {
        guard let pointer = unsafe pointer else { throw .misuse("the request is null") }
        // The field `during` came later: an older plugin's request ends before it, and must not be read as a whole.
        let size = unsafe Int(pointer.pointee.struct_size)
        guard let old = unsafe MemoryLayout<connector_http_request>.offset(of: \.during), size >= old else {
            throw .misuse("the request's struct_size is too small for version 1")
        }
        let (methodLength, urlLength) = unsafe (pointer.pointee.method_length, pointer.pointee.url_length)
        guard let method = unsafe PluginMemory.text(pointer.pointee.method, methodLength, limit: 32) else {
            throw .invalid("the method is null, not UTF-8 or longer than 32 bytes")
        }
        guard urlLength <= UInt64(HTTPTarget.sizeLimit) else {
            throw .tooLarge("the URL has more than \(HTTPTarget.sizeLimit) bytes")
        }
        guard let url = unsafe PluginMemory.text(pointer.pointee.url, urlLength, limit: HTTPTarget.sizeLimit) else {
            throw .invalid("the URL is null or not UTF-8")
        }
        let body = try unsafe copyBody(of: pointer, limit: limit)
        return RequestTemplate(
            flags: unsafe pointer.pointee.flags,
            method: method,
            url: url,
            headers: try unsafe copy(pointer.pointee.headers, pointer.pointee.header_count),
            body: body.bytes,
            length: body.length,
            deadline: unsafe pointer.pointee.deadline_ns,
            during: unsafe size >= MemoryLayout<connector_http_request>.size ? pointer.pointee.during : 0
        )
    }

    /// Copies the body, or reads the length of one that comes in parts; nil if it is unknown.
    private static func copyBody(
        of request: UnsafePointer<connector_http_request>,
        limit: Int
    ) throws(ServiceFailure) -> (bytes: [UInt8], length: Int64?) {
        let length = unsafe request.pointee.body_length
        if unsafe request.pointee.flags & CONNECTOR_HTTP_BODY_IN_PARTS != 0 {
            guard unsafe request.pointee.body == nil else {
                throw .misuse("the request has a body, and says that it comes in parts")
            }
            guard length == .max || length <= UInt64(Int64.max) else {
                throw .invalid("the length of the body is \(length)")
            }
            return ([], Int64(exactly: length))
        }
        guard length <= UInt64(limit) else { throw .tooLarge("the request's body has more than \(limit) bytes") }
        guard let body = unsafe PluginMemory.bytes(request.pointee.body, length, limit: limit) else {
            throw .misuse("the request's body is null with a length")
        }
        return (body, nil)
    }

    /// Copies the receiver of a response in parts, and its longest silence in nanoseconds; 0 for no limit.
    private static func copy(
        _ pointer: UnsafePointer<connector_http_receiver>?
    ) throws(ServiceFailure) -> (callback: RequestCallback, silence: UInt64) {
        guard let pointer = unsafe pointer else { throw .misuse("the receiver is null") }
        // The field `room` came later: an older plugin's receiver ends before it.
        let size = unsafe Int(pointer.pointee.struct_size)
        guard let old = unsafe MemoryLayout<connector_http_receiver>.offset(of: \.room), size >= old else {
            throw .misuse("the receiver's struct_size is too small for version 1")
        }
        // C code may pass null despite the header.
        let functions = unsafe UnsafeRawPointer(pointer).loadUnaligned(
            fromByteOffset: 8,
            as: (connector_http_part?, connector_http_done?).self
        )
        guard let part = unsafe functions.0, let done = unsafe functions.1 else {
            throw .misuse("the receiver has a null function")
        }
        let room = unsafe size >= MemoryLayout<connector_http_receiver>.size ? pointer.pointee.room : nil
        let callback = unsafe RequestCallback(done, part: part, room: room, user: pointer.pointee.user)
        return unsafe (callback, pointer.pointee.silence_ns)
    }

    private static func copy(
        _ headers: UnsafePointer<connector_http_header>?,
        _ count: UInt64
    ) throws(ServiceFailure) -> HTTPFields {
        guard count > 0 else { return [:] }
        guard let headers = unsafe headers else { throw .misuse("the request's headers are null with a count") }
        guard count <= UInt64(fieldLimits.count) else {
            throw .tooLarge("the request has more than \(fieldLimits.count) headers")
        }
        var rest = fieldLimits.bytes
        var fields = HTTPFields()
        for index in 0..<Int(count) {
            let header = unsafe headers[index]
            guard let name = unsafe PluginMemory.text(header.name, header.name_length, limit: rest),
                let value = unsafe PluginMemory.text(header.value, header.value_length, limit: rest)
            else {
                throw .invalid("a header is null or not UTF-8, or they have more than \(fieldLimits.bytes) bytes")
            }
            rest = max(0, rest - name.utf8.count - value.utf8.count)
            fields.append(name, value)
        }
        return fields
    }
}
