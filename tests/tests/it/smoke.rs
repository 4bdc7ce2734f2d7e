use pipemux_tests::World;

#[test]
fn it_runs() {
    let world = World::new();
    world.write("a.rs", "one\ntwo\n");
    world.pipemux(&["open", "editor", "a.rs"]).ok().has("one");
    println!("{:?}", world.processes());
    assert!(world.launcher().is_some());
}
