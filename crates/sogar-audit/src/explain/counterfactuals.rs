//! Several ways for one person: the cheapest actions that change the model's answer and that differ in what they change.
//!
//! The first way is the cheapest action. Each further one is the cheapest of those whose set of changed features neither contains
//! the set of an earlier way nor is contained in one: other amounts of the same features, or a change that adds something
//! unnecessary, are no other way. Of equally cheap ones the first in the order of actions counts. All actions of the problem are
//! tried, so the result is exact within them.

use std::collections::BTreeSet;

use super::individual::{AT_ONCE, Flipping, Individual};
use super::{Advice, Explainer, Person, PersonQuery, table_of};
use sogar_base::error::Result;
use sogar_prepare::actions::Edit;

impl Explainer<'_> {
    /// At most `ways` actions for each person, the cheapest first; none for a person whom the model accepts.
    pub fn counterfactuals(
        &self,
        people: &[Person],
        ways: usize,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Vec<Advice>>> {
        let individual = Individual::new(self.prepared, &self.pool)?;
        let features = &self.prepared.table().features;
        let mut found = Vec::with_capacity(people.len());
        for some in people.chunks(AT_ONCE) {
            let mut turned_down = Vec::with_capacity(some.len());
            for person in some {
                let one = table_of(features, &[person]);
                let asked = PersonQuery { prepared: self.prepared, person, one: &one, pool: &self.pool };
                turned_down.push(!self.prepared.classes().is_desired(&asked.predict(&person.values)?));
            }
            let affected: Vec<&Person> =
                some.iter().zip(&turned_down).filter(|(_, down)| **down).map(|(person, _)| person).collect();
            let mut flipping = individual.flipping(&table_of(features, &affected))?.into_iter();
            for (person, down) in some.iter().zip(turned_down) {
                let one = table_of(features, &[person]);
                let asked = PersonQuery { prepared: self.prepared, person, one: &one, pool: &self.pool };
                let actions = match if down { flipping.next() } else { None } {
                    Some(flipping) => diverse(&individual, &flipping, &person.values, ways),
                    None => Vec::new(),
                };
                found.push(actions.iter().map(|edits| asked.advice(edits, true)).collect::<Result<_>>()?);
                progress(found.len(), people.len());
            }
        }
        Ok(found)
    }
}

fn diverse(individual: &Individual<'_>, flipping: &Flipping, values: &[f64], ways: usize) -> Vec<Vec<Edit>> {
    let mut chosen: Vec<Vec<Edit>> = Vec::new();
    let mut sets: Vec<BTreeSet<usize>> = Vec::new();
    for &(_, action) in &flipping.by_cost {
        if chosen.len() == ways {
            break;
        }
        let edits = individual.edits(action);
        let changes = |edit: &&Edit| {
            edit.change.apply(values[edit.feature]).to_bits() != values[edit.feature].to_bits()
        };
        let set: BTreeSet<usize> = edits.iter().filter(changes).map(|edit| edit.feature).collect();
        if set.len() == edits.len() && !sets.iter().any(|known| known.is_subset(&set) || set.is_subset(known))
        {
            chosen.push(edits);
            sets.push(set);
        }
    }
    chosen
}
