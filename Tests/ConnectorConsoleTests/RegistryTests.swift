// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsole

/// What applications register and replace.
@Suite
struct RegistryTests {
    /// A model of an application's own.
    private struct Gauge: Sendable { var level: Int }

    @Test func `an application registers a component and a scene of its own`() {
        var registry = ConsoleRegistry.standard
        registry.register(
            ComponentDescriptor<Gauge>("tank.gauge", as: .details) { gauge, component in
                component.rows = [Row("level", ["level", StyledText("\(gauge.level)", .good)])]
            }
        )
        registry.register(
            SceneDescriptor("tank", title: "Tank") { context in
                Scene(context.route, "Tank", [context.component("gauge", Gauge(level: 7))])
            }
        )
        let scene = registry.scene(for: Route(["tank", "left"]), of: Mock.snapshot())
        #expect(scene.route == Route("/tank/left"))
        #expect(scene.components[0].kind == "tank.gauge" && scene.text.contains("level | 7"))
        #expect(registry.scenes.last?.title == "Tank")
    }

    @Test func `a scene and a component of the host can be replaced`() {
        var registry = ConsoleRegistry.standard
        let count = registry.scenes.count
        registry.register(SceneDescriptor("gates", title: "Mine") { Scene($0.route, "Mine", []) })
        registry.register(ComponentDescriptor<NoticeModel>("mine", as: .log) { _, _ in })
        #expect(registry.scenes.count == count && registry.scenes[0].title == "Mine")
        #expect(registry.component("a", NoticeModel("text")).kind == "mine")
    }

    @Test func `a model without a component is reported, and does not trap`() {
        let component = ConsoleRegistry.standard.component("gauge", Gauge(level: 7))
        #expect(component.rows[0].cells[0].text == "no component is registered for Gauge")
    }
}
