use sogar_baselines::Glance;

use crate::folds::{near_our_prototype, spread};

#[test]
#[ignore = "needs the models of the published protocol: make references-test"]
fn glance_is_near_our_prototype() {
    near_our_prototype(&Glance::default(), "german", 13, [0.416, 0.007, 0.393, 0.006], spread);
    near_our_prototype(&Glance::default(), "attrition", 13, [0.625, 0.027, 0.630, 0.019], spread);
}

#[test]
#[ignore = "needs the models of the published protocol: make references-test"]
fn glance_by_cluster_is_near_our_prototype() {
    near_our_prototype(&Glance::by_cluster(), "german", 13, [0.677, 0.100, 0.696, 0.132], spread);
    near_our_prototype(&Glance::by_cluster(), "attrition", 13, [0.679, 0.238, 0.704, 0.184], spread);
}
