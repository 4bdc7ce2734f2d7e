use super::*;
use crate::attach::rows::text_of;
use pipemux_client::proto::Fault;
use pipemux_client::proto::context::{
    AnchorInfo, AnchorType, Context, ContextHeader, LodLevel, ViewState,
};
use pipemux_client::proto::report::{
    AnswerOption, KeptReport, QuestionReport, StepReport, StepStatus,
};

pub fn window(content: &str, anchors: &[(&str, bool)]) -> Context {
    let anchor = |(name, input): &(&str, bool)| {
        let params = if name.starts_with("link") { vec![] } else { vec!["text".to_owned()] };
        let ty = if params.is_empty() { AnchorType::Button } else { AnchorType::Form };
        let info = AnchorInfo { ty, params, target: None, media: None, input: *input };
        ((*name).to_owned(), info)
    };
    Context {
        header: ContextHeader {
            app_id: "planner".into(),
            session_id: "main".into(),
            version: ContextVersion::default(),
            timestamp: String::new(),
        },
        state: ViewState { current_lod: LodLevel::Summary, focus_id: None, custom: None },
        content: content.into(),
        anchors: anchors.iter().map(anchor).collect(),
        history: None,
        errors: Vec::new(),
    }
}

/// Returns the beginning of a PNG image of so many pixels, which is all that is looked at.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &size[..], &[8, 2, 0, 0, 0]].concat()
}

pub fn shown(content: &str) -> Event {
    let anchors = [("link:12", false), ("planner.accept", false), ("planner.reply", true)];
    let windows = vec![window(content, &anchors)];
    let report = Report { epoch: 5, windows, ..Report::default() };
    Event::Shown { report: Box::new(report), delivery: 7 }
}

pub fn asked(id: u64) -> QuestionReport {
    let option = |label: &str| AnswerOption {
        label: label.into(),
        detail: String::new(),
        link: String::new(),
    };
    let options = vec![option("keep"), option("drop")];
    QuestionReport { id, text: "Which one?".into(), options, ..QuestionReport::default() }
}

pub fn answered(question: Option<QuestionReport>) -> Event {
    Event::Answered(Box::new(Report { question, ..Report::default() }))
}

/// Creates the state of a terminal that shows the planner's window.
pub fn state() -> State {
    let mut state = State::new("planner".into(), Theme::default(), None);
    assert_eq!(state.update(Event::Resized(60, 12)), []);
    assert_eq!(state.update(shown("## planner/main\n[undo](link:12)\n")), [Effect::Confirm(7)]);
    state.drawn();
    state
}

pub fn type_line(state: &mut State, line: &str) -> Vec<Effect> {
    for c in line.chars() {
        assert_eq!(state.update(Event::Key(Key::Char(c))), []);
    }
    state.update(Event::Key(Key::Enter))
}

pub fn run(code: &str, stdin: Option<&str>) -> Vec<Effect> {
    let stdin = stdin.map(|text| text.as_bytes().to_vec().into());
    vec![Effect::Ask(Verb::Run { code: code.into(), stdin, only_queries: false })]
}

pub fn click(link: &str) -> Vec<Effect> {
    vec![Effect::Ask(Verb::Click { link: link.into() })]
}

pub fn answer(text: &str, to: u64) -> Vec<Effect> {
    vec![Effect::Ask(Verb::Answer { text: text.into(), to: Some(to), stdin: None })]
}

#[test]
fn secret_answer_is_neither_shown_nor_kept() {
    let mut state = state();
    let question = QuestionReport { secret: true, options: Vec::new(), ..asked(5) };
    state.update(answered(Some(question)));
    assert!(state.target.hides_line());
    let stdin = Some(b" /pass word".to_vec().into());
    let expected = Verb::Answer { text: "-".into(), to: Some(5), stdin };
    assert_eq!(type_line(&mut state, " /pass word"), [Effect::Ask(expected)]);
    state.update(Event::Key(Key::Earlier));
    assert_eq!(state.line.text(), "");
}

#[test]
fn outcome_stands_above_the_prompt_until_the_next_one() {
    let mut state = state();
    type_line(&mut state, "/accept");
    assert_eq!(state.waiting, [None]);
    let step = StepReport {
        call: "planner.accept()".into(),
        clicked: None,
        status: StepStatus::Done,
        brief: "accepted".into(),
        detail: None,
        content: "the plan\n".into(),
        value: None,
        job: None,
        error: None,
    };
    let report = Report { steps: vec![step], notices: vec!["told".into()], ..Report::default() };
    state.update(Event::Answered(Box::new(report)));
    assert_eq!((state.waiting.len(), state.news.text()), (0, "accepted\nthe plan\ntold"));
    let again = Report { notices: vec!["told".into(), "more".into()], ..Report::default() };
    state.update(Event::Shown { report: Box::new(again), delivery: 0 });
    assert_eq!(state.news.text(), "accepted\nthe plan\ntold\nmore");
    state.update(Event::Key(Key::Escape));
    assert_eq!(state.news.text(), "");
    let hints = ["pipemux answer '<corrected call>'", "pipemux answer none"].map(String::from);
    let kept = KeptReport { id: 1, steps: Vec::new(), stdin: None, hints: hints.into() };
    let error = Some(Fault::usage("no question is open").hint("say('…')"));
    let failed = Report { error, kept: Some(kept), ..Report::default() };
    state.update(Event::Answered(Box::new(failed)));
    assert_eq!(state.news.text(), "no question is open\n  say('…')");
    state.update(Event::Key(Key::Escape));
    let unchanged = Report { notices: vec!["unchanged for 20 s".into()], ..Report::default() };
    state.update(Event::Shown { report: Box::new(unchanged), delivery: 0 });
    assert_eq!(state.news.text(), "");
}

#[test]
fn app_without_an_input_says_so_and_keeps_the_line() {
    let mut state = state();
    let report =
        Report { windows: vec![window("x", &[("editor.find", false)])], ..Report::default() };
    state.update(Event::Shown { report: Box::new(report), delivery: 8 });
    assert_eq!(type_line(&mut state, "hello"), []);
    assert_eq!(state.line.text(), "hello");
    assert!(state.news.text().contains("takes no words now"), "{}", state.news.text());
    assert_eq!(type_line(&mut state, ""), []);
}

#[test]
fn window_that_cannot_be_shown_still_takes_words() {
    let mut state = state();
    let mut broken = window("refused · the answer is too long", &[]);
    broken.errors.push(Fault::refused("the answer is too long"));
    let report = Report { windows: vec![broken], ..Report::default() };
    state.update(Event::Shown { report: Box::new(report), delivery: 8 });
    assert_eq!(state.window.text(), "refused · the answer is too long");
    assert_eq!(type_line(&mut state, "less"), run("planner.reply(text=stdin)", Some("less")));
}

#[test]
fn older_look_at_the_window_does_not_replace_a_newer_one() {
    let mut state = state();
    let look = |major, content: &str| {
        let mut shown = window(content, &[]);
        shown.header.version = ContextVersion { major, ..ContextVersion::default() };
        Box::new(Report { windows: vec![shown], ..Report::default() })
    };
    assert_eq!(state.update(Event::Looked(look(2, "newer"))), []);
    let late = Event::Shown { report: look(1, "older"), delivery: 9 };
    assert_eq!(state.update(late), [Effect::Confirm(9)]);
    assert_eq!(state.window.text(), "newer");
    state.update(Event::Looked(look(2, "the same version in other words")));
    assert_eq!(state.window.text(), "the same version in other words");
}

#[test]
fn declarations_stand_in_the_help_and_not_in_the_window() {
    let mut state = state();
    let content = "## planner/main\n[undo](link:12)\n```ts\n/** Replies. */\nreply(text)\n```\nnow\n```ts\nx()\n```\n";
    state.update(shown(content));
    assert_eq!(state.window.text(), "## planner/main\n[undo](link:12)\nnow\n```ts\nx()\n```\n");
    type_line(&mut state, "/help");
    assert!(
        state.news.text().ends_with("\n\n/** Replies. */\nreply(text)"),
        "{}",
        state.news.text()
    );
    // Where there is room for none, a line tells of them.
    state.update(shown("## planner/main\n```ts\n13 more: pipemux help planner\n```\nnow\n"));
    assert_eq!(state.window.text(), "## planner/main\nnow\n");
    // Code that the app shows isn't taken for them.
    for own in ["## planner/main\n```ts\nconst x = 1;\n```\n", "## planner/main\n```ts\nreply("] {
        state.update(shown(own));
        assert_eq!(state.window.text(), own);
    }
}

#[test]
fn earlier_lines_come_back() {
    let mut state = state();
    type_line(&mut state, "one");
    type_line(&mut state, "two");
    for (key, line) in [
        (Key::Earlier, "two"),
        (Key::Earlier, "one"),
        (Key::Earlier, "one"),
        (Key::Later, "two"),
        (Key::Later, ""),
        (Key::Later, ""),
    ] {
        state.update(Event::Key(key));
        assert_eq!(state.line.text(), line);
    }
}

#[test]
fn lost_daemon_and_closed_window_are_told() {
    let mut state = state();
    state.update(Event::Lost);
    assert!(state.lost);
    state.update(Event::Found);
    assert!(!state.lost && state.news.text().contains("connected to a daemon again"));
    state.update(Event::Unshown("it was closed".into()));
    assert!(state.window.text().contains("it was closed"));
    assert_eq!(state.update(Event::Key(Key::Enter)), [Effect::Reopen]);
    state.update(shown("back"));
    assert_eq!(state.update(Event::Key(Key::Enter)), []);
}

#[test]
fn leaving_keys_leave() {
    let mut state = state();
    assert_eq!(state.update(Event::Key(Key::EndOfInput)), [Effect::Leave]);
    state.update(Event::Key(Key::Char('x')));
    assert_eq!(state.update(Event::Key(Key::EndOfInput)), []);
    assert_eq!(state.update(Event::Key(Key::Leave)), [Effect::Leave]);
    assert_eq!(state.update(Event::Stopped), [Effect::Leave]);
    state.line.take();
    assert_eq!(type_line(&mut state, "/quit"), [Effect::Leave]);
    assert_eq!(type_line(&mut state, "?"), []);
    assert!(state.news.text().contains("Ctrl-C"));
}

#[test]
fn requests_without_answers_are_bounded() {
    let mut state = state();
    for _ in 0..WAITING_MAX {
        assert_eq!(type_line(&mut state, "12").len(), 1);
    }
    assert_eq!(type_line(&mut state, "12"), []);
    assert_eq!(state.line.text(), "12");
    state.update(Event::Told("refused".into()));
    assert_eq!(state.update(Event::Key(Key::Enter)).len(), 1);
}

#[test]
fn news_take_half_of_the_terminal_or_all_of_it() {
    let mut state = state();
    state.update(Event::Told((1..=40).map(|n| format!("row {n}\n")).collect()));
    assert_eq!((state.news_height(), state.window.rows().len()), (5, 2));
    state.update(Event::Key(Key::Tab));
    assert_eq!(state.news_height(), 10);
    state.update(Event::Key(Key::Bottom));
    assert_eq!(text_of(state.news.shown().last().unwrap()), "row 40");
    state.update(Event::Key(Key::Tab));
    assert_eq!(state.news_height(), 5);
}
