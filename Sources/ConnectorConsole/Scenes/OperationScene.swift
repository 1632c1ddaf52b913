// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// One operation of a gate: its description, the form that calls it, and the result of the last call.
enum OperationScene {
    static func scene(_ context: SceneContext) -> Scene? {
        let (path, name) = (context.route.parts[1], context.route.parts[2])
        let snapshot = context.snapshot
        guard let (capability, operation) = snapshot.capabilities[path]?.operation(named: name) else { return nil }
        var details = DetailsModel()
        details.add("gate", StyledText(path, .link), link: .gate(path))
        details.add("capability", "\("\(capability.id)")")
        details.add("signature", "\(operation.signature.description)")
        details.add("description", StyledText(operation.documentation(in: capability)))
        details.add("delivery", operation.isDelivered ? "through the outbox" : nil)
        let command = snapshot.commands.call(path, name, [], isDelivered: operation.isDelivered)
        details.add("command line", StyledText(command, .muted))
        let form = SceneForm(
            operation,
            named: name,
            of: capability.id,
            at: path,
            commands: snapshot.commands
        )
        var components = [
            context.component("operation", details),
            context.component("form", title: operation.isDelivered ? "Send" : "Call", form),
        ]
        if let call = snapshot.calls[context.route] { components += Self.components(of: call, context) }
        var scene = Scene(context.route, name, components)
        scene.commandLine = command
        return scene
    }

    // MARK: Last call

    private static func components(of call: ConsoleCall, _ context: SceneContext) -> [Component] {
        var components: [Component] = []
        if !call.progress.isEmpty {
            let log = LogModel(call.progress.map { StyledText($0) }, from: call.droppedProgress)
            components.append(context.component("progress", title: "Progress", log))
        }
        var details = DetailsModel()
        details.add("at", "\("\(call.began)")")
        details.add("took", call.duration.map { StyledText($0.brief) })
        var lines: [StyledText] = []
        switch call.outcome {
        case nil: details.add("result", StyledText("pending", .muted))
        case .answer(let answer, let omitted):
            details.add("result", StyledText(answer.isEmpty ? "done, without an answer" : "done", .good))
            lines = answer.map { StyledText($0) }
            if omitted > 0 { lines.append(StyledText("and \(omitted) more lines", .muted)) }
        case .stored(let id, let connectors, let outcomes):
            details.add("result", StyledText(connectors.isEmpty ? "delivered" : "stored", .good))
            details.add("event", StyledText(id, .link), link: connectors.isEmpty ? nil : .event(id))
            for connector in connectors {
                let cells = [StyledText("to", .muted), StyledText(connector, .link)]
                details.rows.append(Row("to \(connector)", cells, link: .gate(connector)))
            }
            for outcome in outcomes { details.add(outcome) }
        case .failure(let error):
            details.add(error, .bad)
            for outcome in error.outcomes { details.add(outcome) }
        }
        details.add("command line", call.act.commandLine.map { StyledText($0.excerpt(of: 500), .muted) })
        components.append(context.component("result", title: "Last call", details))
        if !lines.isEmpty { components.append(context.component("answer", title: "Answer", TextModel(lines))) }
        return components
    }
}

extension DetailsModel {
    /// Adds the outcome of a call at one connector.
    fileprivate mutating func add(_ outcome: CallOutcome) {
        let text = outcome.error?.line ?? StyledText("done", .good)
        rows.append(
            Row(
                "at \(outcome.connector)",
                [StyledText("at \(outcome.connector)", .muted), text],
                link: .gate(outcome.connector)
            )
        )
    }
}
