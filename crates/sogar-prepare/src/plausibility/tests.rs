use super::*;

#[test]
fn a_share_counts_those_who_are_less_usual_and_nobody_who_is_equal() {
    let ranks = Ranks::new(vec![(3.0, 1), (1.0, 1), (3.0, 2), (7.0, 1)]);
    assert_eq!(ranks.total(), 5);
    for (number, below) in [(0.0, 0), (1.0, 0), (2.0, 1), (3.0, 1), (3.5, 4), (7.0, 4), (9.0, 5)] {
        assert_eq!(ranks.below(number), below, "{number}");
    }
}

#[test]
fn the_floor_separates_the_shares_below_the_limit_from_those_that_reach_it() {
    let mut random = sogar_testing::Random(5);
    for _ in 0..200 {
        let numbers: Vec<(f64, u64)> =
            (0..random.below(30) + 1).map(|_| (random.below(8) as f64, random.below(3) + 1)).collect();
        let ranks = Ranks::new(numbers);
        for limit in [0u32, 1, 50_000, 200_000, 500_000, 999_999] {
            let floor = ranks.floor(limit);
            for half in -2..20 {
                let number = f64::from(half) / 2.0;
                let reaches = u128::from(ranks.below(number)) * 1_000_000
                    >= u128::from(limit) * u128::from(ranks.total());
                assert_eq!(number > floor, reaches, "{number} {limit} {floor}");
            }
        }
    }
}
