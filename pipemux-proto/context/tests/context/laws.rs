//! The laws of the merge.

use pipemux_context::cut::cut;
use pipemux_context::limits::MORE;
use pipemux_context::source::{SourceLimits, document_order};
use pipemux_context::*;
use pipemux_proto::projection::Lod;
use proptest::collection::vec;
use proptest::prelude::*;

type Lines = Vec<Line<usize>>;

fn line() -> impl Strategy<Value = Line<usize>> {
    (1..30_u64, 0..5_u32, 0..3_u32, proptest::bool::weighted(0.1)).prop_map(
        |(tokens, depth, weight, structural)| Line {
            content: 0,
            size: Size { tokens, chars: tokens * 3, bytes: tokens * 4, lines: 1 },
            depth,
            weight,
            structural,
        },
    )
}

fn lines() -> impl Strategy<Value = Lines> {
    vec(line(), 0..30).prop_map(|mut lines| {
        lines.iter_mut().enumerate().for_each(|(at, line)| line.content = at);
        lines
    })
}

fn sections() -> impl Strategy<Value = Vec<RenderSection<usize>>> {
    vec(("[a-z]{0,8}", lines(), any::<bool>(), 0..3_u32, 0..5_u64), 0..3).prop_map(|sections| {
        let section = |(at, (title, lines, required, weight, hidden)): (usize, _)| {
            let (title, lines): (String, Lines) = (title, lines);
            RenderSection::new(at.to_string(), title, lines).ranked(required, weight).hiding(hidden)
        };
        sections.into_iter().enumerate().map(section).collect()
    })
}

fn outcome() -> impl Strategy<Value = Outcome<usize>> {
    let last = || proptest::option::of(sections());
    prop_oneof![
        3 => sections().prop_map(Outcome::Ready),
        1 => ("[a-z \n界]{0,200}", last())
            .prop_map(|(reason, last)| Outcome::Failed { reason, last }),
        1 => last().prop_map(|last| Outcome::Late { last }),
    ]
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![
        (40..3_000_u64).prop_map(Size::tokens),
        (300..9_000_u64).prop_map(Size::chars),
        (0..9_000_u64, 0..200_u64).prop_map(|(bytes, lines)| Size {
            bytes,
            lines,
            ..Size::UNLIMITED
        }),
    ]
}

fn sources(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<RenderSource>> {
    let limit = proptest::option::of((10..400_u64, 1..5_u32, 0..20_u64));
    let parts = (-2..3_i32, 0..4_u32, proptest::bool::weighted(0.2), 0..300_u64, limit);
    let lod = prop_oneof![Just(Lod::Gist), Just(Lod::Summary), Just(Lod::Full)];
    vec((parts, lod), count).prop_map(|sources| {
        let source = |(at, ((priority, weight, required, reserved, limit), lod))| {
            let _: usize = at;
            let mut source = RenderSource::new(format!("s{at}"), format!("Source {at}"))
                .ranked(priority, weight)
                .lod(lod)
                .reserved(Size::tokens(reserved))
                .call(format!("pipemux view s{at}"));
            source.required = required;
            if let Some((tokens, levels, nodes)) = limit {
                source.limits = SourceLimits { size: Size::tokens(tokens), levels, nodes };
            }
            source
        };
        sources.into_iter().enumerate().map(source).collect()
    })
}

fn case() -> impl Strategy<Value = (Vec<RenderSource>, Vec<Outcome<usize>>, Size)> {
    (sources(0..8), size()).prop_flat_map(|(sources, total)| {
        let count = sources.len();
        (Just(sources), vec(outcome(), count), Just(total))
    })
}

fn produced(outcomes: &[Outcome<usize>]) -> Vec<Produced<usize>> {
    outcomes.iter().cloned().map(Produced::from).collect()
}

/// Measures a document as it is written: each line, heading, mark and note.
fn measure(document: &Document<usize>, outcomes: &[Outcome<usize>]) -> Size {
    let mut size = Size::ZERO;
    for entry in &document.entries {
        let sections = match &outcomes[entry.source] {
            Outcome::Ready(sections) => sections.clone(),
            Outcome::Failed { last, .. } | Outcome::Late { last } => {
                last.clone().unwrap_or_default()
            }
        };
        size = size.plus(Size::of_lines(entry.mark.as_deref().unwrap_or_default()));
        for shown in &entry.sections {
            let section = sections.iter().find(|section| section.key == shown.key);
            let section = section.expect("it was produced");
            if !shown.title.is_empty() {
                size = size.plus(Size::of_lines(&section::heading(&shown.title)));
            }
            let own = shown.lines.iter().map(|at| section.content[*at].size);
            size = own.fold(size, Size::plus);
            if shown.more.is_some() {
                size = size.plus(MORE);
            }
        }
    }
    document.notes.iter().fold(size, |size, note| size.plus(Size::of_lines(note)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn document_keeps_to_the_total_in_every_unit((sources, outcomes, total) in case()) {
        let context = RenderContext::new((), Budgets::new(total));
        let document = merge(&context, &sources, produced(&outcomes));
        prop_assert_eq!(measure(&document, &outcomes), document.used);
        prop_assert!(document.used.fits_in(total), "{:?} of {total:?}", document.used);
        let shares = shares(&sources, &context.budgets);
        let sum = shares.iter().fold(Size::ZERO, |sum, share| sum.plus(share.size));
        prop_assert!(sum.fits_in(total));
    }

    #[test]
    fn content_of_a_source_changes_no_other_entry(
        (sources, outcomes, total) in case(),
        which in any::<prop::sample::Index>(),
        other in outcome(),
    ) {
        prop_assume!(!sources.is_empty());
        let which = which.index(sources.len());
        let context = RenderContext::new((), Budgets::new(total));
        let before = merge(&context, &sources, produced(&outcomes));
        let mut changed = outcomes.clone();
        changed[which] = other;
        let after = merge(&context, &sources, produced(&changed));
        let others = |document: &Document<usize>| -> Vec<Entry<usize>> {
            let others = document.entries.iter().filter(|entry| entry.source != which);
            others.cloned().collect()
        };
        prop_assert_eq!(others(&before), others(&after));
        prop_assert_eq!(before.entries.len(), after.entries.len());
    }

    #[test]
    fn required_sources_then_priority_then_weight_then_overviews(
        (sources, outcomes, total) in case(),
    ) {
        let context = RenderContext::new((), Budgets::new(total));
        let document = merge(&context, &sources, produced(&outcomes));
        let rank = |source: &RenderSource| {
            let weight = std::cmp::Reverse(source.weight.max(1));
            (!source.required, -source.priority, weight, source.lod)
        };
        let shown: Vec<_> =
            document.entries.iter().map(|entry| rank(&sources[entry.source])).collect();
        prop_assert!(shown.is_sorted());
        // Those without a place are the last ones.
        let order = document_order(&sources);
        let admitted: Vec<usize> = document.entries.iter().map(|entry| entry.source).collect();
        prop_assert_eq!(&order[..admitted.len()], &admitted[..]);
    }

    #[test]
    fn shares_depend_on_the_set_and_not_on_its_order(
        sources in sources(1..8),
        total in size(),
        turn in any::<prop::sample::Index>(),
    ) {
        // Sources of equal rank are told apart by their places, so each gets a rank of its own.
        let mut sources = sources;
        for (at, source) in sources.iter_mut().enumerate() {
            source.priority = at as i32;
        }
        let budgets = Budgets::new(total);
        let before = shares(&sources, &budgets);
        let turn = turn.index(sources.len());
        let mut turned = sources.clone();
        turned.rotate_left(turn);
        let mut after = shares(&turned, &budgets);
        after.rotate_right(turn);
        prop_assert_eq!(before, after);
    }

    #[test]
    fn heavier_source_has_no_smaller_share(sources in sources(2..8), total in size()) {
        let mut sources = sources;
        for source in &mut sources {
            (source.reserved, source.limits) = (Size::ZERO, SourceLimits::default());
        }
        let shares = shares(&sources, &Budgets::new(total));
        for (one, own) in sources.iter().zip(&shares) {
            for (two, other) in sources.iter().zip(&shares) {
                if own.admitted && other.admitted && one.weight.max(1) >= two.weight.max(1) {
                    prop_assert!(other.size.fits_in(own.size));
                }
            }
        }
    }

    #[test]
    fn reserved_room_of_required_sources_comes_before_all_others(
        sources in sources(1..8),
        total in (40..3_000_u64).prop_map(Size::tokens),
    ) {
        let shares = shares(&sources, &Budgets::new(total));
        let order = document_order(&sources);
        for (at, source) in sources.iter().enumerate().filter(|(_, source)| source.required) {
            let wanted = source.reserved.min(source.limits.size).tokens;
            let place = order.iter().position(|other| *other == at).unwrap();
            if order[place + 1..].iter().any(|after| shares[*after].admitted) {
                prop_assert!(shares[at].size.tokens >= wanted, "{shares:?}");
            }
        }
    }

    #[test]
    fn what_a_source_needs_less_goes_to_the_others(
        sources in sources(2..8),
        total in size(),
        which in any::<prop::sample::Index>(),
        part in 1..=4_u64,
    ) {
        let mut sources = sources;
        // Of a required source the reservation says what it needs.
        sources.iter_mut().for_each(|source| source.required = false);
        let mut budgets = Budgets::new(total);
        let before = shares(&sources, &budgets);
        let which = which.index(sources.len());
        prop_assume!(before[which].admitted);
        let need = before[which].size.zip(Size::ZERO, |own, _| own / part);
        budgets.needs(&sources[which].id, need);
        let after = shares(&sources, &budgets);
        prop_assert!(need.fits_in(after[which].size), "{need:?} of {:?}", after[which]);
        for (at, (before, after)) in before.iter().zip(&after).enumerate() {
            prop_assert!(at == which || before.size.fits_in(after.size), "{before:?} {after:?}");
        }
    }

    #[test]
    fn number_of_lines_that_were_cut_is_told_by_its_magnitude(hidden in 0..u64::MAX) {
        let told = note::about(hidden);
        let least = told.strip_prefix("over ").map(|least| least.parse::<u64>().unwrap());
        match least {
            None => prop_assert!(hidden < 10),
            Some(least) => prop_assert!(hidden > least && hidden / 10 <= least),
        }
    }

    #[test]
    fn equal_windows_get_the_total_by_their_number(
        count in 1..60_usize,
        total in 50..20_000_u64,
        own in proptest::option::of(50..9_000_u64),
        soft: bool,
    ) {
        // The sharing of `pipemux view`: `total / windows`; without a budget in the request, a
        // window's own if that is more.
        let mut sources: Vec<RenderSource> =
            (0..count).map(|at| RenderSource::new(at.to_string(), "")).collect();
        let own = own.filter(|_| soft);
        sources[0] = sources[0].clone().reserved(Size::only_tokens(own.unwrap_or(0)));
        let mut budgets = Budgets::new(Size::tokens(total)).framed_by(Frame::Caller);
        budgets.soft = soft;
        let shares = shares(&sources, &budgets);
        let share = total / count as u64;
        prop_assert_eq!(shares[0].size, Size::tokens(share.max(own.unwrap_or(0))));
        for other in &shares[1..] {
            prop_assert_eq!(other.size, Size::tokens(share));
        }
    }

    #[test]
    fn flat_content_keeps_the_lines_that_a_window_keeps(mut lines in lines(), tokens in 0..300_u64) {
        for line in &mut lines {
            (line.depth, line.weight) = (0, 0);
        }
        let cut = cut(&lines, Size::tokens(tokens), u32::MAX, u64::MAX);
        // As the daemon cuts a window: lines until the first that is too long for what is left.
        let all: u64 = lines.iter().map(|line| line.size.tokens).sum();
        let mut left = if all <= tokens { all } else { tokens.saturating_sub(8) };
        let fits = |line: &&Line<usize>| {
            let fits = line.size.tokens <= left;
            left = left.saturating_sub(line.size.tokens);
            fits
        };
        let kept = lines.iter().take_while(fits).count();
        let expected: Vec<bool> = (0..lines.len()).map(|at| at < kept).collect();
        prop_assert_eq!(cut.keep, expected);
        let hidden = lines[kept..].iter().filter(|line| !line.structural).count();
        prop_assert_eq!(cut.hidden, hidden as u64);
    }

    #[test]
    fn cuts_follow_depth_then_weight_then_order(lines in lines(), room in size(), levels in 1..6_u32) {
        let cut = cut(&lines, room, levels, u64::MAX);
        let rank = |at: usize| (lines[at].depth, std::cmp::Reverse(lines[at].weight), at);
        let kept = (0..lines.len()).filter(|at| cut.keep[*at]).map(rank).max();
        let gone = (0..lines.len()).filter(|at| !cut.keep[*at]).map(rank).min();
        if let (Some(kept), Some(gone)) = (kept, gone) {
            prop_assert!(kept < gone);
        }
        prop_assert!(cut.used.fits_in(room));
    }

    #[test]
    fn more_room_shows_no_less(lines in lines(), tokens in 0..400_u64, more in 0..100_u64) {
        let small = cut(&lines, Size::tokens(tokens), u32::MAX, u64::MAX);
        let large = cut(&lines, Size::tokens(tokens + more), u32::MAX, u64::MAX);
        for (small, large) in small.keep.iter().zip(&large.keep) {
            prop_assert!(!small | large);
        }
    }

    #[test]
    fn each_line_is_shown_or_counted_and_each_source_that_was_cut_is_named(
        (sources, outcomes, _) in case(),
        tokens in 300..3_000_u64,
    ) {
        let context = RenderContext::new((), Budgets::new(Size::tokens(tokens)));
        let document = merge(&context, &sources, produced(&outcomes));
        let mut named = 0;
        for entry in &document.entries {
            let Outcome::Ready(sections) = &outcomes[entry.source] else { continue };
            let content = |line: &&Line<usize>| !line.structural;
            let all: u64 = sections
                .iter()
                .map(|s| s.hidden + s.content.iter().filter(content).count() as u64)
                .sum();
            let shown: u64 = entry
                .sections
                .iter()
                .map(|shown| {
                    let of = sections.iter().find(|section| section.key == shown.key).unwrap();
                    shown.lines.iter().filter(|at| !of.content[**at].structural).count() as u64
                })
                .sum();
            prop_assert_eq!(shown + entry.hidden, all);
        }
        for (at, source) in sources.iter().enumerate() {
            let entry = document.entries.iter().find(|entry| entry.source == at);
            if entry.is_none_or(|entry| entry.hidden > 0) {
                named += 1;
                let is_named =
                    |note: &String| note.contains(source.name()) && note.contains(&source.call);
                let counted = document.notes.last().is_some_and(|note| note.starts_with("… and"));
                prop_assert!(counted || document.notes.iter().any(is_named), "{document:?}");
            }
        }
        prop_assert_eq!(document.notes.is_empty(), named == 0);
    }

    #[test]
    fn failed_source_is_shown_as_it_was_or_named_with_its_reason(
        (sources, outcomes, total) in case(),
    ) {
        let context = RenderContext::new((), Budgets::new(total));
        let document = merge(&context, &sources, produced(&outcomes));
        let before: Vec<Produced<usize>> = outcomes
            .iter()
            .map(|outcome| match outcome.clone() {
                Outcome::Failed { last: Some(last), .. } | Outcome::Late { last: Some(last) } => {
                    Outcome::Ready(last).into()
                }
                other => other.into(),
            })
            .collect();
        let fresh = merge(&context, &sources, before);
        for (entry, before) in document.entries.iter().zip(&fresh.entries) {
            let reason = match &outcomes[entry.source] {
                Outcome::Ready(_) => {
                    prop_assert_eq!(entry, before);
                    continue;
                }
                Outcome::Failed { reason, .. } => reason.clone(),
                Outcome::Late { .. } => "no answer in 2000 ms".to_owned(),
            };
            prop_assert_eq!(&entry.sections, &before.sections);
            let id = &sources[entry.source].id;
            let record = document.records.iter().find(|record| record.source == *id).unwrap();
            prop_assert_eq!(&record.reason, &reason);
            let mark = entry.mark.as_deref().unwrap_or_default();
            match entry.freshness {
                Freshness::Skipped => {
                    prop_assert!(mark.contains("skipped"), "{mark}");
                    prop_assert!(mark.contains(sources[entry.source].name()));
                }
                _ => prop_assert!(mark.starts_with("as it was before"), "{mark}"),
            }
            prop_assert_eq!(mark.matches('\n').count(), 1);
        }
    }

    #[test]
    fn debug_mode_changes_nothing_but_its_own_lines((sources, outcomes, total) in case()) {
        let normal = RenderContext::new((), Budgets::new(total));
        let debug = RenderContext { mode: Mode::Debug, ..normal.clone() };
        let plain = merge(&normal, &sources, produced(&outcomes));
        let explained = merge(&debug, &sources, produced(&outcomes));
        prop_assert_eq!(explained.debug.len(), sources.len());
        prop_assert_eq!(Document { debug: Vec::new(), ..explained }, plain);
    }
}
