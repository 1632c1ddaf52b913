// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension ELFImage {
    /// The texts of the notes that carry a manifest; at most two, because a second one is already an error.
    ///
    /// Reads the note segments, where linkers put note sections. If they have no manifest, reads the section by its
    /// name, because a linker script or a compiler may place it elsewhere. A text that is too long is cut one byte past
    /// the limit.
    package func manifestTexts() -> [[UInt8]] {
        var places: [(offset: Int, size: Int)] = []
        var budget = Self.noteLimit
        for segment in segments where segment.type == ELFConstant.note {
            findNotes(from: segment.offset, size: segment.size, alignment: segment.alignment, &budget, &places)
        }
        if places.isEmpty, let section = section(named: ManifestNote.section) {
            findNotes(from: section.offset, size: section.size, alignment: section.alignment, &budget, &places)
        }
        return places.sorted { $0.offset < $1.offset }.compactMap { place in
            bytes.copy(at: place.offset, count: min(place.size, Manifest.sizeLimit + 1))
        }
    }

    /// The maximum number of notes to read; real images have three or four.
    private static let noteLimit = 4096

    /// Walks notes: three words (size of the name, size of the text, type), then both, each padded to the alignment.
    ///
    /// Segments may overlap, so texts are distinguished by their offset.
    private func findNotes(
        from offset: Int,
        size: Int,
        alignment: UInt64,
        _ budget: inout Int,
        _ places: inout [(offset: Int, size: Int)]
    ) {
        guard bytes.spans(offset, size) else { return }
        let alignment = alignment == 8 ? 8 : 4
        var position = 0
        while position <= size - 12, budget > 0, places.count < 2 {
            budget -= 1
            if isOverpadded(offset + position) {
                position += 4
                continue
            }
            guard let nameSize = bytes.integer(at: offset + position, as: UInt32.self),
                let textSize = bytes.integer(at: offset + position + 4, as: UInt32.self),
                let type = bytes.integer(at: offset + position + 8, as: UInt32.self)
            else { return }
            let text = padded(position + 12 + Int(nameSize), to: alignment)
            let end = text + Int(textSize)
            guard end <= size else { return }
            if type == ManifestNote.type, Int(nameSize) == ManifestNote.name.utf8.count + 1,
                bytes.hasText(ManifestNote.name.utf8Span.span, at: offset + position + 12),
                !places.contains(where: { $0.offset == offset + text })
            {
                places.append((offset + text, Int(textSize)))
            }
            position = padded(end, to: alignment)
        }
    }

    /// Whether a manifest's note begins one word later: earlier versions of `connector/manifest.h` padded a text whose length is a
    /// multiple of four by four bytes too many.
    private func isOverpadded(_ offset: Int) -> Bool {
        bytes.integer(at: offset, as: UInt32.self) == 0
            && bytes.integer(at: offset + 4, as: UInt32.self) == UInt32(ManifestNote.name.utf8.count + 1)
            && bytes.integer(at: offset + 12, as: UInt32.self) == ManifestNote.type
            && bytes.hasText(ManifestNote.name.utf8Span.span, at: offset + 16)
    }

    private func padded(_ value: Int, to alignment: Int) -> Int {
        (value + alignment - 1) & ~(alignment - 1)
    }
}

/// How an image marks its manifest: see `connector/manifest.h`.
package enum ManifestNote {
    /// `CONNECTOR_NOTE_SECTION`
    package static let section = ".note.connector"
    /// `CONNECTOR_NOTE_NAME`
    package static let name = "connector"
    /// `CONNECTOR_NOTE_TYPE`
    package static let type: UInt32 = 1
}
