use sogar_baselines::Glance;

use crate::folds::{near_its_reference, spread};

#[test]
#[ignore = "needs the models of the published protocol: make references-test"]
fn glance_is_near_its_reference() {
    near_its_reference(&Glance::default(), "german", 13, [0.416, 0.007, 0.393, 0.006], spread);
    near_its_reference(&Glance::default(), "attrition", 13, [0.625, 0.027, 0.630, 0.019], spread);
}

#[test]
#[ignore = "needs the models of the published protocol: make references-test"]
fn glance_by_cluster_is_near_its_reference() {
    near_its_reference(&Glance::by_cluster(), "german", 13, [0.677, 0.100, 0.696, 0.132], spread);
    near_its_reference(&Glance::by_cluster(), "attrition", 13, [0.679, 0.238, 0.704, 0.184], spread);
}
