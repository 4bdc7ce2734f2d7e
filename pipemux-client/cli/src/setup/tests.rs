//! Setting up on files as users have them, and on broken ones.

use std::fs;
use std::path::Path;

use clap::ValueEnum;

use super::*;

const COMMAND: &str = "pipemux";

pub(super) struct Home {
    pub(super) directory: tempfile::TempDir,
}

impl Home {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("project/.git")).unwrap();
        Self { directory }
    }

    pub(super) fn places(&self, project: bool) -> Places {
        let home = self.directory.path().to_str().unwrap().to_owned();
        let get = |name: &str| (name == "HOME").then(|| home.clone());
        Places::new(get, Some(self.directory.path().join("project")), project).unwrap()
    }

    pub(super) fn run(&self, args: SetupArgs) -> Result<String, ClientError> {
        let (changes, said) = set_up(args, &self.places(args.project), COMMAND)?;
        Ok(changes.text(&said) + "\n")
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.directory.path().join(path)).unwrap()
    }

    /// Returns all files with their texts.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        fn walk(directory: &Path, found: &mut Vec<(String, String)>) {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => walk(&path, found),
                    false => {
                        let text = fs::read_to_string(&path).unwrap();
                        found.push((path.display().to_string(), text));
                    }
                }
            }
        }
        let mut found = Vec::new();
        walk(self.directory.path(), &mut found);
        found.sort();
        found
    }
}

pub(super) fn args(harness: Harness) -> SetupArgs {
    SetupArgs { harness, with: Some(With::Mcp), project: false, remove: false, dry_run: false }
}

/// Real files, each with comments where its harness allows them, and another server.
const SAMPLES: &[(Harness, &str, &str)] = &[
    (
        Harness::ClaudeCode,
        ".claude.json",
        "{\n  \"numStartups\": 12,\n  \"mcpServers\": {\n    \"github\": { \"type\": \"http\", \"url\": \"https://api.example.org/mcp\" }\n  },\n  \"projects\": {}\n}",
    ),
    (
        Harness::Codex,
        ".codex/config.toml",
        "# my model\nmodel = \"o9\"   # fast\n\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"docs\"]\n\n[projects.\"/home/me/demo\"]\ntrust_level = \"trusted\"\n",
    ),
    (
        Harness::Gemini,
        ".gemini/settings.json",
        "{\n\t// theme\n\t\"ui\": {\"theme\": \"Atom One\"},\n\t\"mcpServers\": {\n\t\t\"docs\": {\"command\": \"npx\", \"args\": [\"-y\", \"docs\"]},\n\t},\n}\n",
    ),
    (
        Harness::Cursor,
        ".cursor/mcp.json",
        "{\"mcpServers\":{\"docs\":{\"url\":\"https://docs.example.org\"}}}",
    ),
    (
        Harness::Vscode,
        ".config/Code/User/mcp.json",
        "{\n    \"servers\": {\n        \"docs\": {\n            \"type\": \"http\",\n            \"url\": \"https://docs.example.org\"\n        }\n    },\n    \"inputs\": []\n}\n",
    ),
    (
        Harness::Zed,
        ".config/zed/settings.json",
        "// Zed settings\n//\n// For information, see the documentation.\n{\n  \"vim_mode\": true, // of course\n  \"context_servers\": {\n    // \"off\": {},\n    \"docs\": { \"command\": \"npx\", \"args\": [\"docs\"] },\n  },\n  /* last */\n  \"theme\": \"One Dark\",\n}\n",
    ),
    (
        Harness::Opencode,
        ".config/opencode/opencode.jsonc",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // models\n  \"model\": \"a/b\"\n}\n",
    ),
    (
        Harness::QwenCode,
        ".qwen/settings.json",
        "{\n  // models\n  \"model\": { \"name\": \"a\" },\n  \"mcpServers\": {\n    \"docs\": { \"httpUrl\": \"https://docs.example.org\" }\n  }\n}\n",
    ),
    (
        Harness::Copilot,
        ".copilot/mcp-config.json",
        "{\n  \"mcpServers\": {\n    \"docs\": { \"type\": \"http\", \"url\": \"https://docs.example.org\", \"tools\": [\"*\"] }\n  }\n}\n",
    ),
];

#[test]
fn every_line_of_a_users_file_stays_and_removal_restores_it() {
    for (harness, path, text) in SAMPLES {
        let home = Home::new();
        home.write(path, text);
        let report = home.run(args(*harness)).unwrap();
        let set = home.read(path);
        assert!(set.contains("pipemux") && set.contains("mcp"), "{set}");
        assert!(report.contains("+") && report.contains("is set up"), "{report}");
        let tokens = |text: &str| {
            text.split_whitespace().map(|w| w.trim_end_matches(',').to_owned()).collect::<Vec<_>>()
        };
        if text.contains('\n') {
            let (before, after) = (tokens(text), tokens(&set));
            let kept = before.iter().filter(|word| after.contains(word)).count();
            assert_eq!(kept, before.len(), "{harness:?}: {set}");
        }
        // A second time changes nothing.
        assert!(home.run(args(*harness)).unwrap().contains("already"), "{harness:?}");
        assert_eq!(home.read(path), set);
        home.run(SetupArgs { remove: true, ..args(*harness) }).unwrap();
        let removed = home.read(path);
        assert!(!removed.contains("pipemux"), "{harness:?}: {removed}");
        // What the section's braces or a comma were laid out as may differ, nothing else.
        assert_eq!(tokens(&removed).concat(), tokens(text).concat(), "{harness:?}");
        assert!(
            home.run(SetupArgs { remove: true, ..args(*harness) })
                .unwrap()
                .contains("nothing changed")
        );
    }
}

#[test]
fn empty_home_is_set_up_for_every_harness_and_emptied_again() {
    for harness in Harness::value_variants() {
        for project in [false, true] {
            for with in [With::Mcp, With::Both] {
                if *harness == Harness::AgentsMd && !project && with == With::Mcp {
                    continue;
                }
                let home = Home::new();
                let all = SetupArgs { project, with: Some(with), ..args(*harness) };
                let dry = home.run(SetupArgs { dry_run: true, ..all }).unwrap();
                assert!(dry.contains("--dry-run") && dry.contains("+++ "), "{dry}");
                assert_eq!(home.files(), []);
                home.run(all).unwrap();
                let set = home.files();
                assert!(set.iter().any(|(_, text)| text.contains("pipemux")), "{set:?}");
                assert!(home.run(all).unwrap().contains("already"), "{harness:?}");
                assert_eq!(home.files(), set);
                home.run(SetupArgs { remove: true, ..all }).unwrap();
                let left: String = home.files().iter().map(|(_, text)| text.trim()).collect();
                assert!(left.replace("{}", "").is_empty(), "{harness:?}: {left}");
            }
        }
    }
}

#[test]
fn broken_file_is_left_as_it_is_and_told() {
    for (harness, path, broken) in [
        (Harness::ClaudeCode, ".claude.json", "{\n  \"mcpServers\": {\n"),
        (Harness::ClaudeCode, ".claude.json", "{ \"mcpServers\": [] }"),
        (Harness::Gemini, ".gemini/settings.json", "[]\n"),
        (Harness::Zed, ".config/zed/settings.json", "{ \"a\": 1 \"b\": 2 }"),
        (Harness::Codex, ".codex/config.toml", "[mcp_servers\ncommand = \"x\"\n"),
        (Harness::Codex, ".codex/config.toml", "mcp_servers = 3\n"),
        (Harness::Cursor, ".cursor/mcp.json", "<<<<<<< HEAD\n{}\n"),
    ] {
        let home = Home::new();
        home.write(path, broken);
        let before = home.files();
        for all in [args(harness), SetupArgs { with: Some(With::Both), ..args(harness) }] {
            let error = home.run(all).unwrap_err();
            assert!(error.to_string().contains("nothing was written"), "{error}");
            assert!(error.fault().hints[0].contains("pipemux"), "{error:?}");
            assert_eq!(home.files(), before);
        }
        // Removal of what can't be found changes nothing, either.
        let _ = home.run(SetupArgs { remove: true, ..args(harness) });
        assert_eq!(home.files(), before, "{harness:?}");
    }
}

#[test]
fn hooks_stand_beside_those_of_others() {
    let home = Home::new();
    let others = "{\n  \"hooks\": {\n    \"SessionStart\": [\n      { \"matcher\": \"startup\", \"hooks\": [{ \"type\": \"command\", \"command\": \"echo hi\" }] }\n    ],\n    \"SessionEnd\": []\n  }\n}\n";
    home.write(".claude/settings.json", others);
    let skill = SetupArgs { with: Some(With::Skill), ..args(Harness::ClaudeCode) };
    home.run(skill).unwrap();
    let set: serde_json::Value = serde_json::from_str(&home.read(".claude/settings.json")).unwrap();
    assert_eq!(set["hooks"]["SessionStart"].as_array().unwrap().len(), 2);
    let own = &set["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"];
    assert_eq!(own, "pipemux inject --hook");
    assert!(home.read(".claude/skills/pipemux/SKILL.md").contains("name: pipemux"));
    home.run(SetupArgs { remove: true, ..skill }).unwrap();
    assert_eq!(home.files().len(), 1);
    let kept: serde_json::Value =
        serde_json::from_str(&home.read(".claude/settings.json")).unwrap();
    assert_eq!(kept, serde_json::from_str::<serde_json::Value>(others).unwrap());
}

#[test]
fn linked_file_stays_a_link_and_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.write("dotfiles/mcp.json", "{}\n");
    let real = home.directory.path().join("dotfiles/mcp.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(home.directory.path().join(".cursor")).unwrap();
    let link = home.directory.path().join(".cursor/mcp.json");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    home.run(args(Harness::Cursor)).unwrap();
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("pipemux"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}
