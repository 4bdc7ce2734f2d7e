use super::*;
use pipemux_client::proto::Fault;
use pipemux_client::proto::context::{
    AnchorInfo, AnchorType, Context, ContextHeader, LodLevel, ViewState,
};
use pipemux_client::proto::report::{AnswerOption, KeptReport, StepReport, StepStatus};

fn window(content: &str, anchors: &[(&str, bool)]) -> Context {
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

fn shown(content: &str) -> Event {
    let anchors = [("link:12", false), ("planner.accept", false), ("planner.reply", true)];
    let report = Report { windows: vec![window(content, &anchors)], ..Report::default() };
    Event::Shown { report: Box::new(report), delivery: 7 }
}

fn asked(id: u64) -> QuestionReport {
    let option = |label: &str| AnswerOption {
        label: label.into(),
        detail: String::new(),
        link: String::new(),
    };
    let options = vec![option("keep"), option("drop")];
    QuestionReport { id, text: "Which one?".into(), options, ..QuestionReport::default() }
}

fn answered(question: Option<QuestionReport>) -> Event {
    Event::Answered(Box::new(Report { question, ..Report::default() }))
}

/// A terminal that shows the planner's window.
fn state() -> State {
    let mut state = State::new("planner".into());
    assert_eq!(state.update(Event::Resized(60, 12)), []);
    assert_eq!(state.update(shown("## planner/main\n")), [Effect::Confirm(7)]);
    state
}

fn type_line(state: &mut State, line: &str) -> Vec<Effect> {
    for c in line.chars() {
        assert_eq!(state.update(Event::Key(Key::Char(c))), []);
    }
    state.update(Event::Key(Key::Enter))
}

fn run(code: &str, stdin: Option<&str>) -> Vec<Effect> {
    let stdin = stdin.map(|text| text.as_bytes().to_vec().into());
    vec![Effect::Ask(Verb::Run { code: code.into(), stdin, only_queries: false })]
}

fn click(link: &str) -> Vec<Effect> {
    vec![Effect::Ask(Verb::Click { link: link.into() })]
}

fn answer(text: &str, to: u64) -> Vec<Effect> {
    vec![Effect::Ask(Verb::Answer { text: text.into(), to: Some(to), stdin: None })]
}

#[test]
fn words_go_to_the_input_of_the_app() {
    let mut state = state();
    let line = "两个 'roles', \"quoted\"; and $more";
    assert_eq!(type_line(&mut state, line), run("planner.reply(text=stdin)", Some(line)));
    // A number that is no link is words, and so is whatever a space precedes.
    for (line, words) in [("40", "40"), (" 12", "12"), (" /usr/lib", "/usr/lib"), ("  a", " a")] {
        let effects = type_line(&mut state, line);
        assert_eq!(effects, run("planner.reply(text=stdin)", Some(words)), "{line}");
    }
    assert_eq!(type_line(&mut state, "   "), []);
}

#[test]
fn pasted_lines_are_sent_as_one() {
    let mut state = state();
    assert_eq!(state.update(Event::Pasted("第一行\r\n第二行".into())), []);
    assert_eq!(
        state.update(Event::Key(Key::Enter)),
        run("planner.reply(text=stdin)", Some("第一行\n第二行"))
    );
    state.update(Event::Pasted("x".repeat(LINE_MAX + 1)));
    assert_eq!(state.line.text(), "");
    assert!(state.news.text().contains("nothing was pasted"), "{}", state.news.text());
}

#[test]
fn number_follows_a_link_and_a_slash_runs_a_call() {
    let mut state = state();
    assert_eq!(type_line(&mut state, "12"), click("12"));
    assert_eq!(type_line(&mut state, "link:99"), click("99"));
    state.update(Event::Told("took back · [undo](link:31)".into()));
    assert_eq!(type_line(&mut state, "31"), click("31"));
    for (line, code) in [
        ("/accept", "planner.accept()"),
        ("/accept()", "planner.accept()"),
        ("/adjust('smaller')", "planner.adjust('smaller')"),
        ("/editor.save()", "editor.save()"),
        ("/planner/b.pause()", "planner/b.pause()"),
    ] {
        assert_eq!(type_line(&mut state, line), run(code, None), "{line}");
    }
}

#[test]
fn command_for_a_shell_is_not_taken_for_words() {
    for command in ["pipemux help planner", "pipemux view", "pipemux undo"] {
        let mut state = state();
        assert_eq!(type_line(&mut state, command), [], "{command}");
        assert!(state.news.text().contains("is for a shell"), "{}", state.news.text());
        assert_eq!(state.line.text(), command, "it can be changed");
    }
}

#[test]
fn command_that_is_shown_works_when_pasted() {
    let mut state = state();
    let call = "planner.intent(\"refine\")";
    let effects = type_line(&mut state, &format!("pipemux run '{call}'"));
    assert_eq!(effects, run(call, None));
    let effects = type_line(&mut state, r"pipemux run 'planner.say('\''why?'\'')'");
    assert_eq!(effects, run("planner.say('why?')", None));
    let asks = Verb::Run { code: "planner.record()".into(), stdin: None, only_queries: true };
    let effects = type_line(&mut state, "pipemux ask 'planner.record()'");
    assert_eq!(effects, [Effect::Ask(asks)]);
    assert_eq!(type_line(&mut state, "pipemux click 12"), click("12"));
    let goes = Verb::Answer { text: "go".into(), to: None, stdin: None };
    assert_eq!(type_line(&mut state, "pipemux answer go"), [Effect::Ask(goes)]);
    // What only begins like a command is words.
    for words in ["pipemux run away", "pipemux is nice", "pipemux"] {
        let effects = type_line(&mut state, words);
        assert_eq!(effects, run("planner.reply(text=stdin)", Some(words)), "{words}");
    }
    state.update(answered(Some(asked(3))));
    assert_eq!(type_line(&mut state, "pipemux answer 2"), answer("2", 3));
}

#[test]
fn open_question_takes_the_line() {
    let mut state = state();
    state.update(answered(Some(asked(3))));
    assert_eq!(
        state.news.text(),
        "? Which one?\n  1 keep\n  2 drop\na number chooses · cancel leaves it"
    );
    // A refused answer leaves it open, and so does whatever else is done meanwhile.
    assert_eq!(type_line(&mut state, "9"), answer("9", 3));
    let refused = Report { error: Some(Fault::usage("no option 9")), ..Report::default() };
    state.update(Event::Answered(Box::new(refused)));
    assert_eq!(type_line(&mut state, "/accept"), run("planner.accept()", None));
    state.update(answered(None));
    assert_eq!(type_line(&mut state, "2"), answer("2", 3));
    // A view that was made before the answer doesn't bring the question back.
    state.update(answered(None));
    let mut late = Report { question: Some(asked(3)), ..Report::default() };
    state.update(Event::Shown { report: Box::new(late.clone()), delivery: 1 });
    assert_eq!(state.question, None);
    late.question = Some(asked(4));
    state.update(Event::Shown { report: Box::new(late), delivery: 1 });
    assert_eq!(type_line(&mut state, "cancel"), answer("cancel", 4));
    // It can be passed by: to a link, to a call and to the input.
    assert_eq!(type_line(&mut state, "link:1"), click("1"));
    assert_eq!(type_line(&mut state, "/accept"), run("planner.accept()", None));
    assert_eq!(type_line(&mut state, " 2"), run("planner.reply(text=stdin)", Some("2")));
}

#[test]
fn secret_answer_is_neither_shown_nor_kept() {
    let mut state = state();
    let question = QuestionReport { secret: true, options: Vec::new(), ..asked(5) };
    state.update(answered(Some(question)));
    assert!(state.hides_line());
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
    type_line(&mut state, "?");
    assert!(
        state.news.text().ends_with("\n\n/** Replies. */\nreply(text)"),
        "{}",
        state.news.text()
    );
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
    assert_eq!((state.news_height(), state.window.rows().len()), (5, 1));
    state.update(Event::Key(Key::Tab));
    assert_eq!(state.news_height(), 10);
    state.update(Event::Key(Key::Bottom));
    assert_eq!(state.news.shown().last().unwrap().text, "row 40");
    state.update(Event::Key(Key::Tab));
    assert_eq!(state.news_height(), 5);
}
