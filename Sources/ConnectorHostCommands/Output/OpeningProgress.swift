// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// A progress line on the terminal with the gates that are still opening, shown after one second.
struct OpeningProgress {
    /// Watches the reports and writes the line.
    private let task: Task<Void, Never>

    /// The delay before the line appears.
    private static let delay: Duration = .seconds(1)

    /// Starts watching; nil if standard error is not a terminal or shows no colors.
    static func show(of host: ConnectorHost) -> OpeningProgress? {
        guard StandardStream.error.isTerminal else { return nil }
        let style = TextStyle.detected(for: .error)
        guard style.isColoured else { return nil }
        return OpeningProgress(
            task: Task {
                guard (try? await Task.sleep(for: delay)) != nil else { return }
                for await report in host.reports where !Task.isCancelled {
                    // Without DECAWM the terminal cuts the line at its edge; the start of a wrapped line would stay.
                    StandardStream.error.write("\r\u{1B}[K\u{1B}[?7l" + line(report, style) + "\u{1B}[?7h")
                }
                StandardStream.error.write("\r\u{1B}[K")
            }
        )
    }

    /// Removes the line.
    func end() async {
        task.cancel()
        await task.value
    }

    private static func line(_ report: Report, _ style: TextStyle) -> String {
        let waiting = report.gates.filter { $0.policy == nil && $0.state == .opening }.map(\.path)
        guard !waiting.isEmpty else { return "" }
        let named = waiting.prefix(3).joined(separator: ", ") + (waiting.count > 3 ? ", …" : "")
        return style.paint(style.shown("waiting for \(waiting.count): \(named)"), .faint)
    }
}
