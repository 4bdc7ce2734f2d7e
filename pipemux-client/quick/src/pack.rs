//! MessagePack: what is written of a request, and what is read of an answer.

use crate::limits::DEPTH_MAX;

/// Writes into a buffer. What doesn't fit is noticed at the end.
pub struct Writer<'a> {
    room: &'a mut [u8],
    length: usize,
    is_full: bool,
}

impl<'a> Writer<'a> {
    pub fn new(room: &'a mut [u8]) -> Self {
        Self { room, length: 0, is_full: false }
    }

    /// Returns what was written; `None` if not all of it fit.
    pub fn finish(self) -> Option<&'a [u8]> {
        if self.is_full { None } else { self.room.get(..self.length) }
    }

    /// Returns how many bytes were written.
    pub fn length(&self) -> usize {
        self.length
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        let end = self.length.saturating_add(bytes.len());
        match self.room.get_mut(self.length..end) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.length = end;
            }
            None => self.is_full = true,
        }
    }

    /// Writes over bytes that were written before.
    pub fn overwrite(&mut self, at: usize, bytes: &[u8]) {
        if let Some(room) = self.room.get_mut(at..at.saturating_add(bytes.len())) {
            room.copy_from_slice(bytes);
        }
    }

    pub fn map(&mut self, length: u8) {
        match length {
            0..=15 => self.bytes(&[0x80 | length]),
            _ => self.bytes(&[0xde, 0, length]),
        }
    }

    pub fn text(&mut self, text: &str) {
        self.text_of_length(text.len());
        self.bytes(text.as_bytes());
    }

    /// Writes one text of parts with a separator between them.
    pub fn joined<'t, Parts>(&mut self, separator: &str, parts: impl Fn() -> Parts)
    where
        Parts: Iterator<Item = &'t str>,
    {
        let length = |length: usize, part: &str| length.saturating_add(part.len());
        let separators = parts().skip(1).count().saturating_mul(separator.len());
        self.text_of_length(parts().fold(separators, length));
        for (index, part) in parts().enumerate() {
            if index > 0 {
                self.bytes(separator.as_bytes());
            }
            self.bytes(part.as_bytes());
        }
    }

    fn text_of_length(&mut self, length: usize) {
        match length {
            0..=0x1f => self.bytes(&[0xa0 | length as u8]),
            0x20..=0xff => self.bytes(&[0xd9, length as u8]),
            0x100..=0xffff => {
                self.bytes(&[0xda]);
                self.bytes(&(length as u16).to_be_bytes());
            }
            _ => {
                self.bytes(&[0xdb]);
                self.bytes(&(length as u32).to_be_bytes());
            }
        }
    }

    pub fn number(&mut self, number: u64) {
        let digits = number.to_be_bytes();
        let (mark, width) = match number {
            0..=0x7f => return self.bytes(&[number as u8]),
            0x80..=0xff => (0xcc, 1),
            0x100..=0xffff => (0xcd, 2),
            0x1_0000..=0xffff_ffff => (0xce, 4),
            _ => (0xcf, 8),
        };
        self.bytes(&[mark]);
        self.bytes(digits.get(8 - width..).unwrap_or_default());
    }

    pub fn yes(&mut self) {
        self.bytes(&[0xc3]);
    }
}

/// Reads from bytes. Each method returns `None` for anything but what it is named for.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// True if everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn big_endian(&mut self, width: usize) -> Option<u64> {
        let digits = self.take(width)?;
        Some(digits.iter().fold(0, |number, digit| number << 8 | u64::from(*digit)))
    }

    fn length(&mut self, width: usize) -> Option<usize> {
        usize::try_from(self.big_endian(width)?).ok()
    }

    /// Reads an unsigned number in any of its encodings.
    pub fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            small @ 0..=0x7f => Some(u64::from(small)),
            0xcc => self.big_endian(1),
            0xcd => self.big_endian(2),
            0xce => self.big_endian(4),
            0xcf => self.big_endian(8),
            _ => None,
        }
    }

    pub fn is_true(&mut self) -> Option<bool> {
        match self.byte()? {
            0xc2 => Some(false),
            0xc3 => Some(true),
            _ => None,
        }
    }

    pub fn text(&mut self) -> Option<&'a str> {
        let length = match self.byte()? {
            short @ 0xa0..=0xbf => usize::from(short & 0x1f),
            0xd9 => self.length(1)?,
            0xda => self.length(2)?,
            0xdb => self.length(4)?,
            _ => return None,
        };
        core::str::from_utf8(self.take(length)?).ok()
    }

    /// Reads the head of a map: the number of the entries that follow.
    pub fn map(&mut self) -> Option<usize> {
        match self.byte()? {
            short @ 0x80..=0x8f => Some(usize::from(short & 0xf)),
            0xde => self.length(2),
            0xdf => self.length(4),
            _ => None,
        }
    }

    /// Reads the head of an array: the number of the items that follow.
    pub fn array(&mut self) -> Option<usize> {
        match self.byte()? {
            short @ 0x90..=0x9f => Some(usize::from(short & 0xf)),
            0xdc => self.length(2),
            0xdd => self.length(4),
            _ => None,
        }
    }

    /// Any value.
    pub fn skip(&mut self) -> Option<()> {
        self.skip_within(DEPTH_MAX)
    }

    fn skip_within(&mut self, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let mut ahead = *self;
        if let Some(items) = ahead.array() {
            *self = ahead;
            return (0..items).try_for_each(|_| self.skip_within(depth));
        }
        ahead = *self;
        if let Some(entries) = ahead.map() {
            *self = ahead;
            return (0..entries).try_for_each(|_| {
                self.skip_within(depth)?;
                self.skip_within(depth)
            });
        }
        let length = match self.byte()? {
            0..=0x7f | 0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => 0,
            short @ 0xa0..=0xbf => usize::from(short & 0x1f),
            0xc4 | 0xd9 => self.length(1)?,
            0xc5 | 0xda => self.length(2)?,
            0xc6 | 0xdb => self.length(4)?,
            0xcc | 0xd0 => 1,
            0xcd | 0xd1 => 2,
            0xca | 0xce | 0xd2 => 4,
            0xcb | 0xcf | 0xd3 => 8,
            // Extensions, which the protocol doesn't have.
            _ => return None,
        };
        self.take(length).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::codec::encode;
    use std::collections::BTreeMap;
    use std::string::String;
    use std::vec::Vec;

    #[test]
    fn numbers_and_texts_are_written_as_the_protocol_does() {
        for number in [0, 127, 128, 255, 256, 65_535, 65_536, u64::from(u32::MAX), u64::MAX] {
            let mut room = [0; 16];
            let mut writer = Writer::new(&mut room);
            writer.number(number);
            let written = writer.finish().unwrap();
            assert_eq!(written, encode(&number).unwrap());
            assert_eq!(Reader::new(written).number(), Some(number));
        }
        for length in [0, 31, 32, 255, 256, 65_535, 65_536] {
            let text = "x".repeat(length);
            let mut room = std::vec![0; length + 8];
            let mut writer = Writer::new(&mut room);
            writer.text(&text);
            let written = writer.finish().unwrap();
            assert!(written == encode(&text).unwrap());
            assert_eq!(Reader::new(written).text(), Some(text.as_str()));
        }
        let mut room = [0; 3];
        let mut writer = Writer::new(&mut room);
        writer.text("abc");
        assert!(writer.finish().is_none());
    }

    #[test]
    fn any_value_is_skipped_whole_and_none_beyond_its_end() {
        let map: BTreeMap<String, Vec<Option<f64>>> =
            [("a".into(), std::vec![None, Some(1.5)]), ("b".into(), Vec::new())].into();
        let long: Vec<i64> = (-40..4000).collect();
        let bytes = bytes::Bytes::from(std::vec![7_u8; 300]);
        for value in [encode(&map), encode(&long), encode(&bytes), encode(&(true, "x", -7_i8))] {
            let value = value.unwrap();
            let mut reader = Reader::new(&value);
            assert!(reader.skip().is_some() && reader.is_empty());
            for end in 0..value.len() {
                assert!(Reader::new(&value[..end]).skip().is_none());
            }
        }
        let deep = [0x91; 1000];
        assert!(Reader::new(&deep).skip().is_none());
    }
}
