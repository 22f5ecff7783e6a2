use sogar_baselines::GlobeCe;

use crate::folds::{near_our_prototype, spread};

#[test]
#[ignore = "needs the models of the published protocol: make references-test"]
fn globe_ce_is_near_our_prototype() {
    near_our_prototype(&GlobeCe::default(), "german", 0, [0.514, 0.186, 0.522, 0.131], spread);
    near_our_prototype(&GlobeCe::default(), "attrition", 0, [0.476, 0.195, 0.434, 0.088], spread);
}
