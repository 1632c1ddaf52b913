// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// One line on the terminal that names the gates still opening, if that takes longer than a moment.
struct OpeningProgress {
    /// Watches the reports and writes the line.
    private let task: Task<Void, Never>

    /// How long to wait before the first line.
    private static let patience: Duration = .seconds(1)

    /// Starts watching; nil if standard error is not a terminal.
    static func show(of host: ConnectorHost) -> OpeningProgress? {
        guard StandardStream.error.isTerminal else { return nil }
        let style = TextStyle.detected(for: .error)
        guard style.isColoured else { return nil }
        return OpeningProgress(
            task: Task {
                guard (try? await Task.sleep(for: patience)) != nil else { return }
                for await report in host.reports where !Task.isCancelled {
                    StandardStream.error.write("\r\u{1B}[K" + line(report, style))
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
