// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ELFImage {
    /// The texts of the notes that carry a manifest.
    ///
    /// In the note segments, where linkers put note sections; and failing that in the section of that name, since a linker
    /// script or a compiler may place it elsewhere.
    package func manifestTexts() -> [[UInt8]] {
        var found: [[UInt8]] = []
        for segment in segments where segment.type == ELFConstant.note {
            appendNotes(from: segment.offset, size: segment.size, alignment: segment.alignment, to: &found)
        }
        guard found.isEmpty, let section = section(named: ManifestNote.section) else { return found }
        appendNotes(from: section.offset, size: section.size, alignment: section.alignment, to: &found)
        return found
    }

    /// Walks notes: three words (size of the name, size of the text, type), then both, each padded to the alignment.
    private func appendNotes(from offset: Int, size: Int, alignment: UInt64, to found: inout [[UInt8]]) {
        guard bytes.spans(offset, size) else { return }
        let alignment = alignment == 8 ? 8 : 4
        var position = 0
        while position <= size - 12 {
            guard let nameSize = bytes.integer(at: offset + position, as: UInt32.self),
                let textSize = bytes.integer(at: offset + position + 4, as: UInt32.self),
                let type = bytes.integer(at: offset + position + 8, as: UInt32.self)
            else { return }
            let text = padded(position + 12 + Int(nameSize), to: alignment)
            let end = text + Int(textSize)
            guard end <= size else { return }
            if type == ManifestNote.type, Int(nameSize) == ManifestNote.name.utf8.count + 1,
                bytes.hasText(ManifestNote.name.utf8Span.span, at: offset + position + 12),
                let copy = bytes.copy(at: offset + text, count: Int(textSize))
            {
                found.append(copy)
            }
            position = padded(end, to: alignment)
        }
    }

    private func padded(_ value: Int, to alignment: Int) -> Int {
        (value + alignment - 1) & ~(alignment - 1)
    }
}

/// How a manifest is marked in an image: see `connector/manifest.h`.
package enum ManifestNote {
    /// `CONNECTOR_NOTE_SECTION`
    package static let section = ".note.connector"
    /// `CONNECTOR_NOTE_NAME`
    package static let name = "connector"
    /// `CONNECTOR_NOTE_TYPE`
    package static let type: UInt32 = 1
}
