use pipemux_planner_course::Role;

use super::*;

fn config(text: &str) -> Result<Config, Fault> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(FILE), text).unwrap();
    Config::read(dir.path())
}

#[test]
fn each_role_has_its_own_driver_or_that_of_all() {
    let config = config(
        "driver = \"script\"\n[roles.TestPlanner]\ndriver = \"local\"\nprompt = \"Test it.\"\n\
         [drivers.script]\ncommand = \"sh say.sh\"\n\
         [drivers.local]\nbase_url = \"http://localhost:1/v1/\"\nmodel = \"m\"\ndeadline = 9\n",
    )
    .unwrap();
    let of = |role| config.driver(Speaker::Role(role), None, "").unwrap();
    let words = vec!["sh".to_owned(), "say.sh".to_owned()];
    let script = DriverSpec::Command { name: "script".into(), words, deadline: DRIVER_DEADLINE };
    assert_eq!(of(Role::RiskPlanner), script);
    assert_eq!(config.driver(Speaker::Coach, Some("agent"), ""), Ok(DriverSpec::Agent));
    let DriverSpec::Http { base_url, deadline, .. } = of(Role::TestPlanner) else { panic!("http") };
    assert_eq!((base_url.as_str(), deadline.as_secs()), ("http://localhost:1/v1", 9));
    assert_eq!(config.prompts()["TestPlanner"], "Test it.");
}

#[test]
fn preset_on_the_path_is_the_default_and_else_the_agent() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap().to_owned();
    let driver = || Config::default().driver(Speaker::Coach, None, &path).unwrap();
    assert_eq!(driver(), DriverSpec::Agent);
    std::fs::write(dir.path().join("codex"), "").unwrap();
    assert_eq!(driver().name(), "codex");
    std::fs::write(dir.path().join("claude"), "").unwrap();
    assert_eq!(driver().name(), "claude");
}

#[test]
fn mistakes_name_the_file_and_the_place() {
    assert!(config("colour = 1").unwrap_err().message.starts_with("planner.toml: "));
    assert_eq!(
        config("[roles.Chef]\n").unwrap_err().message,
        "planner.toml: roles.Chef: there is no such role"
    );
    let named = config("[drivers.x]\nmodel = \"m\"\n").unwrap().named("x").unwrap_err();
    assert_eq!(
        named,
        "planner.toml: drivers.x: expected `command`, `acp`, or `base_url` and `model`"
    );
    let both = config("[drivers.x]\ncommand = \"a\"\nacp = \"b\"\n").unwrap();
    assert_eq!(both.named("x").unwrap_err(), named);
    let long = format!("[coach]\nprompt = \"{}\"\n", "x".repeat(PROMPT_MAX + 1));
    assert_eq!(
        config(&long).unwrap_err().message,
        "planner.toml: coach: the prompt has 8001 characters, at most 8000"
    );
    assert!(Config::default().named("y").unwrap_err().contains("there are agent, claude"));
}
