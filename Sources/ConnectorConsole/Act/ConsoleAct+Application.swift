// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The closure that the application bound to an act; it gets the values of the form, or none for a button.
typealias ActHandler = @Sendable (FormValues) async throws -> ActOutcome

extension ConsoleAct {
    /// Creates an act of the application, performed by a handler of the scene at a route.
    init(application id: String, at route: Route, _ label: String, title: String?, question: String?) {
        self.init(
            Verb(rawValue: label),
            Subject(kind: .application(id, at: route, .none)),
            title: title ?? label,
            question: question
        )
    }

    /// The act with the values of a form.
    func with(_ values: FormValues) -> ConsoleAct {
        guard case .application(let id, let route, _) = subject.kind else { return self }
        let subject = Subject(kind: .application(id, at: route, values))
        var act = ConsoleAct(verb, subject, title: title, question: question, commandLine: commandLine)
        (act.menu, act.shortcut) = (menu, shortcut)
        return act
    }
}
