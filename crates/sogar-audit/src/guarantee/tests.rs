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

#[test]
fn points_are_tested_from_the_surest_on() {
    let order = |text: &str| text.parse::<Guarantee>().unwrap().order(3);
    assert_eq!(order("loss<=0.1"), [2, 1, 0]);
    assert_eq!(order("cost<=0.1"), [0, 1, 2]);
}
