//! Shows the plan or draft to be decided on, section by section, within the budget.

use std::sync::atomic::Ordering;

use docui::{Object, tokens};
use pipemux_planner_course::text::{count, gist, shown_name};
use pipemux_planner_course::versions::Version;

use crate::page::Page;
use crate::report::Report;
use crate::verdicts;

/// Writes which version there is, and what stands against it.
pub fn heading(page: &mut Page<'_>) {
    let course = &page.planner.course;
    let Some(version) = course.versions.newest() else { return };
    line(page, version);
    for objection in &version.objections {
        page.text(format!("- {}\n", gist(objection)));
    }
}

/// Writes the newest version itself. A section for which there is no room is a line that says how
/// it is read.
pub fn artifact(page: &mut Page<'_>) {
    let planner = page.planner;
    let Some(version) = planner.course.versions.newest() else { return };
    line(page, version);
    let mut hidden = 0;
    for (name, items) in version.artifact.sections() {
        // The window has it below.
        if ["Brief", "brief", "需求原文"].contains(&name.as_str()) || items.is_empty() {
            continue;
        }
        // An edit by hand may have called it anything.
        let name = shown_name(&name).replace('"', "'");
        let shown = name.replace('_', " ");
        let text = match items.as_slice() {
            [only] => format!("**{shown}**: {only}\n"),
            more => {
                let lines =
                    more.iter().map(|item| match item.trim_start().starts_with(['-', '#', '>']) {
                        true => format!("{}\n", item.trim_start_matches('#').trim_end()),
                        false => format!("- {item}\n"),
                    });
                format!("**{shown}**:\n{}", lines.collect::<String>())
            }
        };
        if page.has_room(&text, 70) {
            page.text(text);
            continue;
        }
        hidden += tokens::estimate(&text);
        let items = count(items.len(), "item");
        let call = format!("pipemux ask '{}.artifact(\"{name}\")'", planner.session.callee);
        page.text(format!("**{shown}**: {items}: `{call}`\n"));
    }
    if hidden > 0 {
        page.hide(hidden);
    }
}

/// Writes the newest check of the topic's plan.
pub fn check(page: &mut Page<'_>) {
    let planner = page.planner;
    let newest = planner.store.as_ref().and_then(|store| Report::newest(store.folder()));
    let Some(report) = newest else { return };
    let adjust = planner.run("adjust('What failed has to hold.', check=true)");
    let text = verdicts::shown(
        &report,
        planner.is_checking.load(Ordering::Relaxed),
        &adjust,
        planner.course.lang(),
    );
    match page.has_room(&text, 70) {
        true => page.text(text),
        false => {
            page.hide(tokens::estimate(&text));
            let lines = text.lines().filter(|line| !line.starts_with("  "));
            page.text(lines.collect::<Vec<_>>().join("\n") + "\n");
        }
    }
}

fn line(page: &mut Page<'_>, version: &Version) {
    let (word, name) = (version.artifact.word(), version.artifact.file());
    let topic = &page.planner.course.topic;
    let lang = page.planner.course.lang();
    let word = match word {
        "plan" => lang.pick(word, "规划案"),
        _ => lang.pick(word, "规划草案"),
    };
    let edited =
        if version.edited { lang.pick(", edited by hand", "，被手工修改") } else { "" };
    let back = version.rolled_back_from.map_or_else(String::new, |from| {
        lang.pick(format!(", brings back version {from}"), format!("，恢复版本 {from}"))
    });
    page.text(format!(
        "\n### {} {}\n.planning/{topic}/{name} · {word}{edited}{back} · ",
        lang.pick("Version", "版本"),
        version.number
    ));
    let key = format!("version:{topic}:{}", version.number);
    page.view.object(Object::new(key, name).ty("version"));
    page.text("\n");
}
