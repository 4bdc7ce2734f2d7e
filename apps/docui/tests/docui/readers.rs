//! An app in which each reader turns pages for itself.

use docui::paging::ReaderPages;
use docui::testing::Host;
use docui::{App, Context, Done, Fault, Found, Object, Opening, Reply, View, ViewRequest};
use pipemux_proto::app::KeyLocation;
use pipemux_proto::projection::{Lod, Projection};

const LINES: usize = 25;

docui::actions! {
    /// The app's actions.
    pub enum Action {
        /// Shows the next page.
        changes featured Next = next();
    }
}

/// A list of lines.
struct List {
    pages: ReaderPages,
}

impl App for List {
    type Action = Action;
    const PER_READER: bool = true;

    fn open(_: &Opening) -> Result<Self, Fault> {
        Ok(Self { pages: ReaderPages::new(10) })
    }

    fn update(&mut self, Action::Next {}: Action, context: &Context) -> Result<Reply, Fault> {
        self.pages.of_mut(&context.reader).next(LINES)?;
        Ok(Done::new("turned").into())
    }

    fn view(&self, request: &ViewRequest) -> View {
        let lines: Vec<usize> = (0..LINES).collect();
        let page = self.pages.of(&request.reader).page(&lines);
        let mut view = View::new(page.position());
        for line in page.items {
            view.object(Object::new(line.to_string(), format!("line {line}")).rev(1)).text("\n");
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        match key.parse() {
            Ok(0..LINES) => Found::Here(1),
            _ => Found::Gone(None),
        }
    }

    fn find_for(&self, key: &str, reader: &str) -> Found {
        match key.parse() {
            Ok(line) if self.pages.of(reader).hides(line, LINES) => {
                Found::Hidden { rev: 1, how: "list.next()".into() }
            }
            _ => self.find(key),
        }
    }
}

#[test]
fn one_readers_page_is_not_everybodys() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<List>::open(&[], dir.path(), dir.path()).unwrap();
    host.invoke_as("ann", 0, &Action::Next {});
    let title = |projection: Projection| projection.title;
    let mut shown = |reader| title(host.project_for(reader, Lod::Full, 900).unwrap());
    assert_eq!(shown("ann"), "11-20 of 25");
    assert_eq!(shown("bob"), "1-10 of 25");
    let hidden = KeyLocation::Hidden("list.next()".into());
    assert_eq!(host.locate("3", "ann").unwrap(), hidden);
    assert_eq!(host.locate("3", "bob").unwrap(), KeyLocation::Shown);
    assert_eq!(host.locate("12", "bob").unwrap(), hidden);
}
