//! Runs as they are written: code with marks, and what each ref in it means.

use crate::action::{Act, Owner, Ref, Step, Who};
use crate::places::{CALM_READER, Place, READERS};
use crate::reading::thing;
use crate::runs::{CALM_MARKS, Marked, Use};
use crate::sim::Sim;

impl Sim {
    /// A ref as it is written, and what it means.
    pub fn write_ref(&self, who: Who, of: Ref) -> (String, Use) {
        let workspace = READERS[who].0;
        let by_id = |id: u64| (format!("obj:{id}"), Use { id: Some(id), ..Use::default() });
        match of {
            Ref::Number(number) => by_id(number.into()),
            Ref::Anyones(pick) => by_id(self.seen.some_id(workspace, pick).unwrap_or(3)),
            Ref::Shown(pick) | Ref::Pinned(pick) | Ref::Key(pick) => {
                let Some((id, label, epoch)) = self.seen.some_thing(who, pick) else {
                    return by_id(3);
                };
                match of {
                    Ref::Pinned(_) => {
                        let means = Use { id: Some(id), pin: Some(epoch), ..Use::default() };
                        (format!("obj:{id}@e{epoch}"), means)
                    }
                    Ref::Key(_) => self.by_key(&label).unwrap_or_else(|| by_id(id)),
                    _ => by_id(id),
                }
            }
        }
    }

    /// A thing by its app's own key: `obj:notes/main:note:k3`.
    fn by_key(&self, label: &str) -> Option<(String, Use)> {
        let (thing, _) = thing(label)?;
        let place = self.place_of(thing)?;
        let name = &self.stores.get(&place)?.name;
        let key = thing.strip_prefix(name.as_str())?;
        let means = Use { thing: Some(thing.to_owned()), ..Use::default() };
        Some((format!("obj:{}:note:{key}", place.addr()), means))
    }

    /// The place that a thing's label is of.
    pub fn place_of(&self, label: &str) -> Option<Place> {
        let tag = label.chars().next()?;
        self.stores.keys().find(|place| place.tag() == tag).copied()
    }

    /// Writes a run's code; each step gets a mark. Returns also the epoch that all of it is pinned to.
    pub fn write_run(
        &mut self,
        who: Who,
        steps: &[Step],
        request: usize,
        pinned: bool,
        marks: &mut Vec<u64>,
    ) -> (String, Option<u64>) {
        let workspace = READERS[who].0;
        let first = steps.iter().find_map(|step| match step.act {
            Act::Edit(of) | Act::Text(of) | Act::Drop(of) => Some(of),
            _ => None,
        });
        let at = match first {
            Some(Ref::Shown(pick)) if pinned => {
                self.seen.some_thing(who, pick).map(|(.., epoch)| epoch)
            }
            _ => None,
        };
        let mut code = Vec::new();
        let mut before: Vec<Place> = Vec::new();
        for step in steps {
            let of = match &step.act {
                Act::Edit(of) | Act::Select(of) | Act::Drop(of) | Act::Text(of) => Some(*of),
                _ => None,
            };
            let written = of.map(|of| self.write_ref(who, of));
            // A thing's own app is meant, mostly.
            let own = written.as_ref().and_then(|(_, means)| {
                let stands = self.seen.identity(workspace, means.id?)?;
                let place = self.place_of(stands)?;
                (place.workspace().is_none_or(|of| of == workspace)).then(|| place.addr())
            });
            let addr = own.unwrap_or(step.addr);
            let place = Place::of(workspace, addr);
            let owner = match step.owner {
                Owner::Full => format!("{addr}."),
                Owner::Provider => format!("{}.", addr.split('/').next().unwrap_or_default()),
                Owner::None => String::new(),
            };
            let place = place.filter(|_| step.owner == Owner::Full);
            let (shown, means) = written.unwrap_or_default();
            let note = vec![("note", means)];
            let (action, args, refs) = match &step.act {
                Act::Say => ("say", "'hello'".to_owned(), Vec::new()),
                Act::Same => {
                    code.push(format!("{owner}say('the same')"));
                    before.extend(Place::of(workspace, addr));
                    continue;
                }
                Act::Add => ("add", String::new(), Vec::new()),
                Act::Edit(_) => ("edit", shown, note),
                Act::Select(_) => ("select", shown, note),
                Act::Drop(_) => ("drop", shown, note),
                Act::Text(_) => ("text", shown, note),
                Act::SayOf(of) => {
                    let (shown, means) = self.write_ref(who, *of);
                    ("say", shown, vec![("text", means)])
                }
                Act::SayText(other, of) => {
                    let (shown, means) = self.write_ref(who, *of);
                    let other_place = Place::of(workspace, other);
                    let nested = Marked {
                        request,
                        place: other_place,
                        refs: vec![("note", Use { pin: means.pin.or(at), ..means })],
                        follows: other_place.is_some_and(|place| before.contains(&place)),
                        safe: true,
                        nested: true,
                    };
                    before.extend(other_place);
                    let mark = self.mark(who, nested, marks);
                    ("say", format!("text={other}.text({shown}, mark='t{mark}')"), Vec::new())
                }
                Act::EditSelection => {
                    let name = format!("{addr}.selection");
                    ("edit", name, vec![("note", Use { selection: true, ..Use::default() })])
                }
                Act::EditNothing => ("edit", String::new(), Vec::new()),
                Act::Line(at) => ("line", at.to_string(), Vec::new()),
                Act::Pick => ("pick", String::new(), Vec::new()),
                Act::Name => ("name", String::new(), Vec::new()),
                Act::Fail => ("fail", String::new(), Vec::new()),
                Act::Nonsense => ("nonsense", String::new(), Vec::new()),
            };
            let refs = refs.into_iter().map(|(name, means): (&'static str, Use)| {
                (name, Use { pin: means.pin.or(at), ..means })
            });
            let marked = Marked {
                request,
                place,
                refs: refs.collect(),
                follows: place.is_none_or(|place| before.contains(&place)),
                safe: matches!(step.act, Act::Text(_)),
                nested: false,
            };
            before.extend(Place::of(workspace, addr));
            let mark = self.mark(who, marked, marks);
            let comma = if args.is_empty() { "" } else { ", " };
            code.push(format!("{owner}{action}({args}{comma}mark='t{mark}')"));
        }
        (code.join("; "), at)
    }

    fn mark(&mut self, who: Who, marked: Marked, marks: &mut Vec<u64>) -> u64 {
        // The calm one counts for itself: what it writes doesn't depend on the others.
        let calm = who == CALM_READER;
        let next = if calm { &mut self.runs.calm_next } else { &mut self.runs.next };
        *next += 1;
        let mark = if calm { CALM_MARKS + *next } else { *next };
        self.runs.marks.insert(mark, marked);
        marks.push(mark);
        mark
    }
}
