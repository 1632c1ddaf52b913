// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The named character references of HTML for ASCII and Latin-1, and for the ellipsis that marks a cut
/// (html.spec.whatwg.org/multipage/named-characters.html).
enum HTMLReference {
    /// Returns the character with a name; nil for any other name.
    static func character(named name: ArraySlice<UInt8>) -> Unicode.Scalar? {
        characters[Array(name)]
    }

    /// The length of the longest name.
    static let longestName = characters.keys.map(\.count).max() ?? 0

    private static let characters: [[UInt8]: Unicode.Scalar] = {
        let names: [(String, Unicode.Scalar)] = [
            ("Tab", "\t"), ("NewLine", "\n"), ("nbsp", " "), ("excl", "!"), ("quot", "\""), ("QUOT", "\""),
            ("num", "#"), ("dollar", "$"), ("percnt", "%"), ("amp", "&"), ("AMP", "&"), ("apos", "'"), ("lpar", "("),
            ("rpar", ")"),
            ("ast", "*"), ("midast", "*"), ("plus", "+"), ("comma", ","), ("period", "."), ("sol", "/"), ("colon", ":"),
            ("semi", ";"), ("lt", "<"), ("LT", "<"), ("equals", "="), ("gt", ">"), ("GT", ">"), ("quest", "?"),
            ("commat", "@"), ("lsqb", "["), ("lbrack", "["), ("bsol", "\\"), ("rsqb", "]"), ("rbrack", "]"),
            ("Hat", "^"), ("lowbar", "_"), ("UnderBar", "_"), ("grave", "`"), ("DiacriticalGrave", "`"),
            ("lcub", "{"), ("lbrace", "{"), ("verbar", "|"), ("vert", "|"), ("VerticalLine", "|"), ("rcub", "}"),
            ("rbrace", "}"), ("hellip", "…"), ("mldr", "…"),
        ]
        let latin = latin1.split(separator: " ").enumerated().map { index, name in
            (Array(name.utf8), Unicode.Scalar(UInt8(truncatingIfNeeded: 0xA1 + index)))
        }
        return Dictionary(uniqueKeysWithValues: names.map { (Array($0.0.utf8), $0.1) } + latin)
    }()

    /// The names of U+00A1 to U+00FF, in order.
    private static let latin1 = """
        iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para \
        middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave \
        Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute \
        Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave \
        iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
        """
}
