//! Windows of apps that show each reader something else.

use pipemux_proto::Fault;
use pipemux_proto::app::{KeyLocation, Locate, Project};
use pipemux_proto::projection::{Lod, Projection};

use crate::app::App;

use super::Host;

impl<A: App> Host<A> {
    /// Returns the window's content for a reader. The default reader counts as having seen its
    /// version.
    ///
    /// # Errors
    /// The app is not open.
    pub fn project_for(
        &mut self,
        reader: &str,
        lod: Lod,
        budget: u32,
    ) -> Result<Projection, Fault> {
        let reader = reader.to_owned();
        let request = Project { window: 1, lod, budget, known_version: None, reader };
        let projection = self.session.project(&request)?;
        self.seen_version = projection.version;
        Ok(projection)
    }

    /// Returns the window's content for a reader as text, as [`Host::text`] does.
    ///
    /// # Errors
    /// The app is not open.
    pub fn text_for(&mut self, reader: &str, lod: Lod, budget: u32) -> Result<String, Fault> {
        self.project_for(reader, lod, budget).map(|projection| super::written(&projection))
    }

    /// Returns where a thing is that a reader wants to act on.
    ///
    /// # Errors
    /// The app is not open, or can't tell.
    pub fn locate(&mut self, key: &str, reader: &str) -> Result<KeyLocation, Fault> {
        let request =
            Locate { keys: vec![key.to_owned()], reader: reader.to_owned(), ..Locate::default() };
        let mut places = self.session.locate(&request)?.places;
        places.pop().ok_or_else(|| Fault::failed("the app named no place"))
    }
}
