//! A name from another tool never makes a call ambiguous.

use pipemux_proto::call::parse_undecided;
use pipemux_proto::prototype::Prominence;

use super::*;
use crate::scripts::plan::Planner;

fn action(name: &str, params: &[&str], prominence: Prominence) -> Prototype {
    let param = |name: &&str| Param { name: (*name).into(), ty: Type::String, ..Param::default() };
    let params = params.iter().map(param).collect();
    Prototype { name: name.into(), params, prominence, ..Prototype::default() }
}

/// The session that a call means, when `todo` has an action of this name and `notes` has it as an
/// alias.
fn meant(code: &str) -> Result<String, Fault> {
    let mut scene = Scene::new();
    let alias = action("edit", &["file_path", "old", "new"], Prominence::Alias);
    let own = action("edit", &["entry", "text"], Prominence::Help);
    scene.session("notes/main").prototypes = Rc::new(vec![alias]);
    scene.session("todo/main").prototypes = Rc::new(vec![own]);
    for addr in ["notes/main", "todo/main"] {
        let actions = scene.session(addr).prototypes.clone();
        scene.workspace.windows.set_actions(&key(addr), Some(actions));
    }
    let script = parse_undecided(code, None).unwrap();
    let planner = Planner::new(&scene.workspace, &scene.sessions, code);
    let steps = planner.plan_parts(&[(code, &script)]).map_err(|(_, fault)| fault)?;
    Ok(steps[0].session.addr.to_string())
}

#[test]
fn an_apps_own_action_comes_before_anothers_alias() {
    assert_eq!(meant("edit('a', 'b')").unwrap(), "todo/main");
    assert_eq!(meant("edit(entry='a', text='b')").unwrap(), "todo/main");
    assert_eq!(meant("edit('a', 'b', 'c')").unwrap(), "notes/main");
    assert_eq!(meant("edit(file_path='a', old='b', new='c')").unwrap(), "notes/main");
    assert_eq!(meant("notes.edit('a', 'b', 'c')").unwrap(), "notes/main");
    // What neither takes is told of the app's own.
    assert!(meant("edit(nothing='a')").unwrap_err().message.contains("unknown parameter"));
}

#[test]
fn unknown_parameter_is_told_of_the_form_that_knows_the_others() {
    let mut scene = Scene::new();
    let at = action("insert", &["at", "text"], Prominence::Help);
    let beside = action("insert", &["text", "before", "after"], Prominence::Help);
    scene.session("notes/main").prototypes = Rc::new(vec![at, beside]);
    let actions = scene.session("notes/main").prototypes.clone();
    scene.workspace.windows.set_actions(&key("notes/main"), Some(actions));
    let code = "notes.insert(text='x', before='a', in='b')";
    let script = parse_undecided(code, None).unwrap();
    let planner = Planner::new(&scene.workspace, &scene.sessions, code);
    let (_, fault) = planner.plan_parts(&[(code, &script)]).unwrap_err();
    assert!(fault.message.contains("insert has text, before, after"), "{}", fault.message);
}
