// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// Draws a chart as an SVG image with a text alternative.
struct ChartView: Sendable {
    private let component: Component

    /// The size of the image in user units; the page scales it.
    private static let size = (width: 320, height: 140)
    /// The plot area.
    private static let area = (left: 52, top: 8, right: 316, bottom: 116)

    /// Creates the view of a chart.
    init(_ component: Component) {
        self.component = component
    }

    /// Draws the image and a legend with the newest numbers.
    func figure() -> Markup {
        var markup = Markup()
        let most = Self.rounded(component.series.flatMap(\.values).filter(\.isFinite).max() ?? 0)
        markup.element("figure") { markup in
            markup.element(
                "svg",
                ("viewBox", "0 0 \(Self.size.width) \(Self.size.height)"),
                ("role", "img"),
                ("aria-label", summary)
            ) { markup in
                grid(most, &markup)
                for (index, series) in component.series.enumerated() { line(series, index, most, &markup) }
            }
            markup.element("figcaption") { markup in
                for (index, series) in component.series.enumerated() {
                    markup.element("span", ("class", "legend l\(index % 4)")) { markup in
                        markup.element(
                            "span",
                            ("class", "g-\(Escaping.className(series.style.name)) key"),
                            ("aria-hidden", "true"),
                            text: ""
                        )
                        markup.write("\(series.name) ")
                        markup.element("b", text: component.number(series.values.last ?? 0))
                    }
                }
            }
        }
        return markup
    }

    private var summary: String {
        let parts = component.series.map { series in
            let (now, most) = (component.number(series.values.last ?? 0), component.number(series.values.max() ?? 0))
            return "\(series.name): \(now) now, at most \(most)"
        }
        let title = component.title.isEmpty ? "Chart" : component.title
        return "\(title), \(span). " + parts.joined(separator: "; ")
    }

    /// The time that the chart covers.
    private var span: String {
        if let span = component.span { return "the last \(span)" }
        return "\(component.series.map(\.values.count).max() ?? 0) values"
    }

    private func grid(_ most: Double, _ markup: inout Markup) {
        let area = Self.area
        for step in 0...2 {
            let y = area.bottom - (area.bottom - area.top) * step / 2
            markup.element(
                "line",
                ("class", "grid"),
                ("x1", "\(area.left)"),
                ("x2", "\(area.right)"),
                ("y1", "\(y)"),
                ("y2", "\(y)"),
                text: ""
            )
            markup.element(
                "text",
                ("x", "\(area.left - 6)"),
                ("y", "\(y + 4)"),
                ("text-anchor", "end"),
                text: component.number(most * Double(step) / 2)
            )
        }
        markup.element("text", ("x", "\(area.left)"), ("y", "\(Self.size.height - 4)"), text: "\(span)")
        markup.element(
            "text",
            ("x", "\(area.right)"),
            ("y", "\(Self.size.height - 4)"),
            ("text-anchor", "end"),
            text: "now"
        )
    }

    private func line(_ series: Component.Series, _ index: Int, _ most: Double, _ markup: inout Markup) {
        let area = Self.area
        let values = ChartModel.resampled(series.values, to: area.right - area.left)
        guard values.count > 1 else { return }
        var path = ""
        for (index, value) in values.enumerated() {
            let x = area.left + (area.right - area.left) * index / (values.count - 1)
            let share = value.isFinite && most > 0 ? min(max(0, value / most), 1) : 0
            let y = Int((Double(area.bottom - area.top) * (1 - share) * 10).rounded()) + area.top * 10
            path += "\(index == 0 ? "M" : "L")\(x) \(y / 10)\(y % 10 == 0 ? "" : ".\(y % 10)")"
        }
        let style = Escaping.className(series.style.name)
        if index == 0 {
            let floor = "L\(area.right) \(area.bottom)L\(area.left) \(area.bottom)Z"
            markup.element("path", ("class", "area g-\(style)"), ("d", path + floor), text: "")
        }
        markup.element("path", ("class", "line l\(index % 4) g-\(style)"), ("d", path), text: "")
    }

    /// The top of the axis: the value, rounded up to 1, 2 or 5 times a power of ten.
    private static func rounded(_ most: Double) -> Double {
        guard most > 0, most.isFinite else { return 1 }
        var step = 0.001
        while step < most, step < 1e15 {
            for factor in [1.0, 2, 5] where step * factor >= most { return step * factor }
            step *= 10
        }
        return step
    }
}
