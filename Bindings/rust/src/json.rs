// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! JSON (RFC 8259), as values.

use crate::{Error, Status};
use std::collections::HashSet;
use std::fmt::{self, Write};
use std::ops::Index;

/// How deeply arrays and objects may be nested: as deeply as in the host, in an array of events or a record around them.
const DEPTH: usize = 136;

/// A JSON value. Numbers keep their digits.
///
/// It is written so that the host accepts it: of members with equal names only the first, and `null` for a [`Json::Number`]
/// that is not a JSON number, or is beyond a double.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`, and a missing member or element.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The text of a number.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// The members of an object, in order; the first of equal names counts.
    Object(Vec<(String, Json)>),
}

static NULL: Json = Json::Null;

impl Json {
    /// Reads a whole text. As in the host, a number beyond a double is an error, and so is half of a surrogate pair.
    pub fn parse(text: &[u8]) -> Result<Json, Error> {
        let text = std::str::from_utf8(text).map_err(|_| Error::protocol("the text is not UTF-8"))?;
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.fault()) }
    }

    /// An object.
    pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
        Json::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// The member of an object, if there is one.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|member| member.0 == name).map(|member| &member.1),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Json::String(text) = self { Some(text) } else { None }
    }

    /// The nearest double of a number.
    pub fn as_f64(&self) -> Option<f64> {
        if let Json::Number(digits) = self { digits.parse().ok() } else { None }
    }

    /// A whole number, written in digits alone, that fits.
    pub fn as_i64(&self) -> Option<i64> {
        if let Json::Number(digits) = self { digits.parse().ok() } else { None }
    }

    /// `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(value) = self { Some(*value) } else { None }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(elements) = self { Some(elements) } else { None }
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Json::Object(_))
    }

    /// A text of the configuration, such as a URL. The host has checked it against the manifest.
    pub fn text(&self, field: &str) -> Result<String, Error> {
        let text = self.get(field).and_then(Json::as_str).map(str::to_owned);
        text.ok_or_else(|| Error::new(Status::INVALID, format!("the configuration has no text {field:?}")))
    }
}

/// `json["a"]["b"]`: the member, or null.
impl Index<&str> for Json {
    type Output = Json;
    fn index(&self, name: &str) -> &Json {
        self.get(name).unwrap_or(&NULL)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::String(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Json {
        Json::Number(number.to_string())
    }
}

/// Null if the number is not finite.
impl From<f64> for Json {
    fn from(number: f64) -> Json {
        if number.is_finite() { Json::Number(number.to_string()) } else { Json::Null }
    }
}

impl From<Vec<Json>> for Json {
    fn from(elements: Vec<Json>) -> Json {
        Json::Array(elements)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => formatter.write_str("null"),
            Json::Bool(value) => write!(formatter, "{value}"),
            Json::Number(digits) => formatter.write_str(if is_number(digits) { digits } else { "null" }),
            Json::String(text) => write_string(text, formatter),
            Json::Array(elements) => {
                formatter.write_char('[')?;
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        formatter.write_char(',')?;
                    }
                    write!(formatter, "{element}")?;
                }
                formatter.write_char(']')
            }
            Json::Object(members) => {
                formatter.write_char('{')?;
                let mut names = HashSet::new();
                let first = members.iter().filter(|member| names.insert(member.0.as_str()));
                for (index, (name, value)) in first.enumerate() {
                    if index > 0 {
                        formatter.write_char(',')?;
                    }
                    write_string(name, formatter)?;
                    write!(formatter, ":{value}")?;
                }
                formatter.write_char('}')
            }
        }
    }
}

/// Whether a text is a number as JSON writes it, and within a double.
fn is_number(text: &str) -> bool {
    let mut reader = Reader { text, at: 0 };
    reader.number().is_ok() && reader.at == text.len()
}

fn write_string(text: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    formatter.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(formatter, "\\{character}")?,
            '\0'..='\x1F' => write!(formatter, "\\u{:04x}", character as u32)?,
            _ => formatter.write_char(character)?,
        }
    }
    formatter.write_char('"')
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self) -> Error {
        Error::protocol(format!("the text is not JSON at byte {}", self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, part: &str) -> bool {
        let is_there = self.text.as_bytes()[self.at..].starts_with(part.as_bytes());
        self.at += if is_there { part.len() } else { 0 };
        is_there
    }

    fn value(&mut self, depth: usize) -> Result<Json, Error> {
        self.space();
        if depth > DEPTH {
            return Err(self.fault());
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b't') if self.take("true") => Ok(Json::Bool(true)),
            Some(b'f') if self.take("false") => Ok(Json::Bool(false)),
            Some(b'n') if self.take("null") => Ok(Json::Null),
            _ => Ok(Json::Number(self.number()?.to_owned())),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, Error> {
        let mut members = vec![];
        self.at += 1;
        self.space();
        if self.take("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            let name = self.string()?;
            self.space();
            if !self.take(":") {
                return Err(self.fault());
            }
            members.push((name, self.value(depth + 1)?));
            self.space();
            if self.take("}") {
                return Ok(Json::Object(members));
            }
            if !self.take(",") {
                return Err(self.fault());
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, Error> {
        let mut elements = vec![];
        self.at += 1;
        self.space();
        if self.take("]") {
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.space();
            if self.take("]") {
                return Ok(Json::Array(elements));
            }
            if !self.take(",") {
                return Err(self.fault());
            }
        }
    }

    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.fault()) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<&'a str, Error> {
        let start = self.at;
        self.take("-");
        if !self.take("0") {
            self.digits()?;
        }
        if self.take(".") {
            self.digits()?;
        }
        if self.take("e") || self.take("E") {
            if !self.take("+") {
                self.take("-");
            }
            self.digits()?;
        }
        let digits = &self.text[start..self.at];
        if !digits.parse().is_ok_and(f64::is_finite) {
            return Err(Error::protocol(format!("the number at byte {start} is out of range")));
        }
        Ok(digits)
    }

    fn string(&mut self) -> Result<String, Error> {
        let mut text = String::new();
        if !self.take("\"") {
            return Err(self.fault());
        }
        loop {
            let start = self.at;
            while matches!(self.peek(), Some(byte) if byte >= 0x20 && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            text.push_str(&self.text[start..self.at]);
            if self.take("\"") {
                return Ok(text);
            }
            if !self.take("\\") {
                return Err(self.fault());
            }
            let escape = self.peek().ok_or_else(|| self.fault())?;
            self.at += 1;
            text.push(match escape {
                b'"' | b'\\' | b'/' => escape as char,
                b'b' => '\x08',
                b'f' => '\x0C',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.unicode()?,
                _ => return Err(self.fault()),
            });
        }
    }

    /// Reads what follows `\u`; half of a surrogate pair is an error.
    fn unicode(&mut self) -> Result<char, Error> {
        let mut code = self.hex()?;
        if (0xD800..0xDC00).contains(&code) && self.take("\\u") {
            let second = self.hex()?;
            if !(0xDC00..0xE000).contains(&second) {
                return Err(self.fault());
            }
            code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
        }
        char::from_u32(code).ok_or_else(|| self.fault())
    }

    fn hex(&mut self) -> Result<u32, Error> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or_else(|| self.fault())?;
        let mut code = 0;
        for digit in digits {
            code = code << 4 | (*digit as char).to_digit(16).ok_or_else(|| self.fault())?;
        }
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_as_they_were_written() {
        for text in ["null", "-0.5e+3", "\"\\u0001\\\"é😀\"", "[]", "{}", "[1,[true,{\"a\":null}],\"\"]", "{\"a\":{\"b\":[1]},\"c\":2}"] {
            assert_eq!(Json::parse(text.as_bytes()).map(|json| json.to_string()), Ok(text.to_owned()));
        }
        let json = Json::parse(br#" {"a" : [ "\ud83d\ude00!\u00e9\n" ] } "#).unwrap();
        assert_eq!(json["a"].as_array().unwrap()[0].as_str(), Some("😀!é\n"));
        assert_eq!(json["b"]["c"], Json::Null);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "", "nul", "01", "-", "1.", ".5", "1e", "+1", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "[", "[1,", "[1,]", "[,1]",
            "{", "{\"a\"", "{\"a\":1,}", "{a:1}", "[}", "1 2", "]", "\"a\\", "\"\\u12", "\"\\ué\"",
            "\"\\ud800\"", "\"\\ud800!\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"\\ude00\"", "\"\\ude00\\ud83d\"",
            "1e400", "[-1e400]", "NaN", "inf",
        ] {
            assert!(Json::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Json::parse(b"\"\xFF\"").is_err());
        assert!(Json::parse(("[".repeat(DEPTH + 2) + &"]".repeat(DEPTH + 2)).as_bytes()).is_err());
        assert!(Json::parse(("[".repeat(DEPTH) + &"]".repeat(DEPTH)).as_bytes()).is_ok());
        assert!(Json::parse("[".repeat(1 << 20).as_bytes()).is_err());
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(Json::parse(b"9007199254740993").unwrap().as_i64(), Some(9007199254740993));
        assert_eq!(Json::parse(b"9223372036854775808").unwrap().as_i64(), None);
        assert_eq!(Json::from(0.1).to_string(), "0.1");
        assert_eq!(Json::from(f64::NAN), Json::Null);
        assert_eq!(Json::parse(("1".repeat(400)).as_bytes()).unwrap_err().message, "the number at byte 0 is out of range");
        for text in ["1e308", "1e-400", "-0", "123456789012345678901234567890"] {
            assert_eq!(Json::parse(text.as_bytes()).map(|json| json.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_written_is_what_the_host_reads() {
        let json = Json::parse(br#"{"a":1,"b":{"c":2,"c":3},"\u0061":4,"d":5}"#).unwrap();
        assert_eq!(json.to_string(), r#"{"a":1,"b":{"c":2},"d":5}"#);
        let twice = Json::object([("a", true.into()), ("a", false.into())]);
        assert_eq!((twice.to_string(), &twice["a"]), (r#"{"a":true}"#.to_owned(), &Json::Bool(true)));
        for text in ["1e400", "NaN", "inf", "", "01", "1 ", " 1", "+1", ".5", "1,2", "é"] {
            assert_eq!(Json::Number(text.to_owned()).to_string(), "null", "{text}");
        }
    }
}
