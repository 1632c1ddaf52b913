// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The answers that timelines put before the vendors' own until their entries end.
final class AnswerOverlays: Sendable {
    private struct Overlay {
        var number: Int
        var vendor: String
        var answers: RecordedVendor
    }

    /// The overlays; the newest is last, and takes precedence.
    private let overlays = Mutex<[Overlay]>([])

    /// Adds answers; they replace those with the same number.
    func begin(_ answers: RecordedAnswers, of vendor: String, number: Int) {
        overlays.withLock { overlays in
            overlays.removeAll { $0.number == number }
            overlays.append(Overlay(number: number, vendor: vendor, answers: RecordedVendor(answers)))
        }
    }

    /// Removes answers.
    func end(_ number: Int) {
        overlays.withLock { $0.removeAll { $0.number == number } }
    }

    /// The answer to a request; nil if no overlay has one.
    func exchange(for request: SimulatedRequest, of vendor: String) -> SimulatedExchange? {
        let found = overlays.withLock { overlays in overlays.filter { $0.vendor == vendor }.map(\.answers) }
        for answers in found.reversed() {
            if let exchange = answers.recorded(for: request) { return exchange }
        }
        return nil
    }
}
