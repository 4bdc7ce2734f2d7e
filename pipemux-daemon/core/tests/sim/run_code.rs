//! Writes the code of runs: each call carries a mark by which it is recognized, and the meaning of
//! each ref is noted.

use crate::action::{AddressForm, ReaderIndex, Ref, Step, StepAction};
use crate::answer_content::thing;
use crate::runs::{CALM_MARKS, MarkedStep, RefMeaning};
use crate::sessions::{CALM_READER, READERS, SessionKey};
use crate::sim::Sim;

impl Sim {
    /// Writes a ref, and returns what it means.
    pub fn write_ref(&self, who: ReaderIndex, of: Ref) -> (String, RefMeaning) {
        let workspace = READERS[who].0;
        let by_id =
            |id: u64| (format!("obj:{id}"), RefMeaning { id: Some(id), ..RefMeaning::default() });
        match of {
            Ref::Number(number) => by_id(number.into()),
            Ref::Anyones(pick) => by_id(self.knowledge.some_id(workspace, pick).unwrap_or(3)),
            Ref::Shown(pick) | Ref::Pinned(pick) | Ref::Key(pick) => {
                let Some((id, label, epoch)) = self.knowledge.some_thing(who, pick) else {
                    return by_id(3);
                };
                match of {
                    Ref::Pinned(_) => {
                        let means =
                            RefMeaning { id: Some(id), pin: Some(epoch), ..RefMeaning::default() };
                        (format!("obj:{id}@e{epoch}"), means)
                    }
                    Ref::Key(_) => self.by_key(&label).unwrap_or_else(|| by_id(id)),
                    _ => by_id(id),
                }
            }
        }
    }

    /// Writes a ref by its app's key: `obj:notes/main:note:k3`.
    fn by_key(&self, label: &str) -> Option<(String, RefMeaning)> {
        let (thing, _) = thing(label)?;
        let session_key = self.session_key_of(thing)?;
        let name = &self.stores.get(&session_key)?.name;
        let key = thing.strip_prefix(name.as_str())?;
        let means = RefMeaning { thing: Some(thing.to_owned()), ..RefMeaning::default() };
        Some((format!("obj:{}:note:{key}", session_key.addr()), means))
    }

    /// Returns the session to which a label belongs.
    pub fn session_key_of(&self, label: &str) -> Option<SessionKey> {
        let tag = label.chars().next()?;
        self.stores.keys().find(|session_key| session_key.tag() == tag).copied()
    }

    /// Writes the code of a run, and gives each step a mark. Returns the epoch to which the whole
    /// run is pinned, too.
    pub fn write_run(
        &mut self,
        who: ReaderIndex,
        steps: &[Step],
        request: usize,
        pinned: bool,
        marks: &mut Vec<u64>,
    ) -> (String, Option<u64>) {
        let workspace = READERS[who].0;
        let first = steps.iter().find_map(|step| match step.act {
            StepAction::Edit(of) | StepAction::Text(of) | StepAction::Drop(of) => Some(of),
            _ => None,
        });
        let at = match first {
            Some(Ref::Shown(pick)) if pinned => {
                self.knowledge.some_thing(who, pick).map(|(.., epoch)| epoch)
            }
            _ => None,
        };
        let mut code = Vec::new();
        let mut before: Vec<SessionKey> = Vec::new();
        for step in steps {
            let of = match &step.act {
                StepAction::Edit(of)
                | StepAction::Select(of)
                | StepAction::Drop(of)
                | StepAction::Text(of) => Some(*of),
                _ => None,
            };
            let written = of.map(|of| self.write_ref(who, of));
            // Usually the step names the session that owns its thing.
            let own = written.as_ref().and_then(|(_, means)| {
                let stands = self.knowledge.identity(workspace, means.id?)?;
                let session_key = self.session_key_of(stands)?;
                (session_key.workspace().is_none_or(|of| of == workspace))
                    .then(|| session_key.addr())
            });
            let addr = own.unwrap_or(step.addr);
            let session_key = SessionKey::of(workspace, addr);
            let prefix = match step.form {
                AddressForm::Full => format!("{addr}."),
                AddressForm::Provider => format!("{}.", addr.split('/').next().unwrap_or_default()),
                AddressForm::None => String::new(),
            };
            let session_key = session_key.filter(|_| step.form == AddressForm::Full);
            let (shown, means) = written.unwrap_or_default();
            let note = vec![("note", means)];
            let (action, args, refs) = match &step.act {
                StepAction::Say => ("say", "'hello'".to_owned(), Vec::new()),
                StepAction::Same => {
                    code.push(format!("{prefix}say('the same')"));
                    before.extend(SessionKey::of(workspace, addr));
                    continue;
                }
                StepAction::Add => ("add", String::new(), Vec::new()),
                StepAction::Edit(_) => ("edit", shown, note),
                StepAction::Select(_) => ("select", shown, note),
                StepAction::Drop(_) => ("drop", shown, note),
                StepAction::Text(_) => ("text", shown, note),
                StepAction::List => ("list", String::new(), Vec::new()),
                StepAction::SayOf(of) => {
                    let (shown, means) = self.write_ref(who, *of);
                    ("say", shown, vec![("text", means)])
                }
                StepAction::SayText(other, of) => {
                    let (shown, means) = self.write_ref(who, *of);
                    let other_place = SessionKey::of(workspace, other);
                    let nested = MarkedStep {
                        request,
                        session_key: other_place,
                        refs: vec![("note", RefMeaning { pin: means.pin.or(at), ..means })],
                        follows: other_place
                            .is_some_and(|session_key| before.contains(&session_key)),
                        safe: true,
                        nested: true,
                        only_looks: true,
                    };
                    before.extend(other_place);
                    let mark = self.mark(who, nested, marks);
                    ("say", format!("text={other}.text({shown}, mark='t{mark}')"), Vec::new())
                }
                StepAction::EditSelection => {
                    let name = format!("{addr}.selection");
                    (
                        "edit",
                        name,
                        vec![("note", RefMeaning { selection: true, ..RefMeaning::default() })],
                    )
                }
                StepAction::EditNothing => ("edit", String::new(), Vec::new()),
                StepAction::Line(at) => ("line", at.to_string(), Vec::new()),
                StepAction::Pick => ("pick", String::new(), Vec::new()),
                StepAction::Name => ("name", String::new(), Vec::new()),
                StepAction::Fail => ("fail", String::new(), Vec::new()),
                StepAction::Nonsense => ("nonsense", String::new(), Vec::new()),
            };
            let refs = refs.into_iter().map(|(name, means): (&'static str, RefMeaning)| {
                (name, RefMeaning { pin: means.pin.or(at), ..means })
            });
            let marked = MarkedStep {
                request,
                session_key,
                refs: refs.collect(),
                follows: session_key.is_none_or(|session_key| before.contains(&session_key)),
                safe: matches!(step.act, StepAction::Text(_) | StepAction::List),
                nested: false,
                only_looks: step.act == StepAction::List,
            };
            before.extend(SessionKey::of(workspace, addr));
            let mark = self.mark(who, marked, marks);
            let comma = if args.is_empty() { "" } else { ", " };
            code.push(format!("{prefix}{action}({args}{comma}mark='t{mark}')"));
        }
        (code.join("; "), at)
    }

    fn mark(&mut self, who: ReaderIndex, marked: MarkedStep, marks: &mut Vec<u64>) -> u64 {
        // The calm reader has its own counter, so that its code doesn't depend on other readers.
        let calm = who == CALM_READER;
        let next = if calm { &mut self.runs.calm_next } else { &mut self.runs.next };
        *next += 1;
        let mark = if calm { CALM_MARKS + *next } else { *next };
        self.runs.marks.insert(mark, marked);
        marks.push(mark);
        mark
    }
}
