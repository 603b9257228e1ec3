"""Words for kinds of pictures: how a picture is made and what it is of, and names of everyday things.

All wordings are this project's own. They name machine and body part as a cataloguer would ("CT, knee joint"); the
probes of MedTEC are sentences, and no text that is trained on may be one of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to make pictures and what is in them; both with wordings that mean the same."""

    key: str
    methods: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def captions(self) -> tuple[str, ...]:
        """The method before the part and the part before the method, every wording of each at least once."""
        pairs = list(product(self.methods, self.parts))
        return (*(f"{method}, {part}" for method, part in pairs), *(f"{part}; {method}" for method, part in pairs))


_Wordings = dict[str, tuple[str, ...]]

_RADIOLOGY: _Wordings = {
    "radiograph": ("plain film", "x-ray", "radiograph"),
    "ct": ("CT", "computed tomography"),
    "mri": ("MRI", "magnetic resonance tomography"),
    "ultrasound": ("ultrasound", "sonogram", "B-mode sonography"),
    "pet": ("PET", "positron emission tomography"),
    "scintigraphy": ("scintigraphy", "gamma camera picture"),
    "angiography": ("angiography", "vessels filled with contrast agent"),
    "fluoroscopy": ("fluoroscopy", "moving x-ray on a screen"),
}
_BODY_PARTS: _Wordings = {
    "chest": ("chest", "lungs and heart", "thorax"),
    "breast": ("breast", "mammary gland"),
    "abdomen": ("abdomen", "belly organs"),
    "pelvis": ("pelvis", "hips and pelvic organs"),
    "knee": ("knee", "knee joint"),
    "hand": ("hand", "wrist and fingers"),
    "foot": ("foot", "heel and toes"),
    "ankle": ("ankle", "ankle joint"),
    "elbow": ("elbow", "elbow joint"),
    "shoulder": ("shoulder", "shoulder joint"),
    "skull": ("skull", "bones of the head"),
    "brain": ("brain", "inside of the head"),
    "spine": ("spine", "vertebrae of the back"),
    "teeth": ("teeth", "jaw with its teeth"),
    "thyroid": ("thyroid", "gland in front of the windpipe"),
    "neck": ("neck", "vessels of the neck"),
    "liver": ("liver", "liver lobes"),
    "gallbladder": ("gallbladder", "gallbladder and bile ducts"),
    "kidney": ("kidney", "both kidneys"),
    "heart": ("heart", "chambers of the heart"),
    "uterus": ("uterus", "womb and ovaries"),
    "bladder": ("urinary bladder", "full bladder"),
    "testis": ("testis", "scrotum"),
}
_BREAST_METHODS: _Wordings = {
    "mammography": ("mammography", "mammogram"),
    "tomosynthesis": ("tomosynthesis", "layered mammography"),
    "thermography": ("thermography", "map of skin heat"),
    "galactography": ("galactography", "milk ducts filled with contrast agent"),
}
_CHEST_METHODS: _Wordings = {
    "bronchoscopy": ("bronchoscope", "camera in the windpipe"),
}
_MICROSCOPY: _Wordings = {
    "h_and_e": ("haematoxylin and eosin stain", "H&E under the light microscope", "stained histological section"),
    "electron_microscopy": ("electron microscope", "electron micrograph"),
    "immunofluorescence": ("immunofluorescence", "fluorescing antibodies under the microscope"),
    "cytology": ("cytology", "smear of loose cells"),
    "gross": ("gross specimen", "photographed surgical specimen"),
}
_TISSUES: _Wordings = {
    "mouth": ("lining of the mouth", "oral mucosa"),
    "colon": ("colon", "wall of the large bowel"),
    "breast": ("breast", "breast gland tissue"),
    "kidney": ("kidney", "renal cortex"),
    "liver": ("liver", "hepatic lobules"),
    "lung": ("lung", "alveoli"),
    "prostate": ("prostate", "prostate gland tissue"),
    "skin": ("skin", "epidermis and dermis"),
    "thyroid": ("thyroid", "thyroid follicles"),
    "uterus": ("uterus", "lining of the womb"),
    "bladder": ("bladder", "bladder wall"),
    "testis": ("testis", "seminiferous tubules"),
}
_BLOOD: _Wordings = {
    "stained_smear": ("stained blood film under the microscope", "Giemsa stain"),
    "flow_cytometry": ("flow cytometry plot", "scatter plot of a cell counter"),
}
_BLOOD_CELL: _Wordings = {"blood_cell": ("blood cell", "single cell from the blood")}
_EYE_METHODS: _Wordings = {
    "fundus_camera": ("fundus camera", "colour photo through the pupil", "fundus picture in colour"),
    "oct": ("OCT", "cross-section by optical coherence tomography"),
    "dye_angiography": ("fluorescein dye angiography", "angiography with green dye"),
    "autofluorescence": ("autofluorescence", "glow of the pigment without dye"),
    "infrared": ("infrared reflectance", "infrared camera"),
    "eye_ultrasound": ("ultrasound", "sonography through the lid"),
    "slit_lamp": ("slit lamp", "slit-lamp microscope"),
}
_EYE: _Wordings = {"retina": ("retina", "back of an eye", "fundus of an eye")}
_CAMERA: _Wordings = {"camera": ("colour photo", "photographed with a camera")}
_SURFACES: _Wordings = {
    "ear_drum": ("ear drum", "ear canal"),
    "tongue": ("tongue", "open mouth with the tongue out"),
    "vocal_cords": ("vocal cords", "larynx from above"),
    "nostril": ("nostril", "inside of a nose"),
    "cervix": ("uterine cervix", "mouth of the womb"),
    "gums": ("gums", "gums and front teeth"),
    "colon_mucosa": ("colon mucosa", "inner wall of the bowel"),
    "iris": ("iris", "eye from the front"),
}
_DERMOSCOPE: _Wordings = {"dermoscopy": ("dermatoscope", "dermoscopy", "dermatoscopic close-up")}
_SKIN_METHODS: _Wordings = {
    "skin_camera": ("clinical photo", "photographed by phone"),
    "confocal": ("confocal laser microscope", "reflectance confocal microscopy"),
    "skin_ultrasound": ("high-frequency ultrasound", "ultrasound at 20 MHz"),
    "skin_oct": ("optical coherence tomography", "OCT depth picture"),
    "biopsy": ("biopsy under the microscope", "stained biopsy"),
    "thermography": ("thermography", "heat camera"),
    "multiphoton": ("multiphoton microscope", "two-photon microscopy"),
    "wood_lamp": ("Wood's light", "ultraviolet lamp"),
}
_SKIN: _Wordings = {"skin": ("skin", "patch of skin")}
SITES = {
    "abdomen": ("skin of the belly", "abdominal skin"),
    "back": ("skin of the back", "skin between neck and loins"),
    "chest": ("skin of the chest", "skin over the breastbone"),
    "ear": ("skin of the ear", "auricle"),
    "face": ("skin of the face", "cheek, nose or forehead"),
    "foot": ("skin of the foot", "sole or toes"),
    "genital": ("genital skin", "skin of the private parts"),
    "hand": ("skin of the hand", "palm or fingers"),
    "lower extremity": ("skin of the leg", "thigh or shin"),
    "neck": ("skin of the neck", "nape or throat"),
    "scalp": ("scalp", "skin under the hair of the head"),
    "upper extremity": ("skin of the arm", "forearm or upper arm"),
}
"""Wordings of HAM10000's sites, without those that hold others (trunk, acral): theirs would be true of another's images."""

_GRIDS = (
    (_RADIOLOGY, _BODY_PARTS),
    (_BREAST_METHODS, {"breast": _BODY_PARTS["breast"]}),
    (_CHEST_METHODS, {"chest": _BODY_PARTS["chest"]}),
    (_MICROSCOPY, _TISSUES),
    (_BLOOD, _BLOOD_CELL),
    (_EYE_METHODS, _EYE),
    (_CAMERA, _SURFACES),
    ({**_DERMOSCOPE, **_SKIN_METHODS}, _SKIN),
)

THINGS = (
    ("bicycle", "push bike with two wheels"),
    ("apple", "red apple from the orchard"),
    ("wooden table", "dining table with four legs"),
    ("violin", "fiddle and bow"),
    ("grand piano", "concert piano"),
    ("trumpet", "brass horn"),
    ("drum kit", "drums and cymbals"),
    ("orange", "peeled orange"),
    ("pineapple", "tropical pineapple"),
    ("strawberries", "bowl of strawberries"),
    ("kettle", "kettle on the hob"),
    ("wine glass", "glass of red wine"),
    ("dinner plate", "porcelain plate"),
    ("frying pan", "iron pan with eggs"),
    ("toaster", "toaster with two slices of bread"),
    ("refrigerator", "fridge in the corner"),
    ("raincoat", "yellow coat against the rain"),
    ("hat", "straw hat"),
    ("leather boots", "pair of boots"),
    ("rucksack", "backpack for hikers"),
    ("motorcycle", "motorbike on the motorway"),
    ("lorry", "truck with a trailer"),
    ("fire engine", "red engine of the fire brigade"),
    ("taxi", "cab in the city"),
    ("tram", "tram on its rails"),
    ("sailing boat", "yacht at sea"),
    ("aeroplane", "airliner above the clouds"),
    ("cat", "tabby cat asleep"),
    ("poodle", "poodle on a lead"),
    ("sheepdog", "collie in a meadow"),
    ("horse", "brown horse in a paddock"),
    ("parrot", "green parrot in a cage"),
    ("goldfish", "goldfish in a bowl"),
    ("armchair", "armchair by the fire"),
    ("garden bench", "bench in the park"),
    ("bookshelf", "shelves full of novels"),
    ("desk lamp", "lamp for reading"),
    ("alarm clock", "clock beside the bed"),
    ("football", "leather ball for a match"),
    ("tennis racket", "racket and tennis ball"),
    ("chessboard", "game of chess"),
    ("kite", "kite in the wind"),
    ("camera tripod", "tripod of a photographer"),
    ("laptop", "notebook computer"),
    ("typewriter", "old typewriter with paper"),
    ("candle", "burning candle"),
    ("suitcase", "suitcase for a journey"),
    ("ladder", "ladder against a wall"),
    ("hammer", "hammer and nails"),
    ("garden fountain", "fountain in a square"),
    ("lighthouse", "lighthouse on the cliff"),
    ("stone bridge", "bridge over a river"),
    ("snowy mountain", "peak under snow"),
    ("sunflower", "field of sunflowers"),
    ("cactus", "cactus in a pot"),
    ("pizza", "slice of pizza"),
    ("birthday cake", "cake with candles"),
    ("hot-air balloon", "balloon with a basket"),
)


def all_kinds() -> Iterator[Kind]:
    """Every method with every part that it is joined to; keys are `method/part`."""
    for methods, parts in _GRIDS:
        for (method, ways), (part, names) in product(methods.items(), parts.items()):
            yield Kind(f"{method}/{part}", ways, names)
