// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! The manifest as an ELF note (connector/manifest.h), which the host reads without running any code.

/// A note whose text, with its padding, has `SIZE` bytes.
#[repr(C, align(4))]
pub struct Note<const SIZE: usize> {
    name_size: u32,
    text_size: u32,
    kind: u32,
    name: [u8; 12],
    text: [u8; SIZE],
}

/// The size of a text with its padding.
pub const fn padded(text: &str) -> usize {
    (text.len() + 3) & !3
}

impl<const SIZE: usize> Note<SIZE> {
    /// The note of a manifest.
    pub const fn new(manifest: &str) -> Note<SIZE> {
        let source = manifest.as_bytes();
        let mut text = [0; SIZE];
        let mut index = 0;
        while index < source.len() {
            text[index] = source[index];
            index += 1;
        }
        Note { name_size: 10, text_size: source.len() as u32, kind: 1, name: *b"connector\0\0\0", text }
    }
}
