// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorManifest

/// Scenes that manifests describe.
@Suite struct ManifestSceneTests {
    /// A manifest with one scene, `now`, whose only component has some members.
    private func read(_ component: String) -> (manifest: Manifest?, problems: [ConnectorError]) {
        read(scenes: #"{"now": {"title": "Now", "components": {"main": \#(component)}}}"#)
    }

    private func read(scenes: String) -> (manifest: Manifest?, problems: [ConnectorError]) {
        let text = #"""
            {"manifest": 1, "id": "meter", "version": "1.0.0", "abi": [1, 1], "entry": "e",
             "capabilities": {"sensor/1": {}, "analytics/1": ["track"], "database/1": ["get", "delete"]},
             "scenes": \#(scenes)}
            """#
        return Manifest.read(Array(text.utf8), file: "m.json")
    }

    @Test func `a scene is read with its components`() throws {
        let (manifest, problems) = read(
            #"""
            {"title": "All", "as": "chart", "operation": "latest", "arguments": {"sensor": "a"}, "every": "2s",
             "rows": "found.all", "columns": [{"value": "place.name"}, {"title": "value", "value": "v", "number": true}]}
            """#
        )
        #expect(problems.isEmpty)
        let scene = try #require(manifest?.scenes.first)
        #expect(scene.name == "now" && scene.title == "Now")
        let component = try #require(scene.components.first)
        #expect(component.id == "main" && component.shape == .chart && component.interval == .seconds(2))
        #expect(
            component.operation == "latest" && component.arguments["sensor"] == "a"
                && component.rows == ["found", "all"]
        )
        #expect(component.columns.map(\.title) == ["place.name", "value"] && component.columns[1].isNumber)
    }

    @Test func `members that are left out have defaults`() throws {
        let component = try #require(read(#"{"events": ["sensor-readings"]}"#).manifest?.scenes.first?.components.first)
        #expect(
            component.shape == .table && component.title.isEmpty && component.columns.isEmpty && component.rows.isEmpty
        )
        #expect(read(#"{"operation": "latest"}"#).manifest?.scenes[0].components[0].interval == .seconds(5))
        #expect(read(scenes: "{}").problems.isEmpty)
    }

    @Test(
        arguments: [
            (#"{}"#, "must have either an"), (#"{"operation": "latest", "events": ["a"]}"#, "must have either an"),
            (#"{"events": []}"#, "must name events"), (#"{"events": ["a"], "every": "5s"}"#, "every belongs to an"),
            (#"{"operation": "newest"}"#, "no operation \"newest\""), (#"{"operation": "track"}"#, "sends something"),
            (#"{"operation": "delete"}"#, "loses something"), (#"{"operation": "get"}"#, "needs the argument"),
            (#"{"operation": "latest", "arguments": {"sensr": "a"}}"#, "unknown key \"sensr\""),
            (#"{"operation": "latest", "every": "1ms"}"#, "it must be from"),
            (#"{"operation": "latest", "every": 5}"#, "must be a string"),
            (#"{"operation": "latest", "as": "pie"}"#, "it must be one of"),
            (#"{"operation": "latest", "as": "chart"}"#, "needs a column"),
            (#"{"operation": "latest", "as": "details"}"#, "which need"),
            (#"{"operation": "latest", "rows": "a..b"}"#, "names of members"),
            (#"{"operation": "latest", "columns": [{"title": "a"}]}"#, "value"),
            (#"{"operation": "latest", "columns": ["a"]}"#, "must be an object"),
            (#"{"operation": "latest", "title": "a\nb"}"#, "in one line"),
            (#"{"operation": "latest", "titel": "a"}"#, "unknown key \"titel\""), (#"7"#, "must be an object"),
        ]
    )
    func `each fault of a scene is reported with its line and column`(_ component: String, _ part: String) throws {
        let problem = try #require(read(component).problems.first, "\(component)")
        #expect(problem.message.contains(part), "\(problem)")
        #expect(problem.code == .invalidManifest && problem.position.map { $0.line == 3 && $0.column > 1 } == true)
    }

    @Test func `the names and the numbers of scenes and components are checked`() {
        #expect(
            read(scenes: #"{"Now!": {"components": {"a": {"events": ["a"]}}}}"#).problems.first?.message.contains(
                "Now!"
            ) == true
        )
        #expect(
            read(scenes: #"{"now": {"components": {}}}"#).problems.first?.message.contains("must have a component")
                == true
        )
        let many = (0..<20).map { #""s\#($0)": {"components": {"a": {"events": ["a"]}}}"# }.joined(separator: ",")
        #expect(read(scenes: "{\(many)}").problems.first?.message.contains("20 scenes are more than 8") == true)
    }
}
