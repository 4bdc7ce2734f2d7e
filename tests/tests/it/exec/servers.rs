//! The tools of the MCP reference server for files.

use pipemux_tests::TestEnv;
use serde_json::{Value, json};

use super::{call, done, failed};

#[test]
fn files_answer_as_the_reference_server_of_mcp_does() {
    let env = TestEnv::new();
    let root = env.project().canonicalize().unwrap().display().to_string();
    let ran = |name: &str, input: Value| call(&env, name, input);
    assert_eq!(
        ran("list_allowed_directories", json!({})),
        done(&format!("Allowed directories:\n{root}"))
    );
    assert_eq!(
        ran("create_directory", json!({ "path": "d/e" })),
        done("Successfully created directory d/e")
    );
    let text = json!({ "path": "d/a.txt", "content": "one\ntwo\n" });
    assert_eq!(ran("write_file", text), done("Successfully wrote to d/a.txt"));
    assert_eq!(ran("read_text_file", json!({ "path": "d/a.txt", "head": 1 })), done("one"));
    let edits = json!({ "path": "d/a.txt", "edits": [{ "oldText": "two", "newText": "drei" }] });
    let rule = "=".repeat(67);
    let diff = format!(
        "```diff\nIndex: d/a.txt\n{rule}\n--- d/a.txt\toriginal\n+++ d/a.txt\tmodified\n@@ -1,2 +1,2 @@\n one\n-two\n+drei\n```\n\n"
    );
    assert_eq!(ran("edit_file", edits.clone()), done(&diff));
    assert_eq!(ran("edit_file", edits), failed("Could not find exact match for edit:\ntwo"));
    let pair = json!({ "source": "d/a.txt", "destination": "d/e/b.txt" });
    assert_eq!(ran("move_file", pair), done("Successfully moved d/a.txt to d/e/b.txt"));
    let pair = json!({ "source": "d", "destination": "f" });
    assert_eq!(ran("move_file", pair), done("Successfully moved d to f"));
    assert_eq!(env.read("f/e/b.txt"), "one\ndrei\n");
    assert_eq!(ran("list_directory", json!({ "path": "f" })), done("[DIR] e"));
    let tree = json!([{ "name": "e", "type": "directory", "children": [{ "name": "b.txt", "type": "file" }] }]);
    let said = ran("directory_tree", json!({ "path": "f" })).0;
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), tree);
    let found = ran("search_files", json!({ "path": ".", "pattern": "**/*.txt" }));
    assert_eq!(found, done(&format!("{root}/f/e/b.txt")));
    assert!(
        ran("get_file_info", json!({ "path": "f/e/b.txt" })).0.starts_with("size: 9\ncreated: ")
    );
    let (said, is_error) = ran("read_file", json!({ "path": "/etc/passwd" }));
    assert!(
        is_error
            && said.starts_with("Access denied - path outside allowed directories: /etc/passwd")
    );
    let several = ran("read_multiple_files", json!({ "paths": ["f/e/b.txt", "no"] })).0;
    assert_eq!(
        several,
        format!(
            "f/e/b.txt:\none\ndrei\n\n\n---\nno: Error - ENOENT: no such file or directory, open '{root}/no'"
        )
    );
}
