//! `transport = "stdio"`: the app of PROTOCOL.md over standard input and output.

use std::fs;

use pipemux_proto::client::{Body, Verb, ViewArgs};

use crate::harness::{Client, TestHome};

const PAGE: &str = include_str!("../../../pipemux-proto/PROTOCOL.md");
const OVER_FD: &str = "sock = socket.socket(fileno=int(os.environ[\"PIPEMUX_FD\"]))\n\
                       stream = sock.makefile(\"rb\")\n";
const OVER_STDIO: &str = r#"
import sys
assert os.environ["PIPEMUX_TRANSPORT"] == "stdio" and "PIPEMUX_FD" not in os.environ
class sock:
    @staticmethod
    def sendall(data): sys.stdout.buffer.write(data); sys.stdout.buffer.flush()
stream = sys.stdin.buffer
print("to the log", file=sys.stderr, flush=True)
"#;

#[test]
fn app_works_over_standard_input_and_output() {
    let home = home();
    write(&home, "todo", &code());
    let _daemon = home.serve();
    let mut client = Client::connect(&home);
    client.open("todo").unwrap();
    let run = |code: &str| Verb::Run { code: code.into(), stdin: None, only_queries: false };
    let Body::Text(text) = client.ask(run("todo.add(\"buy 牛奶\")")).unwrap() else { panic!() };
    assert!(text.contains("1 to do"), "{text}");
    let view = Verb::View(ViewArgs::default());
    let Body::Text(text) = client.ask(view).unwrap() else { panic!() };
    assert!(text.contains("buy 牛奶"), "{text}");
    assert_eq!(home.session_log("todo", "main"), "to the log\n");
}

#[test]
fn stray_output_breaks_only_its_app_and_is_explained() {
    let home = home();
    write(&home, "todo", &code());
    let chatty = code()
        .replace("send(EVENT, HELLO", "print(\"Loading model…\", flush=True)\nsend(EVENT, HELLO");
    write(&home, "chatty", &chatty);
    let _daemon = home.serve();
    let mut client = Client::connect(&home);
    client.open("todo").unwrap();
    let why = client.open("chatty").unwrap_err();
    assert!(why.contains("standard output carries frames and nothing else"), "{why}");
    assert!(why.contains("print to standard error"), "{why}");
    client
        .ask(Verb::Run { code: "todo.add(\"x\")".into(), stdin: None, only_queries: false })
        .unwrap();
}

fn home() -> TestHome {
    let found = std::process::Command::new("python3").arg("--version").output();
    assert!(found.is_ok(), "these tests run the example of PROTOCOL.md and need python3");
    TestHome::new()
}

fn code() -> String {
    let start = PAGE.find("```python\n").unwrap() + "```python\n".len();
    let code = &PAGE[start..];
    let code = &code[..code.find("\n```").unwrap() + 1];
    assert!(code.contains(OVER_FD));
    code.replace(OVER_FD, OVER_STDIO)
}

fn write(home: &TestHome, id: &str, code: &str) {
    let script = home.directory.path().join(format!("{id}.py"));
    fs::write(&script, code).unwrap();
    let script = script.display();
    home.manifest(
        id,
        &format!(
            "id = \"{id}\"\ncommand = \"python3\"\nargs = [\"{script}\"]\ntransport = \"stdio\"\n"
        ),
    );
}
