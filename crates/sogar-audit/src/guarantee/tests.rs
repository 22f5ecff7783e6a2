use super::*;

#[test]
fn limits_are_read_and_written_alike() {
    for text in ["loss<=0.1", "cost<=0.25"] {
        assert_eq!(text.parse::<Guarantee>().unwrap().to_string(), text);
    }
    assert_eq!(" loss ≤ 0.1 ".parse::<Guarantee>().unwrap(), "loss<=0.1".parse().unwrap());
    for text in ["", "loss", "loss<0.1", "loss<=0", "loss<=1", "loss<=nan", "invalidity<=0.3", "cost<=-1"] {
        let error = text.parse::<Guarantee>().unwrap_err();
        assert!(error.remedy().is_some_and(|help| help.contains("loss<=0.1")), "{text}: {error}");
    }
}

#[test]
fn a_confidence_lies_between_0_and_1() {
    assert!(check_confidence(0.95).is_ok());
    for wrong in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
        assert!(check_confidence(wrong).is_err(), "{wrong}");
    }
}

/// A point with a cost and a loss, of a front that asks for `minimax`, along which the loss may rise.
fn point(cost_sum: u64, loss_count: u64) -> PointRef {
    let (cost, loss) = (cost_sum as f64, loss_count as f64);
    let tree =
        serde_json::from_value(serde_json::json!({ "action": 0, "rows": 9, "flipped": 0, "cost_sum": 0 }))
            .unwrap();
    PointRef { cost_sum, loss_count, cost, loss, invalidity: cost + loss, leaves: 1, depth: 0, tree }
}

#[test]
fn points_are_tested_from_the_surest_on_and_the_best_that_passed_is_chosen() {
    let points = [point(0, 9), point(2, 3), point(5, 4), point(7, 1)];
    let guarantee = |text: &str| text.parse::<Guarantee>().unwrap();
    let (loss, cost) = (guarantee("loss<=0.1"), guarantee("cost<=0.1"));
    assert_eq!((loss.order(&points), cost.order(&points)), (vec![3, 1, 2, 0], vec![0, 1, 2, 3]));
    // The last that passed need be neither the cheapest nor the one with the lowest loss.
    assert_eq!((loss.best(&[3, 1, 2], &points), cost.best(&[0, 1, 2], &points)), (Some(1), Some(1)));
    assert_eq!(loss.best(&[], &points), None);
}
