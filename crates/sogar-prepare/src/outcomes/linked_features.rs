//! Linked features: sets of features that no edit changes in part. Each set is a unit.

use super::OutcomeQuery;

/// The units of a query, in the order of their edits.
pub(super) struct LinkedFeatures {
    /// The unit of each feature; `None` if no edit changes it.
    pub of_feature: Vec<Option<usize>>,
    /// The edits of each unit, ascending.
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
    // In the order of their edits: the first feature of a unit may only follow others, and come far earlier.
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
