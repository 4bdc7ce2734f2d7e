//! `pipemux completions` and `pipemux man`.

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use pipemux_client::ClientError;

use super::args::Cli;

/// Returns a shell's completions.
pub fn completions(shell: Shell) -> String {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pipemux", &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the man page of the program, or of one verb: `run`, `app add`.
///
/// # Errors
/// There is no such verb.
pub fn man(verb: &[String]) -> Result<String, ClientError> {
    let mut command = Cli::command();
    command.build();
    let mut name = "pipemux".to_owned();
    let mut found = &command;
    for word in verb {
        found = found.find_subcommand(word).ok_or_else(|| no_verb(found, word))?;
        name = format!("{name}-{word}");
    }
    let mut out = Vec::new();
    Man::new(found.clone())
        .title(name)
        .source(concat!("pipemux ", env!("CARGO_PKG_VERSION")))
        .render(&mut out)
        .map_err(|error| ClientError::invalid(format!("the man page can't be written: {error}")))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn no_verb(command: &Command, word: &str) -> ClientError {
    let verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    ClientError::invalid(format!("there is no verb {word}"))
        .hint(format!("verbs: {}", verbs.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_shell_and_every_verb_has_its_file() {
        for shell in Shell::value_variants() {
            assert!(completions(*shell).contains("answer"), "{shell}");
        }
        for verb in Cli::command().get_subcommands() {
            let page = man(&[verb.get_name().to_owned()]).unwrap();
            let version = concat!("\"pipemux ", env!("CARGO_PKG_VERSION"));
            let title = page.lines().find(|line| line.starts_with(".TH")).unwrap_or_default();
            assert!(title.contains(version) && page.contains(".SH"), "{title}");
        }
        assert!(man(&[]).unwrap().contains("pipemux"));
        assert_eq!(man(&["frob".to_owned()]).unwrap_err().exit_status(), 2);
    }
}
