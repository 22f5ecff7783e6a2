//! Compares the small problem's front with itself and with parts of it.

use super::*;

const FRONT: &str = include_str!("../../../sogar-cli/tests/fixtures/front.json");

fn front() -> FrontFile {
    FrontFile::parse(FRONT.as_bytes()).unwrap()
}

#[test]
fn a_front_does_not_differ_from_itself() {
    let diff = diff(&front(), &front());
    assert!(diff.same_table && diff.same_model && diff.settings.is_empty() && diff.notes.is_empty());
    let people = diff.people.unwrap();
    assert_eq!((people.only_a, people.only_b, people.both), (0, 0, front().population.affected));
    let compared = diff.front.unwrap();
    assert_eq!((compared.a_lower, compared.b_lower, compared.mean_difference), (0.0, 0.0, 0.0));
    assert!(diff.features.iter().all(|used| used.a == used.b && used.a > 0.0));
    assert_eq!((diff.actions.only_a, diff.actions.only_b), (0, 0));
}

#[test]
fn a_front_with_fewer_points_is_worse_somewhere_and_better_nowhere() {
    let (whole, mut part) = (front(), front());
    part.points = part.points.into_iter().step_by(2).collect();
    part.status = Status::TimeLimit;
    let diff = diff(&whole, &part);
    let compared = diff.front.unwrap();
    assert!(compared.a_lower > 0.0 && compared.b_lower == 0.0 && compared.mean_difference > 0.0);
    assert!(compared.at.iter().all(|at| at.a <= at.b));
    assert!(diff.notes[0].contains("the second search was stopped early"));
}

#[test]
fn what_cannot_be_compared_is_left_out_and_said() {
    let (one, mut other) = (front(), front());
    other.table.hash = "another".into();
    other.cost.kind = sogar_table::config::CostKind::L1;
    other.config.limits.max_depth = Some(1);
    let diff = diff(&one, &other);
    assert!(diff.people.is_none() && diff.front.is_none() && !diff.same_table);
    assert_eq!(diff.notes.len(), 2);
    let keys: Vec<&str> = diff.settings.iter().map(|setting| setting.key.as_str()).collect();
    assert_eq!(keys, ["limits.max_depth"]);
}

#[test]
fn the_share_of_people_who_change_something_is_at_most_all_of_them() {
    for used in diff(&front(), &front()).features {
        assert!((0.0..=1.0).contains(&used.a), "{used:?}");
    }
}
