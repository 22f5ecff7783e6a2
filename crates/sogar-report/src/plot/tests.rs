//! Figures of the small problem's front: what is in them, and what is not.

use super::*;
use sogar_audit::audit::{GroupAudit, GroupingAudit, MeasureAudit, MeasureName, Measures};
use sogar_front::summary::{Evaluation, FrontFile, Status};

const FRONT: &str = include_str!("../../../sogar-cli/tests/fixtures/front.json");
const HOSTILE: &str = "</text><script>alert(1)</script>\u{202e}\u{1b}[31m";

fn front() -> FrontFile {
    FrontFile::parse(FRONT.as_bytes()).unwrap()
}

/// The same front, with hostile names of features and categories.
fn hostile() -> FrontFile {
    let json = serde_json::to_string(HOSTILE).unwrap();
    let text =
        FRONT.replace("\"income\"", &json).replace("`income`", &format!("`{}`", json.trim_matches('"')));
    FrontFile::parse(text.as_bytes()).unwrap()
}

fn is_harmless(svg: &str) {
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(!svg.contains("<script") && !svg.contains('\u{202e}') && !svg.contains('\u{1b}'), "{svg}");
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

fn held_out(front: &FrontFile) -> Evaluation {
    let points = front.points.iter().map(|point| {
        sogar_front::summary::means(
            point.cost_sum + 3,
            point.loss_count,
            front.cost.unit,
            front.people().affected,
        )
    });
    Evaluation {
        hash: String::new(),
        rows: 100,
        affected: front.population.affected,
        weight: None,
        points: points.collect(),
        details: Vec::new(),
        mean_distance: 0.04,
        sd_distance: 0.02,
    }
}

fn groups(front: &FrontFile, names: &[&str]) -> GroupingAudit {
    let of = |shift: f64| {
        let measure = || MeasureAudit {
            values: front.points.iter().map(|point| point.loss + shift).collect(),
            gap: vec![shift; front.points.len()],
            low: vec![shift - 0.1; front.points.len()],
            high: vec![shift + 0.1; front.points.len()],
            mean_gap: shift,
            mean_gap_low: shift - 0.05,
            mean_gap_high: shift + 0.05,
            mean_gap_together: None,
            p: None,
            p_holm: None,
            share_worse: 1.0,
            share_clearly_worse: 0.5,
            widest: 0,
        };
        Measures::each(|_| measure())
    };
    GroupingAudit {
        name: "sex".into(),
        shown: "sex".into(),
        groups: names
            .iter()
            .enumerate()
            .map(|(number, name)| GroupAudit {
                group: (*name).to_owned(),
                shown: (*name).to_owned(),
                rows: 100.0,
                affected: 50.0 + number as f64,
                enough: true,
                adverse_rate: Some(0.5),
                adverse_rate_interval: None,
                selection_rate: Some(0.5),
                selection_rate_interval: None,
                tpr: None,
                tpr_interval: None,
                positives: None,
                unreachable: None,
                unreachable_interval: None,
                blocked_by: None,
                measures: Some(of(0.03 * number as f64 - 0.02)),
                further: Vec::new(),
                individual: Vec::new(),
            })
            .collect(),
        adverse_rate_ratio: None,
        adverse_rate_ratio_interval: None,
        selection_rate_ratio: None,
        selection_rate_ratio_interval: None,
        tpr_gap: None,
        tpr_gap_interval: None,
        condition: false,
        spread: None,
        comparisons: 3,
    }
}

#[test]
fn every_figure_is_the_same_each_time_and_shows_hostile_words_as_words() {
    let odd = hostile();
    let look = Look {
        title: Some(HOSTILE.into()),
        upwards: Upwards::Works,
        marks: vec![Mark { name: HOSTILE.into(), cost: 0.1, loss: 0.2 }],
    };
    let draw = || {
        vec![
            front_svg(&odd, &look),
            holdout_svg(&odd, &held_out(&odd), &look).unwrap(),
            timeouts_svg(&[(HOSTILE, &odd), ("b", &odd)], &look).unwrap(),
            tree_svg(&odd, odd.points.len() - 1),
            disparity_svg(
                &odd,
                &groups(&odd, &[HOSTILE, "m", &"x".repeat(10_000)]),
                MeasureName::Loss,
                Some(HOSTILE),
            )
            .unwrap(),
            fairness_svg(&odd, &groups(&odd, &[HOSTILE, "m"]), MeasureName::Loss, Some(HOSTILE)).unwrap(),
        ]
    };
    let figures = draw();
    figures.iter().for_each(|svg| is_harmless(svg));
    assert_eq!(figures, draw());
    assert!(figures.iter().all(|svg| svg.contains("&lt;script&gt;")), "shown literally");
}

#[test]
fn a_front_shows_its_ends_its_picks_and_the_bound_of_a_stopped_search() {
    let mut front = front();
    let svg = front_svg(&front, &Look::default());
    assert!(svg.contains("lowest invalidity") && svg.contains("none dominated"), "{svg}");
    assert!(!svg.contains("no summary lies below"));
    front.status = Status::TimeLimit;
    front.bound = Some(vec![[0, 10], [50, 2]]);
    let svg = front_svg(&front, &Look::default());
    assert!(svg.contains("no summary lies below") && svg.contains("stopped early"));
}

#[test]
fn a_tree_has_a_box_for_every_node_and_every_point_a_tree() {
    let front = front();
    for (number, point) in front.points.iter().enumerate() {
        let svg = tree_svg(&front, number);
        is_harmless(&svg);
        assert_eq!(svg.matches("<rect x=").count(), 2 * point.leaves as usize - 1);
        assert!(svg.contains(&format!("Summary {number} of {}", front.points.len())));
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let front = front();
    let mut short = held_out(&front);
    short.points.pop();
    assert!(
        holdout_svg(&front, &short, &Look::default()).unwrap_err().to_string().contains("the evaluation has")
    );
    assert!(timeouts_svg(&[], &Look::default()).is_err());
    let many: Vec<(&str, &FrontFile)> = (0..9).map(|_| ("x", &front)).collect();
    assert!(timeouts_svg(&many, &Look::default()).unwrap_err().to_string().contains("9 fronts"));
    let mut small = groups(&front, &["f", "m"]);
    small.groups.iter_mut().for_each(|group| group.measures = None);
    for draw in [disparity_svg, fairness_svg] {
        let error = draw(&front, &small, MeasureName::Cost, None).unwrap_err();
        assert!(error.to_string().contains("large enough"), "{error}");
    }
}

#[cfg(feature = "png")]
#[test]
fn a_png_has_the_size_of_its_drawing() {
    let svg = tree_svg(&hostile(), 1);
    let bytes = png(&svg, 1.0).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    let size = |svg: &str, name: &str| -> u32 {
        let start = svg.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        svg[start..].split('"').next().unwrap().parse().unwrap()
    };
    let written = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    assert_eq!((written(16), written(20)), (size(&svg, "width"), size(&svg, "height")));
    assert!(png(&svg, 1000.0).unwrap_err().to_string().contains("too large"));
    assert!(png(&svg, f32::NAN).is_err() && png("<svg", 1.0).is_err());
}

#[test]
fn the_gap_of_a_point_is_the_largest_distance_of_a_group() {
    let front = front();
    let audited = groups(&front, &["f", "m", "x"]);
    let found = gaps(&audited.groups, MeasureName::Loss, front.points.len()).unwrap();
    for (at, gap) in found.iter().enumerate() {
        let each = audited.groups.iter().filter_map(|group| group.measures.as_ref());
        let distances = each.map(|measures| measures.get(MeasureName::Loss).gap[at].abs());
        assert_eq!(*gap, distances.fold(0.0, f64::max));
    }
    let svg = fairness_svg(&front, &audited, MeasureName::Loss, None).unwrap();
    is_harmless(&svg);
    assert!(svg.contains("at the lowest invalidity") && svg.contains("gap up to"), "{svg}");
}
