//! Rules for `Locate` and `AppRead`.

use pipemux_proto::app::{Chunk, KeyLocation, Locate, Located, ReadRequest};
use pipemux_proto::projection::ObjectSlot;
use pipemux_proto::{Code, Fault, Method};

use crate::limits::{READ_MAX, READS};
use crate::observer::Observer;

/// A key that no object has.
pub const NO_KEY: &str = "pipemux-check:no-such-key";

impl Observer<'_> {
    /// Checks what is said of the things that the newest window shows.
    pub fn lookups(&mut self) {
        let shown: Vec<ObjectSlot> =
            self.session.objects.shown.iter().take(READS).cloned().collect();
        let mut keys: Vec<String> = shown.iter().map(|object| object.key.clone()).collect();
        keys.push(NO_KEY.to_owned());
        if let Some(places) = self.locate(keys.clone()) {
            for (key, place) in keys.iter().zip(&places) {
                let is_gone = matches!(place, KeyLocation::Gone(_));
                if key == NO_KEY && !is_gone {
                    let text =
                        format!("answered {place:?} for a key that never was: expected `gone`");
                    self.session.report.add("locate", "locate", text);
                } else if key != NO_KEY && is_gone && !self.changes_by_itself() {
                    let text = "is shown and located as gone: answer `shown`";
                    self.session.report.add(&format!("locate · key {key}"), "locate", text);
                }
            }
        }
        for object in &shown {
            self.read(object);
        }
        let place = "read a key that never was";
        let answer = self.read_part(place, NO_KEY, 0, 0, READ_MAX);
        self.expect_refusal(place, answer.map(|answer| answer.map(drop)), Code::NotFound, NO_KEY);
    }

    /// Asks where things are; the places are as many as the keys.
    pub fn locate(&mut self, keys: Vec<String>) -> Option<Vec<KeyLocation>> {
        let count = keys.len();
        let located = self.session.ask::<Located>(
            "locate",
            Method::Locate,
            &Locate { keys, reader: "check".to_owned(), ..Locate::default() },
        )?;
        match located {
            Ok(located) if located.places.len() == count => Some(located.places),
            Ok(located) => {
                let text = format!(
                    "answered {} places for {count} keys: one for each, in the same order",
                    located.places.len()
                );
                self.session.report.add("locate", "locate", text);
                None
            }
            Err(fault) => {
                let text = format!(
                    "refused ({}): then a ref to what isn't shown can't be explained",
                    fault.message
                );
                self.session.report.add("locate", "locate", text);
                None
            }
        }
    }

    /// Reads a thing as a whole and in parts.
    fn read(&mut self, object: &ObjectSlot) {
        let ObjectSlot { key, rev, .. } = object;
        let place = format!("read · key {key}");
        // A thing may have no value.
        let Some(Ok(whole)) = self.read_part(&place, key, *rev, 0, READ_MAX) else { return };
        if whole.data.len() > READ_MAX as usize || whole.data.len() as u64 > whole.total {
            let text = format!(
                "sent {} bytes of {} (asked for at most {READ_MAX})",
                whole.data.len(),
                whole.total
            );
            return self.session.report.add(&place, "read", text);
        }
        if whole.data.is_empty() && whole.total > 0 {
            let text = "sent nothing before the end: a part has at least one byte";
            return self.session.report.add(&place, "read", text);
        }
        if whole.data.len() as u64 == whole.total
            && whole.text != std::str::from_utf8(&whole.data).is_ok()
        {
            let text = format!("says `text: {}`, and the value says otherwise", whole.text);
            self.session.report.add(&place, "read", text);
        }
        if whole.data.len() > 2
            && let Some(Ok(part)) = self.read_part(&place, key, *rev, 1, 2)
        {
            let is_part =
                matches!(part.data.len(), 1 | 2) && whole.data[1..].starts_with(&part.data);
            let text = if part.total != whole.total {
                format!("`total` was {} and is {}", whole.total, part.total)
            } else if !is_part {
                "a part (offset 1, max 2) isn't that part of the whole value".to_owned()
            } else {
                String::new()
            };
            if !text.is_empty() && !self.changes_by_itself() {
                self.session.report.add(&place, "read", text);
            }
        }
        let place = format!("read another revision · key {key}");
        let answer = self.read_part(&place, key, rev.wrapping_add(1000), 0, READ_MAX);
        self.expect_refusal(&place, answer.map(|answer| answer.map(drop)), Code::Stale, key);
    }

    fn read_part(
        &mut self,
        place: &str,
        key: &str,
        rev: u64,
        offset: u64,
        max: u32,
    ) -> Option<Result<Chunk, Fault>> {
        let read = ReadRequest { key: key.to_owned(), rev, offset, max, ..ReadRequest::default() };
        self.session.ask(place, Method::AppRead, &read)
    }

    /// Checks that a ref was refused with a code, and that the fault names the thing.
    pub fn expect_refusal(
        &mut self,
        place: &str,
        answer: Option<Result<(), Fault>>,
        code: Code,
        key: &str,
    ) {
        let Some(answer) = answer else { return };
        let name = match code {
            Code::Stale => "stale",
            _ => "not_found",
        };
        match answer {
            Ok(()) if code == Code::Stale => {
                let text = "another revision than the thing's was accepted: refuse it with `stale` and the key";
                self.session.report.add(place, "stale-accepted", text);
            }
            Ok(()) => {
                let text =
                    "a thing that isn't there was accepted: refuse it with `not_found` and the key";
                self.session.report.add(place, "gone-accepted", text);
            }
            // An app without values has nothing to look up.
            Err(fault) if fault.code == Code::Refused && place.starts_with("read") => {}
            // What ends by itself may be gone by now.
            Err(fault)
                if fault.code == Code::NotFound
                    && code == Code::Stale
                    && self.changes_by_itself() => {}
            Err(fault) if fault.code != code => {
                let text = format!(
                    "refused with {:?} ({}), expected `{name}` with the key: the reader is then told what became of the ref",
                    fault.code, fault.message
                );
                self.session.report.add(place, "refusal", text);
            }
            Err(fault) if fault.key.as_deref() != Some(key) => {
                let text = format!("refused with `{name}`, but without `key`: {key}");
                self.session.report.add(place, "refusal", text);
            }
            Err(_) => {}
        }
    }
}
