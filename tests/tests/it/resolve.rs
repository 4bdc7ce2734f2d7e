//! A text from anywhere names things of apps: what each is now, and the one call that it names.

use pipemux_tests::TestEnv;

const KNOWLEDGE: &str = "# Architecture\nOne daemon.\n## Wire\nFrames.\n# Release\nFriday.\n";

#[test]
fn tokens_of_a_message_are_told_apart_and_the_one_it_chooses_is_clicked() {
    let env = TestEnv::new();
    let add = env.command(&["run", "memotree.add_many(rows=stdin)"]).stdin(KNOWLEDGE.as_bytes());
    add.output().ok();
    env.run("memotree.query_save('ships', 'Friday'); memotree.remove('Release')").ok();
    env.pipemux(&["view", "memotree"]).ok();
    let message = "Look at [[MT:Node:architecture]] and [[MT:Node:wire]], not [[MT:Node:release]];\n\
        [[MT:Node:invented]] is mine. Then [[MT:View:default]] or [[MT:Query:ships]].\n";
    let told = env.command(&["resolve", "-"]).stdin(message.as_bytes()).output();
    told.ok().has("[[MT:Node:architecture]] live · \"Architecture\" · memotree/main\n");
    told.has(
        "  pipemux click '[[MT:Node:architecture]]' = memotree.expand('architecture') · taken by ",
    );
    told.has("[[MT:Node:wire]] hidden · \"Wire\" · memotree/main, in Architecture · ");
    told.has("memotree.expand");
    told.has("[[MT:Node:release]] gone · memotree/main · It was removed; to bring it back: ");
    told.has("[[MT:Node:invented]] forged · memotree/main · nothing ever had that name\n");
    told.has("[[MT:View:default]] live").has("= memotree.switch('default')");
    told.has("[[MT:Query:ships]] live").has("= memotree.search('ships')");
    let data = env.pipemux(&["resolve", "[[MT:Node:wire]]", "--json"]);
    data.ok().has("\"status\": \"hidden\"").has("\"click\": \"memotree.expand('wire')\"");
    // A click expands a node, and the next one folds it.
    let chosen = "I choose [[MT:Node:architecture]].";
    let run = env.command(&["resolve", "--run", "-"]).stdin(chosen.as_bytes()).output();
    run.ok().has("One daemon.");
    env.pipemux(&["click", "[[MT:Node:architecture]]"]).ok();
    env.pipemux(&["view", "memotree"]).ok().lacks("One daemon.");
    env.run("[[MT:Query:ships]]").ok();
    env.pipemux(&["ask", "[[MT:Node:wire]]"]).exits(9).has("only queries may run here");
    env.pipemux(&["resolve", "--run", message])
        .exits(2)
        .has("expected one")
        .has("pipemux click '[[MT:");
    env.pipemux(&["click", "[[MT:Node:invented]]"]).exits(3).has("not found in current context");
    env.pipemux(&["close", "memotree/main"]).ok();
    let told = env.pipemux(&["resolve", "[[MT:Node:wire]]"]);
    told.ok().has("hidden · the window of memotree/main is closed: pipemux open memotree/main\n");
    env.pipemux(&["resolve", "no tokens"]).ok().has("0 refs and tokens found");
}
