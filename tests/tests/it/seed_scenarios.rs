//! The two scenarios of the UI-Anchor seed, as they are written there.

use std::process::Command;

use pipemux_tests::World;

fn arena() -> World {
    let world = World::new();
    world.install("arena", "examples/arena", "");
    world.pipemux(&["open", "arena"]).ok();
    world
}

#[test]
fn enemies_are_a_table_with_links_that_show_what_they_do() {
    let world = arena();
    let view = world.pipemux(&["view"]);
    let slime = view.ok().obj("史莱姆1");
    let robber = view.obj("强盗");
    view.has("| Name | Level | HP | State |").has(" | 1 | 11 | 正在舔舐伤口 |");
    view.has(&format!(
        "- [攻击史莱姆1](link:{} \"arena.attack(target=obj:{slime})\")",
        view.link("攻击史莱姆1")
    ));
    let fireball = format!(" \"arena.cast_fireball(mana=20, target=obj:{robber})\")");
    view.has(&format!("[火球术](link:{}{fireball}", view.link("火球术")));
    view.has(&format!("[逃跑](link:{} \"arena.flee()\")", view.link("逃跑")));
}

#[test]
fn a_dead_enemy_is_not_looted_and_the_attack_stays_done() {
    let world = arena();
    let slime = world.pipemux(&["view"]).ok().obj("史莱姆1");
    let code = format!("attack(target='obj:enemy:{slime}'); loot('obj:enemy:{slime}')");
    let ran = world.run(&code);
    ran.exits(1).has("1 done · attack: 史莱姆1 takes 11, dies");
    ran.has(&format!("2 failed · loot: Anchor obj:{slime} not found in current context."));
    let view = world.pipemux(&["view"]);
    view.ok().has("0 gold").lacks("[史莱姆1](");
    // The way on that the answer offers.
    world.pipemux(&["click", &ran.link("loot it").to_string()]).ok().has("7 gold");
}

#[test]
fn the_first_failure_keeps_the_rest_from_running() {
    let world = arena();
    let view = world.pipemux(&["view"]);
    let (first, second) = (view.obj("史莱姆1"), view.obj("史莱姆2"));
    let code = format!("attack(obj:{first}); loot(obj:{first}); attack(obj:{second})");
    world.run(&code).exits(1).has("not run: arena.attack");
    world.pipemux(&["view"]).ok().has("[史莱姆2]").has("| 15 |");
    let as_data = world.pipemux(&["run", "--json", &format!("attack(obj:{first}); flee()")]);
    let steps = as_data.exits(3).json()["steps"].clone();
    assert_eq!((&steps[0]["status"], &steps[1]["status"]), (&"failed".into(), &"skipped".into()));
}

#[test]
fn a_click_runs_what_its_title_says_and_an_old_one_nothing() {
    let world = arena();
    let view = world.pipemux(&["view"]);
    let (attack, flee) = (view.link("攻击史莱姆1"), view.link("逃跑"));
    world.pipemux(&["click", &format!("link:{attack}")]).ok().has("史莱姆1 takes 11, dies");
    // Its target is dead: the link means nothing any more, least of all something else.
    let gone = world.pipemux(&["click", &format!("link:{attack}")]);
    assert!(matches!(gone.exit, 3 | 4), "{gone}");
    gone.has(&format!("Anchor link:{attack} "));
    world.pipemux(&["click", &flee.to_string()]).ok().has("You are safe.");
    // What makes no sense now isn't there to be called.
    world.run("flee()").exits(2);
}

#[test]
fn a_commit_of_all_that_is_staged_is_a_real_one() {
    let world = World::new();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let mut git = Command::new("git");
        git.args(identity).args(args).current_dir(world.project()).env("HOME", world.root());
        let ended = git.output().expect("git");
        assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    };
    std::fs::create_dir(world.path("src")).expect("a directory");
    world.write("src/main.ts", "main()\n");
    world.write("src/utils.ts", "export {}\n");
    git(&["init", "--quiet"]);
    git(&["config", "user.name", "t"]);
    git(&["config", "user.email", "t@example.org"]);
    world.install("ide", "examples/ide", "");

    let opened = world.pipemux(&["open", "ide"]);
    opened.ok().obj("src/utils.ts");
    let main = opened.obj("src/main.ts");
    world.run("ide.git_stage(files=[obj:file:src/main.ts])").ok().has("1 file staged");
    let view = world.pipemux(&["view"]);
    view.has("\"ide.git_commit(files=['src/main.ts'], message='Update')\"");
    assert_eq!(view.obj("src/main.ts"), main);

    world.run("git_commit(message='Update', files=git_staged())").ok().has("Update");
    assert_eq!(git(&["log", "--format=%s", "--name-only"]), "Update\n\nsrc/main.ts\n");
    // Nothing is staged now: git's own words are the error, and there is no second commit.
    world.run("git_commit(message='Update', files=git_staged())").exits(1).has("git commit");

    world.run("git_stage(files=['src/utils.ts'])").ok();
    let link = world.pipemux(&["view"]).link("Git: Commit All");
    world.pipemux(&["click", &link.to_string()]).ok();
    assert_eq!(git(&["log", "--format=%s"]), "Update\nUpdate\n");
    assert_eq!(git(&["status", "--short"]), "");
}
