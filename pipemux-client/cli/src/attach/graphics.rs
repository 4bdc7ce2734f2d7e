//! Pictures on terminals that draw them: the graphics protocol of kitty, and the inline images of
//! iTerm2.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;

use crate::output::base64;

/// Bytes of base64 in one sequence of kitty's protocol, which allows no more.
const CHUNK: usize = 4096;

/// The protocol by which a terminal is sent pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graphics {
    Kitty,
    Iterm,
}

impl Graphics {
    /// Returns how the terminal is given pictures that the environment tells of. Whether a
    /// multiplexer such as tmux lets them through can't be known: there are none then.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Graphics> {
        let value = |name: &str| variable(name).unwrap_or_default();
        let is_set = |name: &str| !value(name).is_empty();
        let term = value("TERM");
        let in_multiplexer = ["tmux", "screen"].iter().any(|name| term.starts_with(name));
        if in_multiplexer || ["TMUX", "STY", "ZELLIJ"].into_iter().any(is_set) {
            return None;
        }
        match (term.as_str(), value("TERM_PROGRAM").as_str()) {
            ("xterm-kitty" | "xterm-ghostty", _) | (_, "ghostty") => Some(Graphics::Kitty),
            (_, "iTerm.app" | "WezTerm") => Some(Graphics::Iterm),
            // Through ssh only these come along, or nothing does. A program that names itself isn't
            // one of them.
            (_, "") if is_set("KITTY_WINDOW_ID") => Some(Graphics::Kitty),
            (_, "") if is_set("WEZTERM_PANE") || value("LC_TERMINAL") == "iTerm2" => {
                Some(Graphics::Iterm)
            }
            _ => None,
        }
    }

    /// True for a format that the terminal draws.
    pub fn draws(self, media_type: &str) -> bool {
        match self {
            Graphics::Kitty => media_type == "image/png",
            Graphics::Iterm => ["image/png", "image/jpeg", "image/gif"].contains(&media_type),
        }
    }
}

/// A picture in a format that the terminal can draw.
#[derive(Debug, PartialEq, Eq)]
pub struct Picture {
    /// The picture's number, unique in this process, from 1.
    pub id: u32,
    pub bytes: Bytes,
}

/// The place of a picture on the terminal, in columns and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    pub picture: Arc<Picture>,
    pub x: u16,
    pub y: u16,
    pub width: u16,
    pub height: u16,
}

/// The pictures that a terminal shows.
#[derive(Debug, Default)]
pub struct Canvas {
    graphics: Option<Graphics>,
    placed: Vec<Placement>,
    /// The pictures that the terminal holds.
    sent: BTreeSet<u32>,
}

impl Canvas {
    pub fn new(graphics: Option<Graphics>) -> Canvas {
        Canvas { graphics, ..Canvas::default() }
    }

    /// Notes that all was erased.
    pub fn erased(&mut self) {
        self.placed.clear();
    }

    /// True if the terminal has to be erased before it can show these: pictures of iTerm2 stand in
    /// the place of text.
    pub fn needs_erasing(&self, wanted: &[Placement]) -> bool {
        self.graphics == Some(Graphics::Iterm) && !self.placed.is_empty() && self.placed != wanted
    }

    /// Shows these pictures, and no others. The cursor stays where it is.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn show(&mut self, out: &mut impl Write, wanted: Vec<Placement>) -> io::Result<()> {
        if self.placed == wanted {
            return Ok(());
        }
        write!(out, "\x1b7")?;
        if self.graphics == Some(Graphics::Kitty) {
            // Their places alone: the pictures stay with the terminal.
            write!(out, "\x1b_Ga=d,d=a,q=2\x1b\\")?;
        }
        for placement in &wanted {
            write!(out, "\x1b[{};{}H", placement.y + 1, placement.x + 1)?;
            match self.graphics {
                Some(Graphics::Kitty) => self.show_by_kitty(out, placement)?,
                Some(Graphics::Iterm) => show_by_iterm(out, placement)?,
                None => {}
            }
        }
        write!(out, "\x1b8")?;
        self.placed = wanted;
        out.flush()
    }

    /// Takes all pictures from the terminal, as at the end.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn free(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.placed.clear();
        match std::mem::take(&mut self.sent).is_empty() {
            true => Ok(()),
            false => write!(out, "\x1b_Ga=d,d=A,q=2\x1b\\"),
        }
    }

    fn show_by_kitty(&mut self, out: &mut impl Write, placement: &Placement) -> io::Result<()> {
        let Placement { picture, width, height, .. } = placement;
        let id = picture.id;
        if self.sent.insert(id) {
            let encoded = base64(&picture.bytes);
            let mut chunks = encoded.as_bytes().chunks(CHUNK).peekable();
            let mut keys = format!("a=t,f=100,i={id},q=2,");
            while let Some(chunk) = chunks.next() {
                let more = u8::from(chunks.peek().is_some());
                write!(out, "\x1b_G{keys}m={more};")?;
                out.write_all(chunk)?;
                write!(out, "\x1b\\")?;
                keys.clear();
            }
        }
        write!(out, "\x1b_Ga=p,i={id},c={width},r={height},C=1,q=2\x1b\\")
    }
}

fn show_by_iterm(out: &mut impl Write, placement: &Placement) -> io::Result<()> {
    let Placement { picture, width, height, .. } = placement;
    let (size, encoded) = (picture.bytes.len(), base64(&picture.bytes));
    write!(
        out,
        "\x1b]1337;File=inline=1;size={size};width={width};height={height};preserveAspectRatio=1:{encoded}\x07"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)]) -> Option<Graphics> {
        let find = |name: &str| set.iter().find(|(known, _)| *known == name);
        Graphics::of(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn environment_tells_how_pictures_are_drawn() {
        assert_eq!(of(&[("TERM", "xterm-kitty")]), Some(Graphics::Kitty));
        assert_eq!(of(&[("TERM", "xterm"), ("KITTY_WINDOW_ID", "1")]), Some(Graphics::Kitty));
        assert_eq!(of(&[("TERM_PROGRAM", "ghostty")]), Some(Graphics::Kitty));
        assert_eq!(of(&[("TERM_PROGRAM", "iTerm.app")]), Some(Graphics::Iterm));
        assert_eq!(of(&[("TERM_PROGRAM", "WezTerm")]), Some(Graphics::Iterm));
        assert_eq!(of(&[("LC_TERMINAL", "iTerm2")]), Some(Graphics::Iterm));
        for none in [
            &[("TERM", "xterm-256color")][..],
            &[("KITTY_WINDOW_ID", "1"), ("TERM_PROGRAM", "vscode")],
            &[("TERM", "tmux-256color"), ("KITTY_WINDOW_ID", "1")],
            &[("TERM_PROGRAM", "iTerm.app"), ("TMUX", "/tmp/tmux-0/default,1,0")],
            &[],
        ] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }

    fn placement(id: u32, y: u16, length: usize) -> Placement {
        let bytes = vec![0; length].into();
        Placement { picture: Arc::new(Picture { id, bytes }), x: 0, y, width: 6, height: 2 }
    }

    fn shown(canvas: &mut Canvas, wanted: Vec<Placement>) -> String {
        let mut out = Vec::new();
        canvas.show(&mut out, wanted).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn kitty_is_sent_a_picture_once_and_told_its_places() {
        let mut canvas = Canvas::new(Some(Graphics::Kitty));
        let first = shown(&mut canvas, vec![placement(1, 3, 6000)]);
        assert!(
            first.starts_with(
                "\x1b7\x1b_Ga=d,d=a,q=2\x1b\\\x1b[4;1H\x1b_Ga=t,f=100,i=1,q=2,m=1;AAAA"
            )
        );
        assert!(first.ends_with("\x1b\\\x1b_Ga=p,i=1,c=6,r=2,C=1,q=2\x1b\\\x1b8"), "{first}");
        let sequences: Vec<&str> = first.split("\x1b_G").skip(2).take(2).collect();
        assert_eq!(sequences[0].split_once(';').unwrap().1.len(), CHUNK + 2);
        assert!(sequences[1].starts_with("m=0;A"), "{sequences:?}");
        assert_eq!(shown(&mut canvas, vec![placement(1, 3, 6000)]), "");
        let moved = shown(&mut canvas, vec![placement(1, 2, 6000)]);
        assert_eq!(
            moved,
            "\x1b7\x1b_Ga=d,d=a,q=2\x1b\\\x1b[3;1H\x1b_Ga=p,i=1,c=6,r=2,C=1,q=2\x1b\\\x1b8"
        );
        assert!(!canvas.needs_erasing(&[]));
        let mut out = Vec::new();
        canvas.free(&mut out).unwrap();
        assert_eq!(out, b"\x1b_Ga=d,d=A,q=2\x1b\\");
    }

    #[test]
    fn pictures_of_iterm_are_erased_before_others_are_shown() {
        let mut canvas = Canvas::new(Some(Graphics::Iterm));
        let first = shown(&mut canvas, vec![placement(1, 0, 3)]);
        let file = "\x1b]1337;File=inline=1;size=3;width=6;height=2;preserveAspectRatio=1:AAAA\x07";
        assert_eq!(first, format!("\x1b7\x1b[1;1H{file}\x1b8"));
        assert!(canvas.needs_erasing(&[]) && !canvas.needs_erasing(&[placement(1, 0, 3)]));
        canvas.erased();
        assert!(!canvas.needs_erasing(&[]));
        assert_eq!(shown(&mut canvas, vec![placement(1, 0, 3)]), first);
    }
}
