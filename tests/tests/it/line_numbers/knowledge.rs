//! What a reader knows of line numbers, by the text of its answers alone.

use std::collections::BTreeMap;

/// By file and number the text that the line had.
pub type Numbers = BTreeMap<(String, usize), String>;

/// What a reader knows.
#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    pub numbers: Numbers,
    /// What it knew once it had the last answer of an epoch, by epoch.
    pub earlier: Vec<(u64, Numbers)>,
    /// The file that the window showed last.
    pub current: Option<String>,
    pub epoch: Option<u64>,
}

/// What one answer says.
struct Reading<'a> {
    before: Numbers,
    /// While the outcome of a pinned call is read: the numbers of its epoch.
    pinned: Option<Numbers>,
    now: &'a mut Knowledge,
}

impl Knowledge {
    /// Returns what it knew once it had the last answer of an epoch.
    pub fn at(&self, epoch: u64) -> Option<Numbers> {
        let found = self.earlier.iter().find(|(of, _)| *of == epoch);
        found.map(|(_, numbers)| numbers.clone())
    }

    /// Takes in an answer. `acted` is the file that the call was about; `truth` are its lines after
    /// the call, if numbers in the outcome mean those. `pinned` are the numbers of the epoch that
    /// the call was pinned to, of which its outcome says what they are now.
    pub fn read(
        &mut self,
        answer: &str,
        acted: Option<&str>,
        truth: Option<&[String]>,
        pinned: Option<Numbers>,
    ) {
        let before = self.numbers.clone();
        let mut reading = Reading { before: before.clone(), pinned, now: self };
        let mut outcome = true;
        // A result of a search names each file before its lines.
        let mut found_in = None;
        for line in answer.lines() {
            if let Some(heading) = line.strip_prefix("## editor/main · ") {
                outcome = false;
                reading.pinned = None;
                let file = heading.split(" · ").next().unwrap_or_default();
                reading.now.current = Some(file.to_owned()).filter(|file| file.ends_with(".txt"));
                continue;
            }
            if outcome && line.ends_with(".txt:") {
                found_in = line.strip_suffix(':').map(str::to_owned);
                continue;
            }
            let file = match outcome {
                true => found_in.clone().or(acted.map(str::to_owned)),
                false => reading.now.current.clone(),
            };
            let Some(file) = file else { continue };
            if outcome && line.contains(" done · ") {
                reading.outcome(&file, line, truth);
            } else if !reading.numbered(&file, line) {
                reading.moves(&file, line);
            }
            if line.starts_with('-') {
                continue;
            }
            if let Some((number, rest)) =
                line.split_once("[line ").and_then(|(_, l)| l.split_once(']'))
                && let Some((_, text)) = rest.split_once(") ")
                && let Ok(number) = number.parse()
            {
                reading.now.numbers.insert((file.clone(), number), text.to_owned());
            }
        }
        let last = answer.lines().last().unwrap_or_default();
        let epoch = last.split(" · ").find_map(|part| part.strip_prefix('e')?.parse().ok());
        match epoch {
            Some(epoch) => {
                self.earlier.retain(|(of, _)| *of != epoch);
                self.earlier.push((epoch, self.numbers.clone()));
            }
            // An answer that names no epoch is of the last one, or of a later one.
            None if self.numbers != before => drop(self.earlier.pop()),
            None => {}
        }
        self.epoch = epoch.or(self.epoch);
    }
}

impl Reading<'_> {
    /// A line of a window, a difference or an excerpt. Returns false if it is none.
    fn numbered(&mut self, file: &str, line: &str) -> bool {
        let Some((number, text)) = line.split_once('\t') else { return false };
        if number.starts_with('-') {
            return true;
        }
        let Ok(number) = number.trim_start_matches(['+', ' ']).parse() else { return false };
        self.now.numbers.insert((file.to_owned(), number), text.to_owned());
        true
    }

    /// `lines 21-60 are now 19-58`, `lines 21-60 → 19-58, 70 → 72`,
    /// `lines 6-9, 12 have their old numbers`
    fn moves(&mut self, file: &str, line: &str) {
        // The file may stand before it.
        let line = line.strip_prefix(&format!("{file}: ")).unwrap_or(line);
        let back = line.strip_suffix(" have their old numbers");
        let back = back.or(line.strip_suffix(" has its old number"));
        for part in back.unwrap_or(line).split(", ") {
            let words: Vec<&str> = part.split(' ').collect();
            let (was, now) = match words.as_slice() {
                ["line" | "lines", same] | [same] if back.is_some() => (range(same), range(same)),
                ["line" | "lines", was, "is" | "are", "now", now] => (range(was), range(now)),
                ["lines", was, "→", now] | [was, "→", now] => (range(was), range(now)),
                _ => continue,
            };
            let (Some(was), Some(now)) = (was, now) else { continue };
            let before = self.pinned.as_ref().unwrap_or(&self.before);
            for number in was.0..=was.1 {
                let key = (file.to_owned(), number);
                // A pinned call's outcome says nothing of lines that were shown under these numbers
                // later.
                if self.before.get(&key) == before.get(&key) {
                    self.now.numbers.remove(&key);
                }
            }
            for at in 0..=now.1 - now.0 {
                let key = |number| (file.to_owned(), number);
                match before.get(&key(was.0 + at)) {
                    Some(text) => self.now.numbers.insert(key(now.0 + at), text.clone()),
                    None => self.now.numbers.remove(&key(now.0 + at)),
                };
            }
        }
    }

    /// `1 done · delete_lines: 5 lines; lines 6-100 are now 1-95 · [undo](link:9)`
    fn outcome(&mut self, file: &str, line: &str, truth: Option<&[String]>) {
        let mut parts = line.split("; ");
        let brief = parts.next().unwrap_or_default();
        let rest: Vec<&str> =
            parts.map(|part| part.split(" · ").next().unwrap_or_default()).collect();
        let retired = rest.iter().find_map(|part| {
            part.strip_prefix("numbers from ")?.split(' ').next()?.parse::<usize>().ok()
        });
        if let Some(from) = retired {
            self.now.numbers.retain(|(of, number), _| of != file || *number < from);
        }
        rest.iter().for_each(|part| self.moves(file, part));
        // Numbers in the brief itself are as they are now.
        let brief = brief.split(" · [").next().unwrap_or_default();
        // `move_lines: lines 1-3 to lines 55-57`
        if let Some((was, now)) = brief.split_once(" to line") {
            let last =
                |text: &str| text.split(' ').next_back().map(str::to_owned).unwrap_or_default();
            return self.moves(file, &format!("lines {} are now {}", last(was), last(now)));
        }
        let words: Vec<&str> = brief.split([' ', ',']).collect();
        for pair in words.windows(2) {
            // Other numbers are counts.
            let named = ["line", "lines", "is", "now"].contains(&pair[0]);
            let word = pair[1].split_once(".txt:").map(|(_, number)| number);
            let word = word.or(named.then_some(pair[1])).unwrap_or_default();
            let Some((first, last)) = range(word) else { continue };
            for number in first..=last {
                let key = (file.to_owned(), number);
                match truth.and_then(|truth| truth.get(number.checked_sub(1)?)) {
                    Some(text) => self.now.numbers.insert(key, text.clone()),
                    None => self.now.numbers.remove(&key),
                };
            }
        }
    }
}

/// `5`, `5-7`
fn range(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first, last))
}
