// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Normalizes text for searches.
enum SearchText {
    /// The words of a text in lower case, without accents and punctuation.
    static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = ""
        for character in text.lowercased() {
            if character.isLetter || character.isNumber {
                word += folded(character)
            } else if character != "'" && character != "’" && !word.isEmpty {
                words.append(word)
                word = ""
            }
        }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// Whether a word occurs among others; with `isPrefix`, also as the beginning of one.
    static func contains(_ words: [String], _ word: String, isPrefix: Bool) -> Bool {
        words.contains { $0 == word || isPrefix && $0.hasPrefix(word) }
    }

    /// The letter without its accent.
    private static func folded(_ character: Character) -> String {
        switch character {
        case "à", "á", "â", "ã", "å", "ă", "ą": "a"
        case "ä": "a"
        case "æ": "ae"
        case "ç", "ć", "č": "c"
        case "è", "é", "ê", "ë", "ě", "ę": "e"
        case "ì", "í", "î", "ï": "i"
        case "ñ", "ń", "ň": "n"
        case "ò", "ó", "ô", "õ", "ø", "ö", "ő": "o"
        case "ř": "r"
        case "š", "ś", "ș": "s"
        case "ß": "ss"
        case "ù", "ú", "û", "ü", "ů", "ű": "u"
        case "ý", "ÿ": "y"
        case "ž", "ź", "ż": "z"
        case "ł": "l"
        default: String(character)
        }
    }
}
