//! Limits on the number of leaves. A limit that the depth implies needs no counting; any other limit makes a search store its
//! results for a row set once per allowed number of leaves.

/// The numbers of leaves for which fronts are kept: only `most` if depth is the only limit, otherwise from one leaf up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaves {
    pub fewest: usize,
    pub most: usize,
    remaining: usize,
    limit: u32,
    depth: usize,
}

impl Leaves {
    pub(super) fn new(limit: u32, depth: usize, remaining: usize) -> Self {
        let by_depth = |depth: usize| 1usize.checked_shl(depth as u32).unwrap_or(usize::MAX);
        let most = by_depth(remaining).min(limit as usize).max(1);
        let fewest = if limit as usize >= by_depth(depth) { most } else { 1 };
        Leaves { fewest, most, remaining, limit, depth }
    }

    /// The same one level down.
    pub(super) fn child(self) -> Option<Leaves> {
        let remaining = self.remaining.checked_sub(1)?;
        Some(Leaves::new(self.limit, self.depth, remaining))
    }

    /// The number of stored values.
    pub(super) fn count(self) -> usize {
        self.most - self.fewest + 1
    }

    /// The ways to divide `leaves` leaves between two sides with these limits, as positions among the stored values of each.
    pub(super) fn shares(self, leaves: usize) -> impl Iterator<Item = (usize, usize)> {
        let first = self.fewest.max(leaves.saturating_sub(self.most));
        (first..=self.most.min(leaves.saturating_sub(self.fewest))).map(move |on_left| {
            let on_right = (leaves - on_left).min(self.most);
            (on_left - self.fewest, on_right - self.fewest)
        })
    }
}
