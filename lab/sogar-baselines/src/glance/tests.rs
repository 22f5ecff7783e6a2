use super::*;
use crate::evaluate::evaluate;
use crate::testing::{
    assert_gaps_are_no_trouble, assert_order_does_not_matter, assert_refused, assert_stops_at_once, german,
    prepared, proposals,
};

/// A real x with range 100, and a category; accepted from x = 50 on.
const TABLE: &str =
    "x,c\n0.0,A\n100.0,B\n30.0,A\n40.0,A\n45.0,A\n10.0,A\n50.0,B\n52.0,B\n54.0,A\n20.0,A\n22.0,A\n";

fn example(config: &str) -> Prepared {
    prepared(TABLE, config, |row| row[0] >= 50.0)
}

fn fit(method: Glance, prepared: &Prepared) -> Box<dyn Fitted> {
    method.fit(prepared, 13, &Stop::default()).unwrap()
}

fn fitting<'a>(
    moves: &'a Moves<'a>,
    black_box: &'a BlackBox<'a>,
    people: &'a [f64],
    stop: &'a Stop,
) -> Fitting<'a> {
    static USUAL: std::sync::LazyLock<Glance> = std::sync::LazyLock::new(Glance::default);
    Fitting { settings: &USUAL, moves, black_box, people, seed: 0, stop }
}

/// A cluster around (0, A) whose counterfactuals are x = shifts.
fn cluster_with(shifts: &[f64], rows: Vec<usize>, moves: &Moves<'_>) -> Cluster {
    Cluster::new(rows, vec![0.0, 0.0], shifts.iter().map(|&to| vec![to, 0.0]).collect(), moves)
}

#[test]
fn distances_count_tenths_of_the_range_and_categories() {
    let prepared = example("");
    let moves = Moves::new(&prepared);
    assert_eq!(moves.distance(&[20.0, 0.0], &[50.0, 1.0]), 4.0);
    assert_eq!(moves.distance(&[f64::NAN, 0.0], &[50.0, 0.0]), 1.0);
    assert_eq!(moves.distance(&[f64::NAN, 0.0], &[f64::NAN, 0.0]), 0.0);
}

#[test]
fn the_smallest_cluster_joins_the_one_nearest_in_people_and_counterfactuals() {
    let prepared = example("");
    let moves = Moves::new(&prepared);
    // 20A, 22A and 30A are the clusters' people as far as their numbers go; the centroids are given.
    let people = people(prepared.table(), &[6, 7, 8, 9, 10, 2, 2, 2]);
    let clusters = vec![
        Cluster::new(vec![5, 6, 7], vec![30.0, 0.0], vec![vec![90.0, 1.0]], &moves),
        Cluster::new(vec![0, 1, 2], vec![50.0, 1.0], vec![vec![60.0, 0.0]], &moves),
        Cluster::new(vec![3, 4], vec![20.0, 0.0], vec![vec![60.0, 0.0]], &moves),
    ];
    let weights = Weights { centroids: 0.5, counterfactuals: 0.5 };
    let merged = merge(clusters, 2, weights, &people, &moves);
    assert_eq!(merged.len(), 2);
    assert_eq!(merged[1].rows, [0, 1, 2, 3, 4]);
    assert!((merged[1].centroid[0] - 39.6).abs() < 1e-12);
    assert_eq!(merged[1].centroid[1], 0.0, "three A, two B");
    assert_eq!(merged[1].actions.len(), 2);
}

#[test]
fn the_commonest_category_is_the_first_seen_on_ties() {
    let prepared = example("");
    let moves = Moves::new(&prepared);
    let mode = |levels: &[f64]| {
        let people: Vec<Vec<f64>> = levels.iter().map(|&level| vec![f64::NAN, level]).collect();
        let average = average(people.iter().map(Vec::as_slice), &moves);
        assert!(average[0].is_nan(), "nobody has a number");
        average[1]
    };
    assert_eq!([mode(&[1.0, 0.0]), mode(&[0.0, 1.0]), mode(&[1.0, 0.0, 0.0])], [1.0, 0.0, 0.0]);
}

#[test]
fn a_cluster_keeps_the_action_that_flips_most_and_asks_for_least() {
    let prepared = example("");
    let (moves, black_box, stop) = (Moves::new(&prepared), BlackBox::new(&prepared), Stop::default());
    let people = people(prepared.table(), &[2, 3, 4]);
    let fitting = fitting(&moves, &black_box, &people, &stop);
    let cluster = cluster_with(&[5.0, 10.0, 25.0, 20.0], vec![0, 1, 2], &moves);
    let (part, stopped) = fitting.choose(0, cluster).unwrap();
    assert_eq!((part.words, part.flipped, part.rows), (vec!["increase `x` by 20".to_owned()], 3, 3));
    assert_eq!(stopped, None);
}

#[test]
fn everybody_takes_the_nearest_action_that_works_or_that_of_their_cluster() {
    let prepared = example("");
    let (moves, black_box, stop) = (Moves::new(&prepared), BlackBox::new(&prepared), Stop::default());
    let people = people(prepared.table(), &[5, 3, 2]);
    let fitting = fitting(&moves, &black_box, &people, &stop);
    let mut parts = Vec::new();
    for (row, shift) in [(0, 10.0), (2, 20.0)] {
        parts.push(fitting.choose(row, cluster_with(&[shift], vec![row], &moves)).unwrap().0);
    }
    parts[1].centroid[0] = 40.0;
    let part_of = vec![None; prepared.table().rows];
    let mut fitted = FittedGlance { parts, part_of, mode: GlanceMode::BestOf, status: FitStatus::Complete };
    // 45 → +10, 30 → +20, 10 → nothing works.
    let told = |part: u32, to: f64| Assigned { to: vec![(0, to)], part: Some(part), covered: true };
    let rows = [4, 2, 5];
    let assigned = fitted.assign(&prepared, prepared.table(), &rows).unwrap();
    assert_eq!(assigned, [told(0, 55.0), told(1, 50.0), Assigned::nothing()]);
    // 45 and 30 are nearer to 40, and 10 to 0; by recorded membership, 30 is in the first cluster.
    fitted.mode = GlanceMode::Cluster;
    let assigned = fitted.assign(&prepared, prepared.table(), &rows).unwrap();
    assert_eq!(assigned, [told(1, 65.0), told(1, 50.0), told(0, 20.0)]);
    fitted.part_of[2] = Some(0);
    let assigned = fitted.assign(&prepared, prepared.table(), &rows).unwrap();
    assert_eq!(assigned[1], told(0, 40.0));
    let other = prepared.table().clone();
    assert_eq!(fitted.assign(&prepared, &other, &[2]).unwrap(), [told(1, 50.0)], "another table's row");
}

#[test]
fn the_whole_method_helps_everybody() {
    let prepared = example("");
    for (method, name) in [(Glance::default(), "GLANCE"), (Glance::by_cluster(), "GLANCE cluster")] {
        let fitted = fit(method, &prepared);
        assert_eq!((fitted.status(), method.name().as_str()), (FitStatus::Complete, name));
        let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
        let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
        assert_eq!((score.loss_count, score.violations, score.coverage), (0, 0, 1.0));
        let text = fitted.describe().to_string();
        assert!(text.contains("increase `x` by"), "{text}");
        assert_eq!(text.contains("for people such as: `x` "), method.mode == GlanceMode::Cluster, "{text}");
    }
}

#[test]
fn counterfactuals_keep_to_what_is_allowed_from_the_centroid() {
    let config = "[features]\nn.direction = \"increase\"\nx.range = [2, 8]\nc = { targets = [\"b\"] }\nz.immutable = true\n";
    let table = "n,x,c,z\n0,0.5,a,1\n9,10.5,b,2\n4,5.5,c,3\n";
    let prepared = prepared(table, config, |row| row[1] > 5.0 && row != [4.0, 5.5, 2.0, 3.0]);
    let (moves, black_box, stop) = (Moves::new(&prepared), BlackBox::new(&prepared), Stop::default());
    let search =
        Search { black_box: &black_box, moves: &moves, samples: 500, wanted: 200, seed: 1, stop: &stop };
    let (found, stopped) = search.all(&[vec![3.4, 0.5, 2.0, 1.0]]).unwrap();
    assert_eq!(stopped, None);
    assert_eq!(found[0].len(), 200);
    let mut seen = [false; 4];
    for person in &found[0] {
        assert!(person[0] == 3.4 || (person[0].fract() == 0.0 && (4.0..=9.0).contains(&person[0])));
        assert!(person[1] > 5.0 && person[1] <= 8.0);
        assert!(person[2] == 1.0 || person[2] == 2.0);
        assert_eq!(person[3], 1.0);
        seen =
            [seen[0] | (person[0] == 4.0), seen[1] | (person[0] == 9.0), seen[2] | (person[2] == 1.0), true];
    }
    assert_eq!(seen, [true; 4]);
    let mut distinct: Vec<Vec<u64>> =
        found[0].iter().map(|person| person.iter().map(|value| value.to_bits()).collect()).collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 200);
}

#[test]
fn a_missing_average_stays_missing() {
    let prepared = prepared("x,y\n,1\n,2\n5,9\n1,8\n", "", |row| row[1] > 5.0);
    let fitted = fit(Glance::default(), &prepared);
    let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
    assert!(assigned.iter().all(|assigned| assigned.covered && assigned.to.iter().all(|&(f, _)| f == 1)));
}

#[test]
fn what_the_configuration_forbids_is_never_proposed() {
    let table = "x,n,c,b\n0,1,a,no\n3.5,2,b,yes\n9,7,c,no\n10,9,d,yes\n4,5,d,no\n2,9,a,no\n";
    let accepts = |row: &[f64]| row[0] >= 9.0 || row[1] >= 8.0 && row[2] >= 1.0;
    for config in [
        "[features]\nx.immutable = true\n",
        "[features]\nx.direction = \"increase\"\nn.direction = \"increase\"\n",
        "[features]\nx.range = [1, 5]\nn.range = [2.5, 8.2]\nc.targets = [\"b\", \"d\"]\n",
        "[features.c]\nforbid = [[\"a\", \"b\"], [\"a\", \"c\"], [\"d\", \"a\"]]\n",
    ] {
        let prepared = prepared(table, config, accepts);
        for mode in [GlanceMode::BestOf, GlanceMode::Cluster] {
            for seed in 0..10 {
                let method = Glance { samples: 50, final_clusters: 2, mode, ..Glance::default() };
                let fitted = method.fit(&prepared, seed, &Stop::default()).unwrap();
                let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
                let score =
                    evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
                assert_eq!(score.violations, 0, "{config} {seed}");
            }
        }
    }
}

#[test]
fn no_counterfactual_is_no_result_with_its_reason() {
    let prepared = prepared("x,y\n1,1\n2,2\n3,30\n", "[features]\ny.immutable = true\n", |row| row[1] > 9.0);
    let fitted = fit(Glance::default(), &prepared);
    assert!(matches!(fitted.status(), FitStatus::NoResult { reason } if reason.contains("counterfactual")));
    for mode in [GlanceMode::BestOf, GlanceMode::Cluster] {
        let fitted = fit(Glance { mode, ..Glance::default() }, &prepared);
        assert_eq!(fitted.assign(&prepared, prepared.table(), &[0]).unwrap(), [Assigned::nothing()]);
    }
}

#[test]
fn levels_in_order_and_people_nobody_has_seen_are_no_trouble() {
    for mode in [GlanceMode::BestOf, GlanceMode::Cluster] {
        assert_gaps_are_no_trouble(&Glance { mode, ..Glance::default() }, 13, "");
    }
}

#[test]
fn threads_and_batches_change_nothing_and_seeds_do() {
    let method = Glance { initial_clusters: 30, samples: 200, ..Glance::default() };
    assert_order_does_not_matter(&method, 13);
    assert_ne!(proposals(&method, &german(), 13, 1).1, proposals(&method, &german(), 14, 1).1);
}

#[test]
fn a_deadline_in_the_past_is_kept_and_told() {
    assert_stops_at_once(&Glance::default());
}

#[test]
fn settings_that_make_no_sense_are_errors() {
    let usual = Glance::default();
    assert_refused(&[
        &Glance { initial_clusters: 0, ..usual },
        &Glance { final_clusters: 0, ..usual },
        &Glance { counterfactuals: 0, ..usual },
        &Glance { samples: 0, ..usual },
        &Glance { centroid_weight: -1.0, ..usual },
        &Glance { counterfactual_weight: f64::NAN, ..usual },
    ]);
}
