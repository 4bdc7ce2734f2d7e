//! The catalog is what the apps say of themselves, and its texts stay short.

use std::fs;
use std::path::{Path, PathBuf};

use docui::Actions;
use pipemux_catalog::{APPS, App, app};
use pipemux_proto::prototype::{Param, Prominence, Prototype};

/// Returns an app's prototypes as the app itself gives them.
fn own_prototypes(app: &App) -> Vec<Prototype> {
    match app.id {
        "editor" => pipemux_editor::Action::prototypes(),
        "notebook" => pipemux_notebook::Action::prototypes(),
        "memotree" => pipemux_memotree::Action::prototypes(),
        "planner" => pipemux_planner::Action::prototypes(),
        "terminal" => pipemux_terminal::Action::prototypes(),
        "monitor" => pipemux_monitor::Action::prototypes(),
        other => panic!("{other} is unknown to this test"),
    }
}

fn apps_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in a folder")
}

#[test]
fn every_folder_with_a_manifest_is_an_app() {
    let folders = fs::read_dir(apps_dir()).expect("the folder of apps");
    let folders = folders.filter_map(|entry| Some(entry.ok()?.path()));
    let folders = folders.filter(|folder| folder.join("manifest.toml").exists());
    let mut folders: Vec<_> =
        folders.filter_map(|folder| folder.file_name()?.to_str().map(str::to_owned)).collect();
    let mut apps: Vec<_> = APPS.iter().map(|app| app.id).collect();
    folders.sort();
    apps.sort_unstable();
    assert_eq!(folders, apps);
}

/// Returns the Rust files below a folder that aren't tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn neither_daemon_nor_client_names_an_app() {
    // The tour shows the editor and the notebook.
    const EXCEPTIONS: &[&str] = &["tour.rs"];
    let root = apps_dir().parent().expect("the repository");
    let mut named = Vec::new();
    for part in [
        "pipemux-daemon/src",
        "pipemux-client/src",
        "pipemux-client/cli/src",
        "pipemux-client/mcp/src",
    ] {
        for path in sources(&root.join(part)) {
            let text = fs::read_to_string(&path).expect("a source is text");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let is_excepted = EXCEPTIONS.iter().any(|name| path.ends_with(name));
            let names = |app: &&App| code.contains(&format!("\"{}\"", app.id));
            named.extend(
                APPS.iter()
                    .filter(names)
                    .filter(|_| !is_excepted)
                    .map(|app| (app.id, path.clone())),
            );
        }
    }
    assert_eq!(named, [], "what is known of an app belongs into its folder");
}

#[test]
fn recorded_actions_are_those_of_the_apps() {
    let update = std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always");
    for app in &APPS {
        let own = own_prototypes(app);
        if update {
            let line = |one| serde_json::to_string(one).expect("prototypes are JSON") + "\n";
            let text: String = own.iter().map(line).collect();
            fs::write(apps_dir().join(app.id).join("actions.jsonl"), text).expect("it is written");
        } else {
            let hint = "INSTA_UPDATE=always cargo test -p pipemux-catalog, twice";
            // A default of `null` is none at all in JSON.
            let own: Vec<Prototype> = serde_json::to_value(own)
                .and_then(serde_json::from_value)
                .expect("prototypes are JSON");
            assert_eq!(app.prototypes(), own, "{} has changed: {hint}", app.id);
        }
    }
}

#[test]
fn every_action_of_an_app_is_in_its_guide() {
    for app in &APPS {
        assert_eq!(app.check_guide().unmentioned, Vec::<String>::new(), "{}", app.id);
    }
}

#[test]
fn help_of_an_app_stays_short() {
    let bounds = [
        ("editor", 500),
        ("notebook", 330),
        ("memotree", 480),
        ("planner", 430),
        ("monitor", 150),
        ("terminal", 400),
    ];
    assert_eq!(bounds.len(), APPS.len(), "a bound for each app");
    for (id, most) in bounds {
        let help = app(id).expect("a built-in app").help();
        let tokens = pipemux_tokens::estimate(&help);
        assert!(tokens <= most, "{id}: {tokens} tokens, at most {most}:\n{help}");
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format!("help-{id}"), help));
    }
}

#[test]
fn optional_parameters_are_all_in_the_help() {
    for app in &APPS {
        let texts = app.help();
        for prototype in app.prototypes() {
            let name = prototype.written_name();
            if prototype.prominence == Prominence::Alias || !texts.contains(&format!("{name}(")) {
                continue;
            }
            // Only links name a change.
            let is_told = |param: &&Param| !param.is_required() && param.name != "change";
            for param in prototype.params.iter().filter(is_told) {
                let shown = format!("{}=", param.name);
                assert!(texts.contains(&shown), "{}: {name}({shown})", app.id);
            }
        }
    }
}
