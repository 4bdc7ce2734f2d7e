//! A plan is a contract: over real processes its commands run once a person allows them, what
//! failed opens a new cycle, and its requirements become nodes of the memory tree.

use pipemux_tests::{TestClient, TestEnv};

/// A project with a plan, the test of which has a command that fails until there is a file.
fn planned() -> TestEnv {
    let env = TestEnv::new();
    env.write("planner.toml", "driver = \"agent\"\n");
    env.run("planner.plan('add an audit log')").ok();
    for role in
        ["ProductPlanner", "SystemDesigner", "SeniorDeveloper", "TestPlanner", "RiskPlanner"]
    {
        env.run(&format!("planner.verdict('{role}', ok=true, reasons=['clear'])")).ok();
    }
    let plan = "why: 'w', what: 'a log', requirements: [{id: 'R1', text: 'each change is logged'}], draft_files: [], \
                acceptance: [{id: 'A1', requirement: 'R1', text: 'a change shows up', command: 'test -d .git'}], scope: [], \
                non_goals: [], open_questions: [], test_plan: [{id: 'T1', covers: ['A1'], text: 'look', command: 'cat audit.log'}], \
                risks: []";
    env.run(&format!(
        "planner.speak({{agreed_points: [], reserved_points: [], strong_disagreements: [], summary: 's', plan: {{{plan}}}}})"
    ))
    .ok();
    env.run("planner.accept()").ok();
    env.pipemux(&["view", "planner/main"]).ok().has("- check(): runs the commands");
    env
}

#[test]
fn what_fails_of_a_plan_opens_a_new_cycle_once_a_person_allowed_its_commands() {
    let env = planned();
    let refused = env.run("planner.check()");
    refused.exits(9).has("nobody has allowed these commands").has("pipemux consent");
    env.pipemux(&["consent"]).ok().has("runs: test -d .git").has("runs: cat audit.log");
    assert_eq!(TestClient::new(&env, None, "person").allow_all().len(), 1);
    let ended = env.pipemux(&["run", "--wait", "60", "planner.check()"]);
    ended.has("1 failed, 1 passed").has("T1 failed, status 1: look").has("audit.log");
    let view = env.pipemux(&["view", "planner/main"]);
    view.ok()
        .has("**R1** failed: each change is logged")
        .has("planner.adjust(\"What failed has to hold.\", check=true)");
    env.write("audit.log", "x\n");
    env.pipemux(&["run", "--wait", "60", "planner.check()"]).ok().has("2 passed");
    env.run("planner.adjust('x', check=true)").exits(9).has("nothing failed");
    env.write("audit.log.old", "");
    std::fs::remove_file(env.path("audit.log")).expect("the file was there");
    env.pipemux(&["run", "--wait", "60", "planner.check()"]).has("1 failed");
    env.run("planner.adjust('What failed has to hold.', check=true)").ok().has("round 1");
    env.pipemux(&["ask", "planner.payload()"]).ok().has("Check 3 of version 1 failed");
}

#[test]
fn requirements_become_nodes_of_the_memory_tree_once() {
    let env = planned();
    let call = "memotree.add_many(planner.nodes())";
    env.run(call).ok().has("added 2 nodes: add-an-audit-log-plan, add-an-audit-log-r1");
    env.run(call).ok().has("nothing changed");
    let node = env.read(".memotree/nodes/add-an-audit-log-r1.md");
    assert!(node.contains("- A1: a change shows up · `test -d .git`"), "{node}");
    assert!(node.contains("tags:\n  - add-an-audit-log"), "{node}");
}
