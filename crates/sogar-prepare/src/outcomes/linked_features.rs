//! Linked features: sets of features that no edit changes in part. Each set is a unit.

use super::OutcomeQuery;

/// The units of a query, in the order of their edits.
pub(super) struct LinkedFeatures {
    /// Per feature its unit; `None` if no edit reaches it.
    pub of_feature: Vec<Option<usize>>,
    /// Per unit its edits, ascending.
    pub edits: Vec<Vec<u32>>,
}

/// Groups features that edits tie together.
pub(super) fn linked_features(query: &OutcomeQuery<'_>) -> LinkedFeatures {
    let features = query.table.features.len();
    let mut group: Vec<usize> = (0..features).collect();
    for edit in query.edits {
        for touched in edit.touched() {
            let (a, b) = (group[edit.feature], group[touched]);
            let (low, high) = (a.min(b), a.max(b));
            group.iter_mut().filter(|g| **g == high).for_each(|g| *g = low);
        }
    }
    // In the order of their edits: a unit's first feature may be one that only follows, and stand far before it.
    let mut numbers: Vec<usize> = Vec::new();
    for edit in query.edits {
        if !numbers.contains(&group[edit.feature]) {
            numbers.push(group[edit.feature]);
        }
    }
    let unit_of_feature: Vec<Option<usize>> =
        group.iter().map(|group| numbers.iter().position(|number| number == group)).collect();
    let mut unit_edits = vec![Vec::new(); numbers.len()];
    for (edit, description) in query.edits.iter().enumerate() {
        if let Some(unit) = unit_of_feature[description.feature] {
            unit_edits[unit].push(edit as u32);
        }
    }
    LinkedFeatures { of_feature: unit_of_feature, edits: unit_edits }
}
