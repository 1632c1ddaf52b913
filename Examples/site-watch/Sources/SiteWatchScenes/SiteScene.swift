// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import ConnectorHost
internal import SiteWatchModel

/// One site: its picture, a chart of each sensor, and a form for the bounds.
struct SiteScene {
    let watch: SiteWatch
    /// The site's picture, and whether it has been looked for.
    let pictures: Pictures

    /// - Returns: Nil if there is no such site.
    func scene(_ name: String, _ context: SceneContext) -> Scene? {
        guard let site = watch.site(name) else { return nil }
        var components = [picture(of: name, context), values(of: site, context)]
        for measure in site.measures {
            let values = measure.readings.compactMap(\.value)
            let chart = ChartModel(
                [Component.Series(measure.name, measure.isOutside ? .bad : .good, values)],
                unit: measure.unit
            )
            components.append(context.component("chart \(measure.id)", title: measure.name, chart))
        }
        if !site.measures.isEmpty { components.append(bounds(of: site, context)) }
        return Scene(context.route, name, components)
    }

    private func values(of site: SiteState, _ context: SceneContext) -> Component {
        let rows = site.measures.map { measure in
            Row(
                measure.id,
                [
                    StyledText(measure.name),
                    StyledText(measure.text, measure.isOutside ? .bad : .good),
                    StyledText("\(measure.bounds)", .muted),
                    StyledText(measure.latest.map { "\($0.time)" } ?? "", .muted),
                ]
            )
        }
        let columns = ["sensor", "value", "bounds", "measured"].map { Component.Column($0) }
        return context.component("values", title: "Now", TableModel(columns, rows), rows.isEmpty ? .loading : .loaded)
    }

    private func picture(of site: String, _ context: SceneContext) -> Component {
        switch pictures[site] {
        case nil: context.component("picture", LogModel.self, .loading)
        case .found(let text)?:
            context.component("picture", LogModel(text.split(separator: "\n").map { StyledText(String($0)) }))
        case .missing?: context.component("picture", LogModel.self, .empty("no picture"))
        case .failed(let reason)?: context.component("picture", LogModel.self, .failed(reason))
        }
    }

    private func bounds(of site: SiteState, _ context: SceneContext) -> Component {
        var names: [String] = []
        for measure in site.measures where !names.contains(measure.name) { names.append(measure.name) }
        return context.form(
            "bounds",
            title: "Bounds, at every site",
            button: "Keep",
            fields: [
                FormField("sensor", .choice(names), isRequired: true, value: names.first ?? ""),
                FormField("low", .number, help: "empty for none"), FormField("high", .number, help: "empty for none"),
            ]
        ) { [watch] values in
            let bounds = Bounds(low: values.number("low"), high: values.number("high"))
            if let low = bounds.low, let high = bounds.high, low > high {
                throw FormFault(["high": "high is below low"])
            }
            try await watch.setBounds(bounds, of: values["sensor"])
            return "\(values["sensor"]) should be \(bounds)"
        }
    }
}
