//! Actions: sets of edits that touch distinct features (SPEC §4, §9).
//!
//! An edit touches its own feature and the linked features that move with it. Two edits that touch a common feature *clash*:
//! together they would move it twice, so no action has both. Which features follow depends only on the edited feature, so clashes
//! are between features, for all their edits.

use std::collections::{BTreeMap, BTreeSet};

use sogar_solver::Actions;

use super::Edit;

/// Which features' edits cannot be in the same action. Edits of the same feature always clash and are not listed.
#[derive(Debug, Default)]
pub(crate) struct Clashes {
    of: BTreeMap<usize, BTreeSet<usize>>,
}

impl Clashes {
    /// The clashes of all pairs of these edits.
    pub fn new(edits: &[Edit]) -> Clashes {
        let mut clashes = Clashes::default();
        if edits.iter().all(|edit| edit.followers.is_empty()) {
            return clashes;
        }
        let mut movers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for edit in edits {
            for touched in edit.touched() {
                movers.entry(touched).or_default().insert(edit.feature);
            }
        }
        for together in movers.values().filter(|movers| movers.len() > 1) {
            for &feature in together {
                let others = together.iter().copied().filter(|&other| other != feature);
                clashes.of.entry(feature).or_default().extend(others);
            }
        }
        clashes
    }

    /// The features whose edits clash with those of `feature`, ascending.
    pub fn of(&self, feature: usize) -> impl Iterator<Item = usize> + '_ {
        self.of.get(&feature).into_iter().flatten().copied()
    }

    /// The features that clash with others, ordered so that clashing features are close.
    fn tied(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        for &start in self.of.keys() {
            let mut open = vec![start];
            while let Some(feature) = open.pop() {
                if seen.insert(feature) {
                    order.push(feature);
                    open.extend(self.of(feature));
                }
            }
        }
        order
    }
}

/// All sets of at most `most` edits that touch distinct features, the identity first.
pub fn all_actions(edits: &[Edit], most: u32) -> Actions {
    let clashes = Clashes::new(edits);
    let mut actions = Actions::default();
    actions.push(&[]);
    let mut longer = Vec::with_capacity(most as usize);
    let mut taken: Vec<usize> = Vec::new();
    // Each round extends the actions of the previous one, which are in the list already.
    let mut round = 0..1;
    for _ in 0..most {
        for shorter in round.clone() {
            longer.clear();
            longer.extend_from_slice(actions.get(shorter));
            let last = longer.last().map(|&edit| edit as usize);
            taken.clear();
            taken.extend(last.map(|last| edits[last].feature));
            taken.extend(longer.iter().flat_map(|&edit| clashes.of(edits[edit as usize].feature)));
            let from = last.map_or(0, |last| last + 1);
            for (edit, description) in edits.iter().enumerate().skip(from) {
                if !taken.contains(&description.feature) {
                    longer.push(edit as u32);
                    actions.push(&longer);
                    longer.pop();
                }
            }
        }
        round = round.end..actions.len();
    }
    actions
}

/// The number of actions of [`all_actions`], without building them.
pub fn count_actions(edits: &[Edit], most: u32) -> u128 {
    let clashes = Clashes::new(edits);
    let mut own: BTreeMap<usize, u128> = BTreeMap::new();
    // sets[k]: ways to choose k edits among the features seen so far
    let mut sets = vec![0u128; most as usize + 1];
    sets[0] = 1;
    for group in edits.chunk_by(|one, other| one.feature == other.feature) {
        if clashes.of(group[0].feature).next().is_none() {
            let more = with_one_of(&sets, group.len() as u128);
            add(&mut sets, &more);
        } else {
            own.insert(group[0].feature, group.len() as u128);
        }
    }
    // Features that clash: the same counts, keyed by the later features that the chosen ones block.
    let mut blocked = BTreeMap::from([(BTreeSet::new(), sets)]);
    let mut seen = BTreeSet::new();
    for feature in clashes.tied() {
        seen.insert(feature);
        let mut next: BTreeMap<BTreeSet<usize>, Vec<u128>> = BTreeMap::new();
        for (mut closed, sets) in blocked {
            let is_open = !closed.remove(&feature);
            if is_open {
                let more = with_one_of(&sets, own.get(&feature).copied().unwrap_or(0));
                if more.iter().any(|&count| count > 0) {
                    let ahead = clashes.of(feature).filter(|other| !seen.contains(other));
                    let closed = closed.iter().copied().chain(ahead).collect();
                    add(next.entry(closed).or_insert_with(|| vec![0; more.len()]), &more);
                }
            }
            add(next.entry(closed).or_insert_with(|| vec![0; sets.len()]), &sets);
        }
        blocked = next;
    }
    blocked.values().flatten().fold(0, |sum, &count| sum.saturating_add(count))
}

/// The sets extended by one of `edits` further edits.
fn with_one_of(sets: &[u128], edits: u128) -> Vec<u128> {
    let shorter = std::iter::once(0).chain(sets.iter().copied());
    shorter.take(sets.len()).map(|count: u128| count.saturating_mul(edits)).collect()
}

fn add(sets: &mut [u128], more: &[u128]) {
    sets.iter_mut().zip(more).for_each(|(count, more)| *count = count.saturating_add(*more));
}

#[cfg(test)]
mod tests {
    use super::super::{Change, Follower};
    use super::*;

    /// `own[feature]` edits of each feature, with links from one feature to another.
    fn edits(own: &[usize], links: &[(usize, usize)]) -> Vec<Edit> {
        let follower =
            |feature| Follower { feature, factor: 1.0, lo: 0.0, hi: 9.0, whole: true, codes: Vec::new() };
        let edit = |feature: usize, by: usize| Edit {
            feature,
            change: Change::shift(by as f64, 0.0, 9.0),
            followers: links.iter().filter(|link| link.0 == feature).map(|link| follower(link.1)).collect(),
        };
        let of_feature = |(feature, &own): (usize, &usize)| (1..=own).map(move |by| (feature, by));
        own.iter().enumerate().flat_map(of_feature).map(|(feature, by)| edit(feature, by)).collect()
    }

    /// By the definition: tries every set of edits.
    fn by_definition(edits: &[Edit], most: u32) -> Vec<Vec<u32>> {
        let mut found: Vec<Vec<u32>> = (0..1u32 << edits.len())
            .map(|set| (0..edits.len() as u32).filter(|edit| set >> edit & 1 == 1).collect::<Vec<u32>>())
            .filter(|set| {
                let mut touched: Vec<usize> =
                    set.iter().flat_map(|&edit| edits[edit as usize].touched()).collect();
                let all = touched.len();
                touched.sort_unstable();
                touched.dedup();
                set.len() <= most as usize && touched.len() == all
            })
            .collect();
        found.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        found
    }

    #[test]
    fn no_action_moves_a_feature_twice() {
        type Case<'a> = (&'a [usize], &'a [(usize, usize)]);
        let cases: [Case<'_>; 9] = [
            (&[2, 2, 2, 2], &[]),
            (&[2, 2, 2], &[(0, 1)]),            // a → b, both with edits
            (&[2, 2, 2], &[(2, 0)]),            // b → a, which comes before it
            (&[2, 0, 2, 2], &[(0, 1), (2, 1)]), // two links into a feature without edits
            (&[1, 2, 3, 1], &[(0, 1), (1, 2)]), // a chain: its ends are compatible
            (&[1, 1, 1, 1, 2], &[(0, 4), (1, 4), (2, 4), (3, 4)]), // all exclude each other
            (&[2, 1, 1, 2], &[(0, 2), (0, 3), (1, 3)]),
            (&[1, 1, 1, 1, 1, 1], &[(0, 3), (1, 4), (2, 5)]),
            (&[0, 2, 2], &[(0, 1)]), // a link from a feature without edits ties nothing
        ];
        for (own, links) in cases {
            let edits = edits(own, links);
            for most in 0..=4 {
                let actions = all_actions(&edits, most);
                let expected = by_definition(&edits, most);
                assert_eq!(actions.iter().map(<[u32]>::to_vec).collect::<Vec<_>>(), expected, "{links:?}");
                assert_eq!(count_actions(&edits, most), expected.len() as u128, "{links:?}");
            }
        }
    }

    #[test]
    fn counting_takes_no_listing() {
        // A long chain, far apart pairs, and a hub that 200 features move.
        let chain: Vec<(usize, usize)> = (0..199).map(|feature| (feature, feature + 1)).collect();
        let pairs: Vec<(usize, usize)> = (0..100).map(|feature| (feature, feature + 100)).collect();
        let hub: Vec<(usize, usize)> = (1..200).map(|feature| (feature, 0)).collect();
        for (links, pairs_of_features) in
            [(chain, 200 * 199 / 2 - 199), (pairs, 200 * 199 / 2 - 100), (hub, 0)]
        {
            let edits = edits(&[10; 200], &links);
            assert_eq!(count_actions(&edits, 2), 1 + 2000 + 100 * pairs_of_features);
            assert!(count_actions(&edits, 6) >= count_actions(&edits, 2));
        }
    }
}
