"""Names of models to local files: paths, aliases and Hugging Face repositories."""

from llamaint.hub.aliases import AliasInfo, forget, list_models
from llamaint.hub.cache import cache_dir
from llamaint.hub.progress import Progress
from llamaint.hub.resolve import resolve

__all__ = ["AliasInfo", "Progress", "cache_dir", "forget", "list_models", "resolve"]
