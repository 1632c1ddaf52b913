// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The application: notes by their titles.
public final class NoteStore: Sendable {
    private let notes = Mutex<[String: String]>([:])

    /// Creates a store.
    public init(_ notes: [String: String] = [:]) {
        self.notes.withLock { $0 = notes }
    }

    /// The titles in order.
    public var titles: [String] { notes.withLock { $0.keys.sorted() } }

    /// The text of a note; nil if there is none.
    public subscript(title: String) -> String? {
        get { notes.withLock { $0[title] } }
        set { notes.withLock { $0[title] = newValue } }
    }
}
