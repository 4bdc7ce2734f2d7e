//! Set-up leaves what isn't PipeMux's, and takes back what it did to the byte.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::tests::{Home, args};
use super::*;

const SETTINGS: &str = ".claude/settings.json";

fn skill() -> SetupArgs {
    SetupArgs { with: Some(With::Skill), ..args(Harness::ClaudeCode) }
}

fn remove(harness: Harness) -> SetupArgs {
    SetupArgs { remove: true, with: None, ..args(harness) }
}

#[test]
fn hooks_of_other_programs_and_adjusted_ones_stay() {
    for command in [
        "my-tool inject --hook",
        "/opt/not-pipemux inject --hook --reset",
        "echo pipemux inject --hook",
        "pipemux inject --hooked",
    ] {
        let home = Home::new();
        let hook = format!(
            "{{\"hooks\": {{\"SessionStart\": [{{\"matcher\": \"startup\", \"hooks\": [{{\"type\": \"command\", \"command\": \"{command}\"}}]}}]}}}}"
        );
        home.write(SETTINGS, &hook);
        home.run(skill()).unwrap();
        assert!(home.read(SETTINGS).contains(command), "{command}");
        home.run(remove(Harness::ClaudeCode)).unwrap();
        assert_eq!(home.read(SETTINGS), hook, "{command}");
    }
    let home = Home::new();
    let adjusted = "{\"hooks\": {\"SessionStart\": [{\"matcher\": \"startup\", \"hooks\": [{\"type\": \"command\", \"command\": \"pipemux inject --hook --reset || true\", \"timeout\": 5}, {\"type\": \"command\", \"command\": \"echo hi\"}]}]}}";
    home.write(SETTINGS, adjusted);
    home.run(skill()).unwrap();
    let set = home.read(SETTINGS);
    assert!(set.contains("|| true") && set.contains("\"timeout\": 5"), "{set}");
    assert_eq!(set.matches("--reset").count(), 1, "{set}");
    home.run(remove(Harness::ClaudeCode)).unwrap();
    let left = home.read(SETTINGS);
    assert!(left.contains("echo hi") && !left.contains("pipemux"), "{left}");
}

#[test]
fn printed_way_back_takes_everything_back() {
    for with in [None, Some(With::Skill), Some(With::Both)] {
        for project in [false, true] {
            let home = Home::new();
            let all = SetupArgs { with, project, ..args(Harness::ClaudeCode) };
            let report = home.run(all).unwrap();
            let back = report.trim_end().rsplit("pipemux setup ").next().unwrap();
            assert_eq!(back.contains("--project"), project, "{back}");
            assert!(back.ends_with("--remove") && !back.contains("--with"), "{back}");
            home.run(SetupArgs { project, ..remove(Harness::ClaudeCode) }).unwrap();
            assert_eq!(home.files(), [], "{with:?} {project}");
        }
    }
}

#[test]
fn files_come_back_to_the_byte() {
    let cases: &[(Harness, &str, &[&str])] = &[
        (
            Harness::Codex,
            ".codex/config.toml",
            &[
                "model = \"x\"\r\n[a]\r\nb = 1\r\n",
                "\u{feff}model = \"深い\"\r\n",
                "[mcp_servers]\n# keep\n",
                "mcp_servers = {}\n",
                "mcp_servers.docs = { command = \"x\" }\n",
                "a = 1",
                "# only a comment\n",
                "",
            ],
        ),
        (
            Harness::Cursor,
            ".cursor/mcp.json",
            &[
                "{\r\n  \"mcpServers\": {}\r\n}\r\n",
                "\u{feff}{ \"a\": 1 }\n",
                "{\"mcpServers\": {}}",
                "// only a comment\n",
                "",
                "{}",
                "{ \"emoji\": \"👨‍👩‍👧\", }\n",
            ],
        ),
        (Harness::ClaudeCode, SETTINGS, &["{\"hooks\": {\"SessionStart\": []}}\n", "{ }\r\n"]),
    ];
    for (harness, path, texts) in cases {
        for text in *texts {
            let home = Home::new();
            home.write(path, text);
            let all = SetupArgs { with: Some(With::Both), ..args(*harness) };
            home.run(all).unwrap_or_else(|error| panic!("{text:?}: {error:?}"));
            let set = home.read(path);
            assert!(set.contains("pipemux"), "{set}");
            assert_eq!(set.contains("\r\n"), text.contains("\r\n"), "{set:?}");
            assert!(
                !text.contains("\r\n") || set.matches('\n').count() == set.matches("\r\n").count()
            );
            assert_eq!(set.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
            home.run(remove(*harness)).unwrap();
            assert_eq!(home.read(path), *text);
        }
    }
}

#[test]
fn later_changes_of_the_user_stay_when_pipemux_is_taken_out() {
    let home = Home::new();
    home.write(".codex/config.toml", "# mine\r\na = 1\r\n");
    home.run(args(Harness::Codex)).unwrap();
    let set = home.read(".codex/config.toml");
    home.write(".codex/config.toml", &format!("{set}\r\n# later\r\n[b]\r\nc = 2\r\n"));
    home.run(remove(Harness::Codex)).unwrap();
    assert_eq!(
        home.read(".codex/config.toml"),
        "# mine\r\na = 1\r\n\r\n# later\r\n[b]\r\nc = 2\r\n"
    );
    // Without what was remembered the entries go, and nothing else.
    home.run(args(Harness::Codex)).unwrap();
    fs::remove_dir_all(home.places(false).state).unwrap();
    home.run(remove(Harness::Codex)).unwrap();
    let left = home.read(".codex/config.toml");
    assert!(!left.contains("pipemux") && left.contains("# later"), "{left}");
}

#[test]
fn settings_of_the_users_own_server_stay() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        "{\"mcpServers\":{\"pipemux\":{\"command\":\"/opt/pipemux\",\"args\":[\"mcp\"],\"env\":{\"PIPEMUX_READER\":\"me\"},\"disabled\":true}}}",
    );
    home.run(args(Harness::Cursor)).unwrap();
    let set = home.read(".cursor/mcp.json");
    assert!(set.contains("\"command\":\"pipemux\""), "{set}");
    assert!(set.contains("PIPEMUX_READER") && set.contains("\"disabled\":true"), "{set}");
    home.write(".cursor/mcp.json", "{\"mcpServers\":{\"a\":1},\"mcpServers\":{\"b\":2}}");
    let twice = home.run(args(Harness::Cursor)).unwrap_err();
    assert!(twice.to_string().contains("twice"), "{twice}");
}

#[test]
fn skill_that_the_user_wrote_is_neither_replaced_nor_removed() {
    let home = Home::new();
    let path = ".claude/skills/pipemux/SKILL.md";
    home.write(path, "my own\n");
    let before = home.files();
    for all in [skill(), remove(Harness::ClaudeCode)] {
        let error = home.run(all).unwrap_err();
        assert!(error.fault().hints[0].starts_with("move it away: mv "), "{error:?}");
        assert_eq!(home.files(), before);
    }
}

#[test]
fn link_to_a_file_that_is_not_there_yet_stays_a_link() {
    let home = Home::new();
    home.write(".cursor/x", "");
    fs::create_dir(home.directory.path().join("dot")).unwrap();
    let link = home.directory.path().join(".cursor/mcp.json");
    std::os::unix::fs::symlink("../dot/mcp.json", &link).unwrap();
    home.run(args(Harness::Cursor)).unwrap();
    assert!(link.is_symlink() && home.read("dot/mcp.json").contains("pipemux"));
    home.run(remove(Harness::Cursor)).unwrap();
    assert!(link.is_symlink() && !link.exists());
    // Only a directory that was made for a file goes with it.
    assert!(home.directory.path().join("dot").is_dir());
    home.run(args(Harness::Gemini)).unwrap();
    home.run(remove(Harness::Gemini)).unwrap();
    assert!(!home.directory.path().join(".gemini").exists());
    // What a project shares is readable by those who share it.
    let project = SetupArgs { project: true, ..args(Harness::ClaudeCode) };
    home.run(project).unwrap();
    let mode = fs::metadata(home.directory.path().join("project/.mcp.json")).unwrap();
    assert_ne!(mode.permissions().mode() & 0o044, 0);
}

#[test]
fn project_is_needed_where_its_files_are_meant() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().to_str().unwrap().to_owned();
    let get = |name: &str| (name == "HOME").then(|| home.clone());
    let error = Places::new(get, Some("/".into()), true).unwrap_err();
    assert!(error.fault().hints[0].contains("--project"), "{error:?}");
}

#[test]
fn files_are_replaced_all_or_none() {
    let home = Home::new();
    home.write("a", "1\n");
    home.write("directory/x", "");
    let path = |name: &str| home.directory.path().join(name);
    // A directory stands where the second file is to be.
    let (a, second) = (path("a"), path("directory"));
    let failed =
        files::replace(&[(&a, Some("1\n"), Some("2\n")), (&second, None, Some("x"))], 0o600);
    assert!(failed.unwrap_err().to_string().contains("nothing was"));
    assert_eq!(home.read("a"), "1\n");
    let below = path("a/below");
    let failed =
        files::replace(&[(&a, Some("1\n"), Some("2\n")), (&below, None, Some("x"))], 0o600);
    assert!(failed.is_err());
    assert_eq!(home.read("a"), "1\n");
    // Another program wrote the second one since it was read.
    home.write("b", "theirs\n");
    let b = path("b");
    let ended =
        files::replace(&[(&a, Some("1\n"), Some("2\n")), (&b, Some("old\n"), Some("x"))], 0o600);
    assert_eq!(ended.unwrap(), files::Replaced::Changed);
    assert_eq!((home.read("a"), home.read("b")), ("1\n".into(), "theirs\n".into()));
}

#[test]
fn concurrent_set_ups_lose_nothing() {
    for _ in 0..20 {
        let home = Home::new();
        let mcp = args(Harness::Gemini);
        let both = [mcp, SetupArgs { with: Some(With::Skill), ..mcp }];
        let home = &home;
        std::thread::scope(|scope| {
            for one in both {
                scope.spawn(move || home.run(one).unwrap());
            }
        });
        let set = home.read(".gemini/settings.json");
        assert!(set.contains("mcpServers") && set.contains("BeforeAgent"), "{set}");
    }
}

/// Links in a cloned project don't cause writes outside of it.
#[test]
fn links_of_a_project_are_not_followed_out_of_it() {
    for (at, to) in [
        (".mcp.json", "../.claude.json"),
        (".mcp.json", "../new/folder/x.json"),
        (".mcp.json", "none/../../x.json"),
        (".claude", "../elsewhere"),
    ] {
        let home = Home::new();
        fs::create_dir_all(home.directory.path().join("elsewhere")).unwrap();
        let link = home.directory.path().join("project").join(at);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, &link).unwrap();
        let both = SetupArgs { with: Some(With::Both), project: true, ..args(Harness::ClaudeCode) };
        let error = home.run(both).unwrap_err();
        assert!(error.fault().message.contains("leads out of the project"), "{error:?}");
        let path = |name: &str| home.directory.path().join(name);
        assert_eq!(fs::read_dir(path("elsewhere")).unwrap().count(), 0, "{at} {to}");
        for made in [".claude.json", "new", "x.json", "project/none"] {
            assert!(!path(made).exists(), "{at} {to}: {made}");
        }
    }
}

#[test]
fn tool_that_only_looks_is_allowed_beside_what_the_user_allowed() {
    let home = Home::new();
    let own = "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls:*)\"], // mine\n    \"deny\": [\"WebFetch\"]\n  }\n}\n";
    home.write(SETTINGS, own);
    let both = SetupArgs { with: Some(With::Both), ..args(Harness::ClaudeCode) };
    for set in [args(Harness::ClaudeCode), both] {
        home.run(set).unwrap();
        let text = home.read(SETTINGS);
        assert_eq!(text.matches("mcp__pipemux__ask").count(), 1, "{text}");
        assert!(text.contains("\"Bash(ls:*)\"") && text.contains("// mine"), "{text}");
    }
    // Without what was remembered the tool goes, and nothing else.
    fs::remove_dir_all(home.places(false).state).unwrap();
    home.run(remove(Harness::ClaudeCode)).unwrap();
    let left = home.read(SETTINGS);
    assert_eq!(json::meaning(&left), json::meaning(own), "{left}");
    for broken in ["{\"permissions\": []}", "{\"permissions\": {\"allow\": \"all\"}}"] {
        home.write(SETTINGS, broken);
        let error = home.run(args(Harness::ClaudeCode)).unwrap_err();
        assert!(error.fault().hints[0].contains("mcp__pipemux__ask"), "{error:?}");
        assert_eq!(home.read(SETTINGS), broken);
    }
}

#[test]
fn block_in_agents_md_is_set_once_and_taken_out_exactly() {
    let project = |remove| SetupArgs { project: true, remove, ..args(Harness::AgentsMd) };
    for text in ["# Rules\n\nBe brief.\n", "one line", "a\r\nb\r\n", "\u{feff}深い\n\n\n"] {
        let home = Home::new();
        let path = "project/AGENTS.md";
        home.write(path, text);
        home.run(project(false)).unwrap();
        let set = home.read(path);
        assert!(set.starts_with(text) && set.contains("pipemux --help"), "{set:?}");
        assert!(home.run(project(false)).unwrap().contains("already"));
        home.run(project(true)).unwrap();
        assert_eq!(home.read(path), text);
        // A block of another release is replaced where it stands.
        home.write(path, &format!("{}later\n", set.replace("--help", "--old")));
        home.run(project(false)).unwrap();
        assert_eq!(home.read(path), format!("{set}later\n"));
        // Without what was remembered the block goes, and nothing else.
        fs::remove_dir_all(home.places(true).state).unwrap();
        home.run(project(true)).unwrap();
        let left = home.read(path);
        assert!(left.starts_with(text.trim_end()) && left.ends_with("later\n"), "{left:?}");
        assert!(!left.contains("pipemux"), "{left}");
    }
    let home = Home::new();
    let half = "<!-- end of pipemux setup -->\n";
    home.write("project/AGENTS.md", half);
    assert!(home.run(project(false)).unwrap_err().to_string().contains("don't match"));
    assert_eq!(home.read("project/AGENTS.md"), half);
    let nowhere = home.run(args(Harness::AgentsMd)).unwrap_err();
    assert_eq!(nowhere.fault().hints[0], "pipemux setup agents-md --project");
}

#[test]
fn command_is_a_path_except_where_a_project_shares_the_name() {
    let home = Home::new();
    home.write("opt/pipemux", "");
    home.write("other/pipemux", "");
    let path = |name: &str| home.directory.path().join(name);
    fs::create_dir(path("bin")).unwrap();
    std::os::unix::fs::symlink("../opt/pipemux", path("bin/pipemux")).unwrap();
    let own = path("opt/pipemux");
    for (directories, command, in_project) in [
        // The link stays when the version behind it changes.
        (vec![path("bin"), path("other")], path("bin/pipemux"), "pipemux".into()),
        (vec![path("other"), path("bin")], own.clone(), own.clone()),
        (vec![], own.clone(), own.clone()),
    ] {
        let found = std::env::join_paths(&directories).unwrap();
        assert_eq!(PathBuf::from(own_command(&own, &found, false)), command);
        assert_eq!(PathBuf::from(own_command(&own, &found, true)), in_project);
    }
}
