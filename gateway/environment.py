"""The environment's part of the configuration: ``GATEWAY_FORGE__ROOTS`` is ``roots`` of ``forge``.

In a file of its own: a start is 20 ms quicker without pydantic-settings, and few set a variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from gateway.settings import ENV_NESTED, ENV_PREFIX, Settings


class _Variables(Settings, BaseSettings):
    """The sections and keys that variables are looked for; values stay texts, which the settings themselves read."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_nested_delimiter=ENV_NESTED, enable_decoding=False)


class _Source(EnvSettingsSource):
    """The environment that is passed in, instead of the process's own."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        super().__init__(_Variables)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._environ.items()}


def variables(environ: Mapping[str, str]) -> Mapping[str, Any]:
    """What ``environ`` sets, by section and key."""
    return _Source(environ)()
