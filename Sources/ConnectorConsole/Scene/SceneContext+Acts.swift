// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension SceneContext {
    /// An act of the application, for a button of the scene or of a row.
    ///
    /// ```swift
    /// row.acts = [context.act("remove \(site.id)", "remove", question: "Remove it?") { try await sites.remove(site.id) }]
    /// ```
    ///
    /// - Parameters:
    ///   - id: Unique in the scene, and the same each time that the scene is made.
    ///   - label: The short label of the button.
    ///   - title: The text that the operator reads while it runs and when it fails; nil for the label.
    ///   - question: The question that confirms an act which loses data; nil if it loses nothing.
    ///   - perform: Called off the drawing thread, at most once at a time; may take long, and may be cancelled. Returns a sentence for
    ///     the operator. Errors that it throws are shown.
    public func act(
        _ id: String,
        _ label: String,
        title: String? = nil,
        question: String? = nil,
        perform: @escaping @Sendable () async throws -> ActOutcome
    ) -> ConsoleAct {
        handlers.add(id) { _ in try await perform() }
        return ConsoleAct(application: id, at: route, label, title: title, question: question)
    }

    /// The same acts as entries of a menu.
    public func menu(_ title: String, _ acts: [ConsoleAct]) -> [ConsoleAct] {
        acts.map { act in
            var act = act
            act.menu = title
            return act
        }
    }

    /// A component with a button for each act.
    public func buttons(_ id: String, title: String = "", _ acts: [ConsoleAct]) -> Component {
        component(id, title: title, ButtonsModel(acts))
    }

    /// A form of the application.
    ///
    /// - Parameters:
    ///   - id: Unique among the components and acts of the scene.
    ///   - button: The label of the button that submits it.
    ///   - question: The question that confirms an act which loses data; nil if it loses nothing.
    ///   - perform: Called like the closure of an act. It may throw a ``FormFault``, whose messages are shown at their fields.
    public func form(
        _ id: String,
        title: String = "",
        button: String,
        fields: [FormField],
        question: String? = nil,
        perform: @escaping @Sendable (FormValues) async throws -> ActOutcome
    ) -> Component {
        handlers.add(id, perform)
        let name = title.isEmpty ? button : title
        let act = ConsoleAct(application: id, at: route, button, title: name, question: question)
        return component(id, title: title, SceneForm(act, fields: fields))
    }

    /// A component in which other scenes are mounted; they take its place.
    ///
    /// ```swift
    /// context.slot(
    ///     Slot("detail", .tabs),
    ///     [Slot.Entry("Now", Route(SiteRoute.now(id))), Slot.Entry("History", Route(SiteRoute.history(id)))]
    /// )
    /// ```
    ///
    /// A route selects what a slot shows, so the selection has a URL and a way back. An entry's link may be a route of the scene
    /// that has the slot; that scene then derives `selected` from its own route.
    ///
    /// - Parameters:
    ///   - title: The title above the scenes; empty for their own titles.
    ///   - selected: The index of the entry that tabs show; nil for the first.
    public func slot(_ slot: Slot, title: String = "", _ entries: [Slot.Entry], selected: Int? = nil) -> Component {
        var component = Component(id: slot.name, kind: "slot", shape: .notice, title: title)
        component.slot = MountedSlot(slot: slot, entries: entries, selected: selected ?? 0)
        return component
    }
}
