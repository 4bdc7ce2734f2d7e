//! Maps the numbers that a terminal shows to links. A typed number means the link that had it when
//! typing began.

/// A link, and the workspace's epoch in which it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Link {
    id: u64,
    epoch: u64,
}

/// The links that the terminal shows, and those it showed when typing began.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The shown links; the first has the number 1.
    shown: Vec<Link>,
    held: Vec<Link>,
}

/// The meaning of a typed number.
#[derive(Debug, PartialEq, Eq)]
pub enum Numbered {
    /// This link as it was shown: `12@e17`.
    Link(String),
    /// Another link than when typing began, or none any more.
    Moved,
    /// No link has the number.
    Nothing,
}

impl Numbers {
    /// Notes the links that the terminal shows of the window and of the news below it, and the
    /// epochs of these.
    pub fn show(&mut self, (window, epoch): (&[u64], u64), (news, epoch_of_news): (&[u64], u64)) {
        let window = window.iter().map(|id| Link { id: *id, epoch });
        let news = news.iter().map(|id| Link { id: *id, epoch: epoch_of_news });
        self.shown = window.chain(news).collect();
    }

    /// Has what is typed next mean what the terminal shows.
    pub fn hold(&mut self) {
        if self.held != self.shown {
            self.held.clone_from(&self.shown);
        }
    }

    /// Returns what a number means.
    pub fn get(&self, number: usize) -> Numbered {
        let link = |of: &[Link]| of.get(number.checked_sub(1)?).copied();
        match (link(&self.held), link(&self.shown)) {
            (Some(held), Some(shown)) if held.id == shown.id => {
                Numbered::Link(format!("{}@e{}", held.id, held.epoch))
            }
            (None, None) => Numbered::Nothing,
            _ => Numbered::Moved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_means_the_link_that_had_it_when_typing_began() {
        let mut numbers = Numbers::default();
        numbers.show((&[12, 15], 4), (&[7], 3));
        numbers.hold();
        assert_eq!(numbers.get(2), Numbered::Link("15@e4".into()));
        assert_eq!(
            [0, 4].map(|number| numbers.get(number)),
            [Numbered::Nothing, Numbered::Nothing]
        );
        // The page moves while a number is typed: what is still in its place is meant as it was
        // then.
        numbers.show((&[12], 5), (&[7], 6));
        assert_eq!(numbers.get(1), Numbered::Link("12@e4".into()));
        assert_eq!([2, 3].map(|number| numbers.get(number)), [Numbered::Moved, Numbered::Moved]);
        numbers.hold();
        assert_eq!(numbers.get(2), Numbered::Link("7@e6".into()));
    }
}
