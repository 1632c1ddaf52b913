// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorPlatform
internal import Synchronization

/// Finds the vendor for a request, applies a matching fault, and records the request.
final class SimulatorRouter: Sendable {
    /// A vendor that is served, with its redaction.
    private struct Mount: Sendable {
        var name: String
        var vendor: any Vendor
        /// Nil for recorded answers, which anyone may request.
        var credentials: AcceptedCredentials?
        var redaction: Redaction
    }

    /// The vendors, in the order of listings.
    private let mounted = Mutex<[Mount]>([])
    /// Whether the first path component selects the vendor.
    let isPrefixed: Bool
    /// The active faults.
    let faults: FaultSchedule
    /// The answers that timelines put before the vendors' own.
    let overlays = AnswerOverlays()
    /// The received requests.
    let recording: Recording
    /// The maximum size of a decoded body, in bytes.
    private let decodedLimit: Int

    /// Creates every vendor that the options name.
    init(_ options: SimulatorOptions) throws(SimulatorError) {
        isPrefixed = options.isPrefixed ?? (options.vendors.count + options.recorded.count > 1)
        faults = FaultSchedule(options.faults)
        recording = Recording()
        decodedLimit = options.bodyLimits.decoded
        for name in options.vendors {
            guard let type = VendorCatalogue.type(named: name) else { throw .unknownVendor(name) }
            let sets = options.credentials[name] ?? []
            for set in sets.isEmpty ? [type.demoCredentials] : sets { try serve(name, accepting: set) }
        }
        for (name, answers) in options.recorded { serve(answers, as: name, secrets: options.credentials[name] ?? []) }
    }

    /// Serves a vendor that accepts a set of credentials. One that is already served keeps its data and accepts this set as well.
    ///
    /// - Throws: `unknownVendor` if no vendor has the name.
    func serve(_ name: String, accepting set: [String: String]) throws(SimulatorError) {
        guard let type = VendorCatalogue.type(named: name) else { throw .unknownVendor(name) }
        mounted.withLock { mounts in
            guard let index = mounts.firstIndex(where: { $0.name == name }), let credentials = mounts[index].credentials
            else {
                let credentials = AcceptedCredentials([set])
                let redaction = Redaction(secrets: type.secrets(in: credentials))
                let vendor = type.init(credentials: credentials)
                mounts.append(Mount(name: name, vendor: vendor, credentials: credentials, redaction: redaction))
                return
            }
            guard credentials.add(set) else { return }
            mounts[index].redaction = Redaction(secrets: type.secrets(in: credentials))
            mounts[index].vendor.prepare(for: set)
        }
    }

    /// Serves recorded answers, and redacts the values of these sets of credentials wherever requests to them are quoted.
    func serve(_ answers: RecordedAnswers, as name: String, secrets: [[String: String]]) {
        let redaction = Redaction(secrets: secrets.flatMap(\.values))
        let vendor = RecordedVendor(answers, hiding: redaction)
        mounted.withLock { $0.append(Mount(name: name, vendor: vendor, redaction: redaction)) }
    }

    private var mounts: [Mount] { mounted.withLock(\.self) }

    /// The names of the vendors served, in order.
    var names: [String] { mounts.map(\.name) }

    /// Answers a request whose body is still encoded.
    func answer(_ request: SimulatedRequest) -> SimulatedExchange {
        if let mount = recordingMount(for: request) {
            var inner = request
            inner.fields.remove(HTTPFields.recording)
            return answer(inner, at: mount)
        }
        if request.path == "/_received" {
            return SimulatedExchange(response: received(request, of: nil))
        }
        if request.path == Self.faultsPath { return SimulatedExchange(response: faults(request)) }
        guard isPrefixed else {
            guard let mount = mounts.first else { return SimulatedExchange(response: index(request)) }
            return answer(request, at: mount)
        }
        let name = request.path.dropFirst().prefix { $0 != "/" }
        guard let mount = mounts.first(where: { $0.name == name }) else {
            return SimulatedExchange(response: index(request))
        }
        var inner = request
        inner.prefix = request.prefix + "/" + name
        inner.target = String(request.target.dropFirst(name.count + 1))
        if !inner.target.hasPrefix("/") { inner.target = "/" + inner.target }
        if inner.path == "/_received" {
            return SimulatedExchange(response: received(request, of: mount.name))
        }
        return answer(inner, at: mount)
    }

    /// The recording that a simulated gate asks, whatever the path; nil for any other request.
    private func recordingMount(for request: SimulatedRequest) -> Mount? {
        guard let name = request.fields[HTTPFields.recording] else { return nil }
        return mounts.first { $0.name == name }
    }

    /// The answer to a body that is too large to read.
    func refuseTooLarge(_ request: SimulatedRequest) -> HTTPResponse {
        let name = request.path.dropFirst().prefix { $0 != "/" }
        let mount = recordingMount(for: request) ?? (isPrefixed ? mounts.first { $0.name == name } : mounts.first)
        return mount?.vendor.failure(status: 413, code: nil, message: nil) ?? HTTPResponse(status: 413)
    }

    /// Decodes the body, calls the vendor, applies the fault, and records the request.
    private func answer(_ request: SimulatedRequest, at mount: Mount) -> SimulatedExchange {
        let vendor = mount.vendor
        var request = request
        let refusal = decodeBody(of: &request, for: vendor)
        let fault = faults.next(for: request, of: mount.name)
        var exchange = SimulatedExchange(response: HTTPResponse(status: 200), delay: fault?.delay ?? .zero)
        switch fault?.answer {
        case .failure(let status, let code):
            exchange.response = vendor.failure(status: status, code: code, message: nil)
        case .garbage:
            exchange.response = HTTPResponse(text: "\u{1}<<< not json {[\u{2}", type: "application/json")
        case .portal: exchange.response = Self.portal
        case .empty: exchange.response = HTTPResponse(status: 200)
        case .reset: exchange.delivery = .reset
        case .truncated, .unchanged, nil:
            let answer =
                refusal.map { SimulatedExchange(response: $0) }
                ?? overlays.exchange(for: request, of: mount.name) ?? vendor.exchange(for: request)
            exchange.response = answer.response
            exchange.delay += answer.delay
            exchange.stream = answer.stream
            if fault?.answer == .truncated {
                exchange.delivery = .truncated
                // A body of fewer than two bytes cannot be halved, so substitute one.
                if exchange.response.body.count < 2 { exchange.response.body = Array("{\"truncated\":".utf8) }
            }
        }
        for field in fault?.headers ?? [:] { exchange.response.headers[field.name] = field.value }
        recording.append(
            RecordedRequest(
                vendor: mount.name,
                method: request.sentMethod,
                path: mount.redaction.redact(target: request),
                headers: mount.redaction.redact(request.fields),
                body: mount.redaction.redact(request.body),
                status: exchange.delivery == .reset ? 0 : exchange.response.status,
                at: request.receivedAt
            )
        )
        return exchange
    }

    /// A captive portal's answer to every request.
    private static let portal = HTTPResponse(
        text: """
            <!DOCTYPE html>
            <html><head><title>Sign in to the network</title></head>
            <body><form action="/login" method="post"><input name="room"><button>Sign in</button></form></body></html>

            """,
        type: "text/html; charset=utf-8"
    )

    /// Removes the content encodings, last applied first; returns the vendor's error if that fails.
    private func decodeBody(of request: inout SimulatedRequest, for vendor: any Vendor) -> HTTPResponse? {
        guard let header = request.fields["Content-Encoding"], !request.body.isEmpty,
            !type(of: vendor).storesEncodedBodies
        else { return nil }
        let names = header.split(ascii: ",")
        guard names.count <= ContentCoding.countLimit else {
            return vendor.failure(status: 415, code: nil, message: "too many content encodings")
        }
        for name in names.reversed().map({ $0.trimmingBlanks() }) {
            guard let coding = name.lowercased() == "br" ? .brotli : ContentCoding(name: name) else {
                return vendor.failure(status: 415, code: nil, message: "unsupported content encoding \(name)")
            }
            do {
                request.body = try coding.decode(request.body, limit: decodedLimit)
            } catch .tooLarge {
                return vendor.failure(status: 413, code: nil, message: nil)
            } catch .unavailable {
                let message = "the simulators read br with libbrotlidec: install libbrotli1, or send gzip"
                return vendor.failure(status: 415, code: nil, message: message)
            } catch {
                return vendor.failure(status: 400, code: nil, message: "the body is not valid \(name)")
            }
        }
        return nil
    }

    /// The path at which the faults of a running simulator are read, replaced and cleared.
    static let faultsPath = "/_faults"

    /// Lists the faults, replaces them with those in the body, one per line, or clears them.
    private func faults(_ request: SimulatedRequest) -> HTTPResponse {
        func refusal(_ status: Int, _ reason: String) -> HTTPResponse {
            HTTPResponse(status: status, json: ["version": 1, "error": .string(reason)])
        }
        guard request.isLocal else { return refusal(403, "the faults are not for web pages") }
        switch request.method {
        case "GET": break
        case "DELETE": faults.replace(with: [])
        case "PUT":
            let text = String(decoding: request.body, as: UTF8.self)
            let lines = text.split(whereSeparator: \.isNewline).map(String.init)
            guard lines.count <= 100 else { return refusal(400, "there are at most 100 faults") }
            do throws(FaultError) {
                var read: [Fault] = []
                for line in lines { read.append(try Fault(line, vendors: names)) }
                faults.replace(with: read)
            } catch {
                return refusal(400, error.description)
            }
        default: return HTTPResponse(status: 405, headers: ["Allow": "GET, PUT, DELETE"])
        }
        let active: [JSONValue] = faults.active.map { fault, left in
            ["fault": .string(fault.description), "left": left.map { .integer(Int64($0)) } ?? .null]
        }
        return HTTPResponse(json: ["version": 1, "faults": .array(active)])
    }

    /// Returns the received requests, or clears them.
    private func received(_ request: SimulatedRequest, of vendor: String?) -> HTTPResponse {
        guard request.isLocal else {
            let reason: JSONObject = ["version": 1, "error": "the received requests are not for web pages"]
            return HTTPResponse(status: 403, json: .object(reason))
        }
        switch request.method {
        case "GET":
            let (requests, dropped) = recording.snapshot(of: vendor)
            return HTTPResponse(json: ReceivedDocument(requests: requests, dropped: dropped).json)
        case "DELETE":
            recording.clear(vendor)
            return HTTPResponse(status: 204)
        default: return HTTPResponse(status: 405, headers: ["Allow": "GET, DELETE"])
        }
    }

    /// Lists the vendors, with status 404 for an unknown path.
    private func index(_ request: SimulatedRequest) -> HTTPResponse {
        var vendors = JSONObject()
        for name in names { vendors[name] = .string("\(request.baseURL)/\(name)") }
        var document: JSONObject = ["version": 1, "vendors": .object(vendors)]
        guard request.path != "/" else { return HTTPResponse(json: .object(document)) }
        document["error"] = .string("no vendor is served under \(request.path)")
        return HTTPResponse(status: 404, json: .object(document))
    }
}
