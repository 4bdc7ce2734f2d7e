//! The editor's task with rmcp's client: argument 1 is `pipemux`, argument 2 a project with a
//! function `greet` in `a.rs`. `tests/mcp-clients/run` runs it beside the clients of other makers.
#![forbid(unsafe_code)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, JsonObject, ReadResourceRequestParams};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::process::Command;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(pipemux), Some(project)) = (arguments.next(), arguments.next()) else {
        return Err("expected two arguments: pipemux and a project".into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(edit(&pipemux, &project))
}

#[expect(clippy::print_stdout, reason = "its output is the transcript")]
async fn edit(pipemux: &Path, project: &Path) -> Outcome<()> {
    let mut server = Command::new(pipemux)
        .arg("mcp")
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err("the server has no standard streams".into());
    };
    let client = ().serve((output, input)).await?;
    let tools = client.list_all_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["ask", "run_code_snippet", "open", "close"]);

    let code = |code: &str| json!({ "code": code });
    let found = call(&client, "ask", code("editor.find('greet')")).await?;
    assert!(found.text.contains("fn greet"), "{found:?}");
    let renamed =
        call(&client, "run_code_snippet", code("editor.rename('greet', 'welcome')")).await?;
    assert!(renamed.text.contains("1 done · rename"), "{renamed:?}");
    let read = || std::fs::read_to_string(project.join("a.rs"));
    assert!(read()?.contains("fn welcome"));
    assert!(call(&client, "ask", code("editor.undo()")).await?.is_error);
    call(&client, "run_code_snippet", code("undo")).await?;
    assert!(read()?.contains("fn greet"));

    call(&client, "open", json!({ "app": "editor", "args": ["a.rs"] })).await?;
    let resources = client.list_all_resources().await?;
    let uris: Vec<&str> = resources.iter().map(|one| one.uri.as_ref()).collect();
    assert_eq!(uris, ["pipemux://editor/main"]);
    let window = client.read_resource(ReadResourceRequestParams::new(uris[0])).await?;
    assert!(serde_json::to_string(&window)?.contains("fn greet"), "{window:?}");
    client.cancel().await?;
    server.wait().await?;
    println!("rmcp's client: done");
    Ok(())
}

#[derive(Debug)]
struct Answer {
    text: String,
    is_error: bool,
}

#[expect(clippy::print_stdout, reason = "its output is the transcript")]
async fn call(
    client: &RunningService<RoleClient, ()>,
    tool: &'static str,
    arguments: Value,
) -> Outcome<Answer> {
    let arguments: JsonObject = serde_json::from_value(arguments)?;
    let shown = serde_json::to_string(&arguments)?;
    let params = CallToolRequestParams::new(tool).with_arguments(arguments);
    let result = client.call_tool(params).await?;
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let text: String = texts.map(|piece| piece.text.as_str()).collect();
    println!("> {tool} {shown}\n{text}");
    Ok(Answer { text, is_error: result.is_error == Some(true) })
}
