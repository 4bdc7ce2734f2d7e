//! The texts of the units of systemd and of the agent of launchd.

use std::path::Path;

use pipemux_client::daemon::GLIBC_TUNABLES;
use pipemux_client::proto::paths::Paths;
use pipemux_client::service_unit::{escape, listen_line};

/// The first line of every unit; a file without it isn't PipeMux's.
pub const MARK: &str =
    "# Written by `pipemux service install`; `pipemux service uninstall` removes it.";
/// The mark in a property list, which is the third line.
pub const MARK_XML: &str =
    "<!-- Written by `pipemux service install`; `pipemux service uninstall` removes it. -->";
/// The label of launchd's agent.
pub const LABEL: &str = "dev.pipemux.pipemuxd";

/// The daemon that the service runs.
#[derive(Debug, Clone)]
pub struct Daemon<'a> {
    /// The path of `pipemuxd`.
    pub program: &'a Path,
    pub paths: &'a Paths,
    /// Variables that the user has set and that decide what the daemon reads.
    pub variables: Vec<(&'static str, String)>,
}

impl Daemon<'_> {
    /// The text of the unit that listens, even while the daemon restarts or doesn't run.
    pub fn socket_unit(&self) -> String {
        format!(
            "{MARK}\n\
             [Unit]\n\
             Description=Socket of PipeMux\n\
             \n\
             [Socket]\n\
             {}\n\
             SocketMode=0600\n\
             DirectoryMode=0700\n\
             RemoveOnStop=yes\n\
             \n\
             [Install]\n\
             WantedBy=sockets.target\n",
            listen_line(self.paths)
        )
    }

    /// The text of the unit that runs the daemon, which the socket's unit starts.
    pub fn service_unit(&self) -> String {
        let environment: String = self
            .environment()
            .iter()
            .map(|(name, value)| format!("Environment={}\n", quoted(&format!("{name}={value}"))))
            .collect();
        format!(
            "{MARK}\n\
             [Unit]\n\
             Description=PipeMux daemon\n\
             Requires=pipemux.socket\n\
             After=pipemux.socket\n\
             \n\
             [Service]\n\
             Type=notify\n\
             NotifyAccess=main\n\
             ExecStart={} serve\n\
             {environment}\
             WorkingDirectory=/\n\
             # The daemon ends its apps in order; only what is left then is killed.\n\
             KillMode=mixed\n\
             TimeoutStopSec=30\n\
             WatchdogSec=60\n\
             Restart=on-failure\n\
             RestartSec=1\n",
            quoted(&self.program.to_string_lossy())
        )
    }

    /// The agent of launchd. launchd passes no socket: the daemon binds its own, and is started
    /// again when it fails.
    pub fn property_list(&self) -> String {
        let environment: String = self
            .environment()
            .iter()
            .map(|(name, value)| {
                format!("\t\t<key>{name}</key>\n\t\t<string>{}</string>\n", escape_xml(value))
            })
            .collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             {MARK_XML}\n\
             <plist version=\"1.0\">\n\
             <dict>\n\
             \t<key>Label</key>\n\t<string>{LABEL}</string>\n\
             \t<key>ProgramArguments</key>\n\t<array>\n\t\t<string>{}</string>\n\t\t<string>serve</string>\n\t</array>\n\
             \t<key>EnvironmentVariables</key>\n\t<dict>\n{environment}\t</dict>\n\
             \t<key>WorkingDirectory</key>\n\t<string>/</string>\n\
             \t<key>RunAtLoad</key>\n\t<true/>\n\
             \t<key>KeepAlive</key>\n\t<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\t</dict>\n\
             \t<key>ProcessType</key>\n\t<string>Interactive</string>\n\
             \t<key>StandardErrorPath</key>\n\t<string>{}</string>\n\
             </dict>\n\
             </plist>\n",
            escape_xml(&self.program.to_string_lossy()),
            escape_xml(&self.paths.log.to_string_lossy()),
        )
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let mut all = vec![
            ("PIPEMUX_STATE_DIR", path(&self.paths.state_dir)),
            ("PIPEMUX_RUNTIME_DIR", path(&self.paths.runtime_dir)),
            ("GLIBC_TUNABLES", GLIBC_TUNABLES.to_owned()),
        ];
        all.extend(self.variables.iter().cloned());
        all
    }
}

impl Daemon<'_> {
    /// Checks that everything can stand in a unit. A line break would begin another setting.
    ///
    /// # Errors
    /// What has a control character.
    pub fn check(&self) -> Result<(), String> {
        let program = [("the program's path", self.program.to_string_lossy().into_owned())];
        let socket = [("the socket's path", self.paths.socket.to_string_lossy().into_owned())];
        let log = [("the log's path", self.paths.log.to_string_lossy().into_owned())];
        let all = self.environment().into_iter().chain(program).chain(socket).chain(log);
        let mut odd = all.filter(|(_, value)| value.contains(char::is_control));
        odd.next().map_or(Ok(()), |(name, value)| {
            Err(format!("{name} has a control character: {value:?}"))
        })
    }
}

/// Writes a word as systemd reads it.
fn quoted(word: &str) -> String {
    format!("\"{}\"", escape(word).replace('\\', "\\\\").replace('"', "\\\""))
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_unit(name: &str, text: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, text));
    }

    #[test]
    fn line_break_is_no_setting_of_a_unit() {
        let get = |name: &str| match name {
            "HOME" => Some("/home/ann".to_owned()),
            "PIPEMUX_STATE_DIR" => Some("/tmp/x\"\nExecStartPre=/bin/evil".to_owned()),
            _ => None,
        };
        let paths = Paths::from_env(get, 1000).unwrap();
        let daemon = Daemon {
            program: Path::new("/usr/bin/pipemuxd"),
            paths: &paths,
            variables: Vec::new(),
        };
        let told = daemon.check().unwrap_err();
        assert!(told.starts_with("PIPEMUX_STATE_DIR has a control character"), "{told}");
    }

    #[test]
    fn units_and_property_list_are_as_reviewed() {
        let get = |name: &str| match name {
            "HOME" => Some("/home/ann \"%\" & co".to_owned()),
            "XDG_RUNTIME_DIR" => Some("/run/user/1000".to_owned()),
            _ => None,
        };
        let paths = Paths::from_env(get, 1000).unwrap();
        let daemon = Daemon {
            program: Path::new("/opt/pipe mux/bin/pipemuxd"),
            paths: &paths,
            variables: vec![("PIPEMUX_METRICS", "127.0.0.1:9477".to_owned())],
        };
        assert_unit("service-socket", &daemon.socket_unit());
        assert_unit("service-service", &daemon.service_unit());
        assert_unit("service-plist", &daemon.property_list());
    }
}
