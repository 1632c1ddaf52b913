// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorSimulator
internal import Testing

@testable internal import amplitude
@testable internal import bugsnag
@testable internal import clickhouse
@testable internal import datasette
@testable internal import ga4
@testable internal import google
@testable internal import influxdb
@testable internal import kinto
@testable internal import matomo
@testable internal import mixpanel
@testable internal import nominatim
@testable internal import opencage
@testable internal import parse
@testable internal import photon
@testable internal import postgrest
@testable internal import posthog
@testable internal import pushgateway
@testable internal import rollbar
@testable internal import s3
@testable internal import segment
@testable internal import sentry
@testable internal import victoriametrics
@testable internal import webdav

/// One operation of one adapter, against the simulated vendor.
struct AdapterExercise: Sendable, CustomTestStringConvertible {
    /// What an adapter says that the vendor did.
    enum Claim: Sendable {
        case evidence([Evidence])
        case deliveries([DeliveryAnswer])
        case result
    }

    var vendor: String
    var name: String
    /// Prepares what the operation needs, and returns the operation itself.
    var prepare: @Sendable (any Plugin) async throws -> @Sendable () async throws -> Claim

    var testDescription: String { "\(vendor): \(name)" }

    /// Every operation of every adapter.
    static let all: [AdapterExercise] =
        adapters.keys.sorted().flatMap { [opening(of: $0), probing(of: $0)] }
        + ["segment", "posthog", "influxdb", "pushgateway", "victoriametrics", "clickhouse"].map(events)
        + ["amplitude", "mixpanel", "ga4", "matomo"].map(events)
        + ["sentry", "bugsnag", "rollbar"].map(reports)
        + ["parse", "kinto", "postgrest", "datasette"].flatMap(records)
        + ["nominatim", "photon", "google", "opencage"].flatMap(places)
        + ["webdav", "s3"].flatMap(files)

    /// Whether the answer to a question may fail or be false while another answer still proves something: questions whether
    /// wrong credentials are refused, for Segment's settings, and for what earlier uploads have left at a WebDAV server.
    func isExtra(_ question: SimulatedHTTP.Question) -> Bool {
        guard name == "open" || name == "probe" else { return false }
        return question.method == .post && question.number == 1 && vendor != "posthog"
            || vendor == "segment" && question.method == .get
            || ["google", "opencage", "webdav", "s3", "pushgateway", "postgrest"].contains(vendor)
                && question.number == 1
            || isBeside(question)
    }

    /// Whether the evidence does not depend on a question: that for what earlier uploads have left at a WebDAV server.
    func isBeside(_ question: SimulatedHTTP.Question) -> Bool {
        vendor == "webdav" && (name == "open" || name == "probe") && question.number == 2
    }

    /// Whether the adapter asks the vendor whether an operation has taken effect, if the answer to it is none.
    func isConfirmed(_ question: SimulatedHTTP.Question) -> Bool { vendor == "webdav" && question.method == .move }

    /// Whether the operation has taken effect before a question: Parse's `update` reads the record that it has changed.
    func hasTakenEffect(before question: SimulatedHTTP.Question) -> Bool {
        vendor == "parse" && name == "update" && question.method == .get
    }

    /// Whether the vendor itself may answer like this: a 2xx of Bugsnag and of Google Analytics has no body, nor has the answer
    /// to a push to a Pushgateway, of some WebDAV servers to a change of properties or, of servers that take Sentry's envelopes, to
    /// an envelope without items.
    func isTrue(_ answer: FalseAnswer, to question: SimulatedHTTP.Question) -> Bool {
        switch answer {
        case .empty:
            vendor == "bugsnag" || vendor == "sentry" && name != "deliver" || vendor == "ga4" && name == "deliver"
                || vendor == "pushgateway" && question.method == .post
                || vendor == "webdav" && question.method == .proppatch
        case .noContent:
            vendor == "bugsnag" || vendor == "ga4" && name == "deliver"
                || vendor == "webdav" && [.put, .copy, .move, .delete, .proppatch].contains(question.method)
        case .gateway, .wordless, .tls: !Self.blaming.contains(vendor) || vendor == "posthog" && name != "deliver"
        // Photon's older servers answer 404 to a request for their status.
        case .nowhere: !Self.reporting.contains(vendor) || vendor == "photon" && (name == "open" || name == "probe")
        default: false
        }
    }

    /// The vendors whose 404 tells what is missing.
    private static let reporting = [
        "parse", "kinto", "postgrest", "datasette", "nominatim", "photon", "google", "opencage",
    ]

    /// The vendors that take events. PostHog's servers without feature flags answer 400 to a request for them.
    private static let blaming = [
        "segment", "posthog", "influxdb", "clickhouse", "amplitude", "mixpanel", "ga4", "matomo", "sentry", "bugsnag",
        "rollbar", "pushgateway", "victoriametrics",
    ]

    // MARK: Adapters

    private static let adapters: [String: @Sendable (PluginConfiguration, Host) throws -> any Plugin] = [
        "segment": { try Segment(configuration: $0, host: $1) },
        "posthog": { try PostHog(configuration: $0, host: $1) },
        "influxdb": { try InfluxDB(configuration: $0, host: $1) },
        "pushgateway": { try Pushgateway(configuration: $0, host: $1) },
        "amplitude": { try Amplitude(configuration: $0, host: $1) },
        "ga4": { try GA4(configuration: $0, host: $1) },
        "rollbar": { try Rollbar(configuration: $0, host: $1) },
        "mixpanel": { try Mixpanel(configuration: $0, host: $1) },
        "matomo": { try Matomo(configuration: $0, host: $1) },
        "clickhouse": { try ClickHouse(configuration: $0, host: $1) },
        "victoriametrics": { try VictoriaMetrics(configuration: $0, host: $1) },
        "sentry": { try Sentry(configuration: $0, host: $1) },
        "bugsnag": { try Bugsnag(configuration: $0, host: $1) },
        "parse": { try Parse(configuration: $0, host: $1, launches: ParseLaunches()) },
        "kinto": { try Kinto(configuration: $0, host: $1) },
        "postgrest": { try PostgREST(configuration: $0, host: $1) },
        "datasette": { try Datasette(configuration: $0, host: $1) },
        "nominatim": { try Nominatim(configuration: $0, host: $1) },
        "photon": { try Photon(configuration: $0, host: $1) }, "google": { try Google(configuration: $0, host: $1) },
        "opencage": { try OpenCage(configuration: $0, host: $1) },
        "webdav": { try WebDAV(configuration: $0, host: $1) }, "s3": { try S3(configuration: $0, host: $1) },
    ]

    /// The adapter, and what it talks to.
    ///
    /// - Parameter between: What stands between them, if anything does.
    func adapter(
        between: (SimulatedHTTP) -> any HTTPService = { $0 }
    ) throws -> (plugin: any Plugin, http: SimulatedHTTP) {
        let type = try #require(VendorCatalogue.types.first { $0.name == vendor })
        var texts = type.configuration(baseURL: "http://vendor.example")
        if vendor == "influxdb" { texts.merge(["username": "ada", "password": "right"]) { $1 } }
        let http = try SimulatedHTTP(vendor, configuration: texts, isAccepted: vendor == "influxdb")
        var fields: JSONObject = [
            "environment": "test", "groupType": "company", "requestsPerSecond": 1, "cacheSize": 9, "launch": [:],
            "region": "us-east-1", "virtualHost": false, "minIdLength": 1, "groupKey": "company",
            "validate": false, "platform": "linux", "idColumn": "id",
        ]
        for (name, text) in texts { fields[name] = .string(text) }
        let make = try #require(Self.adapters[vendor])
        return (try make(PluginConfiguration(fields), Host(http: between(http), clock: StoppedClock())), http)
    }

    // MARK: Operations

    private static func opening(of vendor: String) -> Self {
        Self(vendor: vendor, name: "open") { plugin in { .evidence(try await plugin.open()) } }
    }

    private static func probing(of vendor: String) -> Self {
        Self(vendor: vendor, name: "probe") { plugin in
            _ = try await plugin.open()
            return { .evidence(try await plugin.probe()) }
        }
    }

    private static func events(_ vendor: String) -> Self {
        Self(vendor: vendor, name: "deliver") { plugin in
            let adapter = try #require(plugin as? any AnalyticsPlugin)
            // Some learn from the vendor how to send events.
            _ = try await adapter.open()
            return { .deliveries(try await adapter.deliver([.track("a", userId: "u"), .track("b", userId: "u")])) }
        }
    }

    private static func reports(_ vendor: String) -> Self {
        Self(vendor: vendor, name: "deliver") { plugin in
            let adapter = try #require(plugin as? any CrashPlugin)
            return { .deliveries(try await adapter.deliver([CrashReport(level: .error, message: "m")])) }
        }
    }

    private static func records(_ vendor: String) -> [Self] {
        func exercise(
            _ name: String,
            _ operation: @escaping @Sendable (any DatabasePlugin, String) async throws -> Void
        ) -> Self {
            Self(vendor: vendor, name: name) { plugin in
                let adapter = try #require(plugin as? any DatabasePlugin)
                let id = try await adapter.create(["a": 1], in: "Things", id: nil).id
                return {
                    try await operation(adapter, id)
                    return .result
                }
            }
        }
        return [
            exercise("create") { adapter, _ in _ = try await adapter.create(["a": 2], in: "Things", id: nil) },
            exercise("create the first") { adapter, _ in _ = try await adapter.create(["a": 2], in: "News", id: nil) },
            exercise("get") { adapter, id in _ = try await adapter.get(id, in: "Things") },
            exercise("replace") { adapter, id in
                _ = try await adapter.replace(id, with: ["b": 1], in: "Things", version: nil)
            },
            exercise("update") { adapter, id in
                _ = try await adapter.update(id, with: ["b": 1], in: "Things", version: nil)
            },
            exercise("delete") { adapter, id in try await adapter.delete(id, in: "Things", version: nil) },
            exercise("query") { adapter, _ in _ = try await adapter.query(DatabaseQuery(), in: "Things") },
        ]
    }

    private static func files(_ vendor: String) -> [Self] {
        func exercise(
            _ name: String,
            _ operation: @escaping @Sendable (any FilesPlugin) async throws -> Void
        ) -> Self {
            Self(vendor: vendor, name: name) { plugin in
                let adapter = try #require(plugin as? any FilesPlugin)
                for path in ["a", "b/c"] {
                    let upload = try await adapter.createUpload(FileUploadRequest(path))
                    try await adapter.uploadPart([1, 2, 3], of: upload.id, at: 0)
                    _ = try await adapter.completeUpload(upload.id, size: 3, digest: nil)
                }
                return {
                    try await operation(adapter)
                    return .result
                }
            }
        }
        return [
            exercise("head") { adapter in _ = try await adapter.head("a") },
            exercise("list") { adapter in
                _ = try await adapter.list(prefix: "", after: "", limit: 9)
            },
            exercise("get") { adapter in
                _ = try await adapter.get("a", from: 1, count: 9, tag: nil)
            },
            exercise("copy") { adapter in _ = try await adapter.copy("a", to: "d") },
            exercise("remove") { adapter in try await adapter.remove("a") },
        ]
    }

    private static func places(_ vendor: String) -> [Self] {
        func exercise(
            _ name: String,
            _ operation: @escaping @Sendable (any GeocoderPlugin) async throws -> [Place]
        ) -> Self {
            Self(vendor: vendor, name: name) { plugin in
                let adapter = try #require(plugin as? any GeocoderPlugin)
                return {
                    try #require(try await operation(adapter).isEmpty == false)
                    return .result
                }
            }
        }
        return [
            exercise("geocode") { try await $0.geocode(GeocodeRequest(.text("Berlin"))) },
            exercise("reverse") { adapter in
                let point = try #require(Coordinate(latitude: 52.5163, longitude: 13.3777))
                return try await adapter.reverse(ReverseRequest(point))
            },
        ]
    }
}
