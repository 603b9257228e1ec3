"""Texts of the demo suite: what each finding means, and the impression a report on it ends with."""

DEFINITIONS: dict[str, str] = {
    "lung nodule": "A small, round, dense spot inside the lung.",
    "pleural effusion": "Fluid that gathers between the lung and the chest wall and settles at the base.",
    "pneumothorax": "Air between the lung and the chest wall, so that the lung collapses.",
    "enlarged heart": "A cardiac silhouette wider than half of the thorax.",
    "transverse fracture": "A break that runs straight across the shaft, often with the ends displaced.",
    "lytic lesion": "An area where bone has been eaten away and looks transparent on a radiograph.",
    "fixation plate": "A metal bar held to a broken bone by screws.",
    "liver cyst": "A thin-walled pocket of water in the largest organ of the abdomen.",
    "calcified stone": "A hard mineral concretion, for example in the kidney.",
    "ascites": "Free fluid inside the belly, around the bowel.",
    "melanocytic naevus": "A common mole: a benign, evenly pigmented spot.",
    "melanoma": "A malignant tumour of pigment cells with several colours and a ragged border.",
    "seborrhoeic keratosis": "A harmless waxy, stuck-on growth of the ageing skin.",
    "vascular lesion": "A red or purple spot made of dilated blood vessels in the skin.",
    "retinal haemorrhages": "Bleeding at the back of the eye, seen as dark red dots and blots.",
    "hard exudates": "Yellow deposits of fat that leak from damaged vessels of the eye.",
    "enlarged optic cup": "A deepened pale centre of the nerve head, a sign of glaucoma.",
    "lymphocyte": "A white blood cell with one large round nucleus, part of adaptive immunity.",
    "neutrophil": "The most common granulocyte, with a nucleus of several lobes; it eats bacteria.",
    "eosinophil": "A white blood cell full of orange granules, frequent in allergy and parasitic disease.",
    "platelet cluster": "A clump of tiny cell fragments that stop bleeding.",
    "brain tumour": "An abnormal mass of growing tissue inside the skull, often with swelling around it.",
    "haemorrhage": "Blood that has escaped from a vessel into the tissue.",
    "enlarged ventricles": "Widened fluid spaces in the middle of the brain, as in hydrocephalus.",
}

IMPRESSIONS: dict[str, str] = {
    "no finding": "Normal chest. Nothing further is needed.",
    "lung nodule": "Suspicious spot in the {side} lung. Computed tomography is advised.",
    "pleural effusion": "Fluid around the {side} lung. Consider a tap.",
    "pneumothorax": "Air leak with collapse on the {side}. A drain is urgent.",
    "enlarged heart": "Cardiomegaly. Echocardiography is advised.",
}


def impression(finding: str, side: str) -> str:
    """The closing words of a chest report."""
    return IMPRESSIONS[finding].format(side=side)
