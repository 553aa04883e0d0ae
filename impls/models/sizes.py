"""The sizes that were published, as configurations: where a relative of BERT has BERT's network, it is only a size."""

from attnspec.impls.models.albert import Albert
from attnspec.impls.models.bert import Bert
from attnspec.impls.models.distilbert import DistilBert
from attnspec.impls.models.mobilebert import MobileBert
from attnspec.impls.models.model import Model
from attnspec.impls.models.roberta import Roberta

SIZES: dict[str, Model] = {
    "bert-base-uncased": Bert(30522, 768, 12, 12, 3072),  # Devlin et al. (2019), section 3
    "bert-large-uncased": Bert(30522, 1024, 24, 16, 4096),
    "roberta-base": Roberta(50265, 768, 12, 12, 3072),  # Liu et al. (2019)
    "camembert-base": Roberta(32005, 768, 12, 12, 3072),  # Martin et al. (2020)
    "albert-base-v2": Albert(30000, 128, 768, 12, 12, 3072),  # Lan et al. (2020), table 1
    "distilbert-base-uncased": DistilBert(30522, 768, 6, 12, 3072),  # Sanh et al. (2019)
    "mobilebert-uncased": MobileBert(30522, 512, 24, 4, 512),  # Sun et al. (2020), table 1
    "spanbert-base-cased": Bert(28996, 768, 12, 12, 3072),  # Joshi et al. (2020): other training, one network
    "tinybert-4l-312d": Bert(30522, 312, 4, 12, 1200),  # Jiao et al. (2020), section 4.1
    "minilm-l6-h384-uncased": Bert(30522, 384, 6, 12, 1536),  # Wang et al. (2020)
}
"""By the name under which the weights are known."""
