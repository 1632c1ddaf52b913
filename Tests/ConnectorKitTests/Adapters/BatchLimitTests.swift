// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import amplitude
@testable internal import bugsnag
@testable internal import clickhouse
@testable internal import connector_manifest
@testable internal import ga4
@testable internal import influxdb
@testable internal import matomo
@testable internal import mixpanel
@testable internal import posthog
@testable internal import pushgateway
@testable internal import rollbar
@testable internal import segment
@testable internal import sentry
@testable internal import victoriametrics

/// What the manifests say about batches.
@Suite struct BatchLimitTests {
    @Test(arguments: [
        ("segment", SegmentRequests.limits), ("posthog", PostHogRequests.limits), ("influxdb", InfluxDBRequests.limits),
        ("sentry", SentryRequests.limits), ("bugsnag", BugsnagRequests.limits),
        ("pushgateway", PushgatewayRequests.limits), ("victoriametrics", VictoriaMetricsRequests.limits),
        ("clickhouse", ClickHouseRequests.limits), ("amplitude", AmplitudeRequests.limits),
        ("mixpanel", MixpanelRequests.limits), ("ga4", GA4Requests.limits), ("rollbar", RollbarRequests.limits),
        ("matomo", MatomoRequests.limits),
    ])
    func `a manifest states the limits that its adapter keeps`(_ adapter: String, _ limits: BatchDelivery) throws {
        let root = String(#filePath.prefix(upTo: try #require(#filePath.firstRange(of: "/Tests/")).lowerBound))
        let text = try TextFile.read("\(root)/Plugins/\(adapter)/\(adapter).connector.json")
        let batch = try #require(try JSONValue(parsing: text)["batch"])
        #expect(batch["count"]?.integer == Int64(limits.batchCount))
        #expect(batch["bytes"]?.integer == Int64(limits.batchBytes))
    }
}
