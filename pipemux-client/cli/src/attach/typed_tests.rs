use pipemux_client::proto::Fault;
use pipemux_client::proto::client::Verb;
use pipemux_client::proto::report::Report;

use crate::attach::event::{Effect, Event, Key};
use crate::attach::look::Theme;
use crate::attach::model::State;
use crate::attach::model::tests::{
    answer, answered, asked, click, run, shown, state, type_line, window,
};
use crate::attach::prompt_line::LINE_MAX;

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
    assert_eq!(type_line(&mut state, "1"), click("12@e5"));
    assert_eq!(type_line(&mut state, "link:99"), click("99"));
    let undo = Fault::usage("took back · [undo](link:31)");
    let answer = Report { epoch: 8, error: Some(undo), ..Report::default() };
    state.update(Event::Answered(Box::new(answer)));
    state.drawn();
    assert_eq!(type_line(&mut state, "2"), click("31@e8"));
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
fn number_follows_no_other_link_than_was_shown_when_it_was_typed() {
    let mut state = state();
    state.update(Event::Key(Key::Char('1')));
    // Another link takes the number, and is drawn, before the person is done.
    state.update(shown("## planner/main\n[discard](link:13)\n[undo](link:12)\n"));
    state.drawn();
    assert_eq!(state.update(Event::Key(Key::Enter)), []);
    assert!(state.news.text().contains("nothing was clicked"), "{}", state.news.text());
    assert_eq!(state.line.text(), "1");
    assert_eq!(state.update(Event::Key(Key::Enter)), click("13@e5"));
    // What isn't drawn yet has no number.
    state.update(shown("## planner/main\n[undo](link:12)\n"));
    assert_eq!(type_line(&mut state, "1"), click("13@e5"));
    state.drawn();
    assert_eq!(type_line(&mut state, "1"), click("12@e5"));
    // While a question takes numbers, a slash tells that a link is meant.
    state.update(answered(Some(asked(3))));
    state.drawn();
    assert_eq!(type_line(&mut state, "/1"), click("12@e5"));
    assert_eq!(type_line(&mut state, "1"), answer("1", 3));
}

#[test]
fn letters_are_keys_only_where_no_words_are_taken() {
    let mut state = state();
    assert_eq!(type_line(&mut state, "q"), run("planner.reply(text=stdin)", Some("q")));
    let looked = || {
        let windows = vec![window("x", &[("editor.find", false)])];
        Event::Looked(Box::new(Report { windows, ..Report::default() }))
    };
    // Nobody takes words for a moment.
    state.update(looked());
    assert_eq!(state.update(Event::Key(Key::Char('q'))), []);
    let mut state = State::new("editor".into(), Theme::default(), None);
    state.update(Event::Resized(60, 12));
    state.update(looked());
    assert_eq!(state.update(Event::Key(Key::Char('?'))), []);
    assert_eq!(state.news.rows().len(), 2, "{}", state.news.text());
    assert_eq!(state.line.text(), "");
    state.update(Event::Key(Key::Char('/')));
    assert_eq!(state.update(Event::Key(Key::Char('q'))), []);
    state.update(Event::Key(Key::DeleteToStart));
    state.update(answered(Some(asked(4))));
    assert_eq!(state.update(Event::Key(Key::Char('q'))), []);
    state.update(Event::Key(Key::Backspace));
    let settled = Verb::Answer { text: "cancel".into(), to: Some(4), stdin: None };
    assert_eq!(type_line(&mut state, "cancel"), [Effect::Ask(settled)]);
    state.update(answered(None));
    assert_eq!(state.update(Event::Key(Key::Char('q'))), [Effect::Leave]);
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
    assert_eq!(state.target.question, None);
    late.question = Some(asked(4));
    state.update(Event::Shown { report: Box::new(late), delivery: 1 });
    assert_eq!(type_line(&mut state, "cancel"), answer("cancel", 4));
    // It can be passed by: to a link, to a call and to the input.
    assert_eq!(type_line(&mut state, "link:1"), click("1"));
    assert_eq!(type_line(&mut state, "/accept"), run("planner.accept()", None));
    assert_eq!(type_line(&mut state, " 2"), run("planner.reply(text=stdin)", Some("2")));
}
