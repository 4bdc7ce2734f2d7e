//! The example apps `arena` and `ide`, from the first view to the last effect.

use std::process::Command;

use pipemux_tests::TestEnv;

fn arena() -> TestEnv {
    let env = TestEnv::new();
    env.install("arena", "examples/arena", "");
    env.pipemux(&["open", "arena"]).ok();
    env
}

#[test]
fn arena_is_printed_as_the_scenario_writes_it() {
    let env = arena();
    let view = env.pipemux(&["view"]);
    let (one, two, robber) = (view.ok().obj("史莱姆1"), view.obj("史莱姆2"), view.obj("强盗"));
    let link = |label: &str| view.link(label);
    let expected = format!(
        "## 敌人列表\n\
         | Name | Level | HP | State |\n\
         |------|-------|-----|-------|\n\
         | [史莱姆1](obj:enemy:{one}) | 1 | 11 | 正在舔舐伤口 |\n\
         | [史莱姆2](obj:enemy:{two}) | 1 | 15 | 惊恐的看着你 |\n\
         | [强盗](obj:enemy:{robber}) | 2 | 25 | 做出战斗的架势 |\n\
         \n## 快捷栏 (Action Links)\n\
         - [攻击史莱姆1](link:{} \"attack(target='obj:enemy:{one}')\")\n\
         - [攻击史莱姆2](link:{} \"attack(target='obj:enemy:{two}')\")\n\
         - [攻击强盗](link:{} \"attack(target='obj:enemy:{robber}')\")\n\
         - [火球术](link:{} \"cast_fireball(target='obj:enemy:{robber}', mana=20)\")\n\
         - [逃跑](link:{} \"flee()\")\n",
        link("攻击史莱姆1"),
        link("攻击史莱姆2"),
        link("攻击强盗"),
        link("火球术"),
        link("逃跑"),
    );
    view.has(&expected);
    let help = env.pipemux(&["help", "arena", "--full"]);
    help.ok().has("/** 魔法攻击 @param mana (Default: 10) */\nfunction cast_fireball(target: Anchor<enemy>, mana: int = 10): void;");
    // Links are steps like any other, in a script and in a message.
    let both =
        format!("click(link:{}); click(link:{}) // and run", link("攻击史莱姆1"), link("逃跑"));
    let ran = env.run(&both);
    ran.ok().has("1 done · clicked \"攻击史莱姆1\" (attack) of arena/main: 史莱姆1 takes 11, dies");
    ran.has("2 done · clicked \"逃跑\" (flee) of arena/main: you run");
}

#[test]
fn failed_step_keeps_the_effect_of_earlier_steps() {
    let env = arena();
    let slime = env.pipemux(&["view"]).ok().obj("史莱姆1");
    let code = format!("attack(target='obj:enemy:{slime}'); loot('obj:enemy:{slime}')");
    let ran = env.run(&code);
    ran.exits(1).has("1 done · attack: 史莱姆1 takes 11, dies");
    ran.has(&format!("2 failed · loot: Anchor obj:enemy:{slime} not found in current context."));
    let view = env.pipemux(&["view"]);
    view.ok().has("0 gold").lacks("[史莱姆1](");
    // The answer offered this link instead.
    env.pipemux(&["click", &ran.link("loot it").to_string()]).ok().has("7 gold");
}

#[test]
fn steps_after_a_failure_are_skipped() {
    let env = arena();
    let view = env.pipemux(&["view"]);
    let (first, second) = (view.obj("史莱姆1"), view.obj("史莱姆2"));
    let code = format!("attack(obj:{first}); loot(obj:{first}); attack(obj:{second})");
    env.run(&code).exits(1).has(&format!(": attack(obj:{second}) · pipemux answer"));
    env.pipemux(&["view"]).ok().has("[史莱姆2]").has("| 15 |");
    let as_data = env.pipemux(&["run", "--json", &format!("attack(obj:{first}); flee()")]);
    let steps = as_data.exits(3).json()["steps"].clone();
    assert_eq!((&steps[0]["status"], &steps[1]["status"]), (&"failed".into(), &"skipped".into()));
}

#[test]
fn click_runs_the_titled_call_and_an_outdated_link_runs_nothing() {
    let env = arena();
    let view = env.pipemux(&["view"]);
    let (attack, flee) = (view.link("攻击史莱姆1"), view.link("逃跑"));
    env.pipemux(&["click", &format!("link:{attack}")]).ok().has("史莱姆1 takes 11, dies");
    // Its target is gone, so the link runs nothing, and in particular nothing else.
    let gone = env.pipemux(&["click", &format!("link:{attack}")]);
    gone.exits(3).has(&format!("Anchor link:{attack} not found in current context. 史莱姆1 died."));
    env.pipemux(&["click", &flee.to_string()]).ok().has("You are safe.");
    // An action that isn't available now can't be called.
    env.run("flee()").exits(2);
}

#[test]
fn staged_files_become_a_real_git_commit() {
    let env = TestEnv::new();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let mut git = Command::new("git");
        git.args(identity).args(args).current_dir(env.project()).env("HOME", env.root());
        let ended = git.output().expect("git");
        assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    };
    std::fs::create_dir(env.path("src")).expect("a directory");
    env.write("src/main.ts", "main()\n");
    env.write("src/utils.ts", "export {}\n");
    git(&["init", "--quiet"]);
    git(&["config", "user.name", "t"]);
    git(&["config", "user.email", "t@example.org"]);
    env.install("ide", "examples/ide", "exec = true\nfolder = \"write\"\n");

    let opened = env.pipemux(&["open", "ide"]);
    opened.ok().has("- [src/main.ts](obj:file:src/main.ts)");
    opened.has("- [src/utils.ts](obj:file:src/utils.ts)");
    env.run("ide.git_stage(files=[obj:file:src/main.ts])").ok().has("1 file staged");
    let view = env.pipemux(&["view"]);
    view.has("- [src/main.ts](obj:file:src/main.ts) staged");
    let commit = view.link("Git: Commit All");
    view.has(&format!(
        "## 快速操作 (Action Links)\n\
         - [Git: Commit All](link:{commit} \"git_commit(message='Update', files=git_staged())\")\n"
    ));
    view.has("## 文件浏览器\n- [src/main.ts](obj:file:src/main.ts) staged\n");

    env.run("git_commit(message='Update', files=git_staged())").ok().has("Update");
    assert_eq!(git(&["log", "--format=%s", "--name-only"]), "Update\n\nsrc/main.ts\n");
    // Nothing is staged now: the error is the message of git, and there is no second commit.
    env.run("git_commit(message='Update', files=git_staged())").exits(1).has("git commit");

    env.run("git_stage(files=['src/utils.ts'])").ok();
    // The same link commits what is staged by now.
    assert_eq!(env.pipemux(&["view"]).link("Git: Commit All"), commit);
    env.pipemux(&["click", &commit.to_string()]).ok();
    assert_eq!(git(&["log", "--format=%s"]), "Update\nUpdate\n");
    assert_eq!(git(&["status", "--short"]), "");
}

#[test]
fn file_anchor_names_the_same_file_from_every_directory() {
    let env = TestEnv::new();
    for (dir, text) in [("", "root\n"), ("elsewhere/", "another\n")] {
        std::fs::create_dir_all(env.path(&format!("{dir}src"))).expect("a directory");
        env.write(&format!("{dir}src/设计 (1).ts"), text);
    }
    env.install("ide", "examples/ide", "");
    let opened = env.pipemux(&["open", "ide"]);
    let file = "obj:file:src/设计%20%281%29.ts";
    opened.ok().has(&format!("- [src/设计 (1).ts]({file})"));
    env.pipemux(&["open", "editor"]).ok();
    let elsewhere = |args: &[&str]| env.command(args).current_dir(env.path("elsewhere")).output();
    // As an anchor, bare or quoted: the file that was shown. As a string: from the caller's
    // directory.
    elsewhere(&["run", &format!("editor.open({file})")]).ok().has("1\troot");
    elsewhere(&["run", &format!("editor.open('{file}@e1')")]).ok().has("1 line");
    elsewhere(&["run", "editor.open('src/设计 (1).ts')"]).ok().has("1\tanother");
    elsewhere(&["read", file]).ok().has("root");
    // The path of an entry would be its text: it is refused.
    env.pipemux(&["open", "notebook"]).ok();
    let entry = env.run("notebook.add('title', text=obj:file:src/设计%20%281%29.ts)").obj("title");
    let refused = env.run(&format!("editor.open(obj:entry:{entry})"));
    refused.exits(2).has(&format!("obj:entry:{entry} of notebook/main has no path"));
}
