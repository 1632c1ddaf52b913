// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// One operation of a gate: what it does, what it takes, and how it is called.
enum OperationScene {
    static func scene(_ context: SceneContext) -> Scene? {
        let (path, name) = (context.route.parts[1], context.route.parts[2])
        let found = (context.snapshot.capabilities[path] ?? []).lazy.compactMap { capability in
            capability.operations.first { $0.name == name }.map { (capability, $0) }
        }.first
        guard let (capability, operation) = found else { return nil }
        let standard = CapabilityDefinition.standard(capability.id)?.operations.first { $0.name == name }
        let documentation = operation.documentation.isEmpty ? standard?.documentation ?? "" : operation.documentation
        var details = DetailsModel()
        details.add("gate", StyledText(path, .link), link: .gate(path))
        details.add("capability", "\("\(capability.id)")")
        details.add("signature", "\(operation.signature.description)")
        details.add("meaning", StyledText(documentation))
        details.add("delivery", operation.isDelivered ? "through the outbox" : nil)
        var form = FormModel()
        for parameter in operation.signature.parameters where parameter.direction == .in {
            form.add(parameter.name, value: "", takes: "\(parameter.type)")
        }
        var components = [context.component("operation", details)]
        if !form.rows.isEmpty { components.append(context.component("parameters", title: "Takes", form)) }
        let command = context.snapshot.commands.command("call", path, name, takesSimulation: true)
        components.append(
            context.component(
                "call",
                title: "Call it",
                NoticeModel(StyledText(command), StyledText("with its parameters as NAME=VALUE", .muted))
            )
        )
        var scene = Scene(context.route, name, components)
        scene.commandLine = command
        return scene
    }
}
