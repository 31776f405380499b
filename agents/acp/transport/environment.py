"""Build the environment of an agent's process: ours, without the secrets of other agents.

The editor's extension keeps keys, and hands them to us as variables; `VSCODELM_SECRETS` has their
names. An agent gets one of them only where its definition says `${secret:NAME}` in its environment.
An endpoint names the variable of its key itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bridge.wire import EnvVariable

SECRETS = "VSCODELM_SECRETS"
_REFERENCE = re.compile(r"\$\{secret:((?:[^}$]|\$(?!\{secret:))*)\}")


def environment_of(
    own: Iterable[EnvVariable], known: Mapping[str, str], ours: Mapping[str, str]
) -> dict[str, str]:
    """Merge three environments: the definition's wins over the `known` agent's, and that over ours.

    A variable that needs a secret which isn't there is left as it would be without the definition.
    """
    names = {name for name in ours.get(SECRETS, "").split(",") if name}
    secrets = {name: ours[name] for name in names if name in ours}
    shown = {name: value for name, value in ours.items() if name not in names and name != SECRETS}
    filled = {
        variable.name: _REFERENCE.sub(lambda found: secrets[found[1]], variable.value)
        for variable in own
        if all(name in secrets for name in _REFERENCE.findall(variable.value))
    }
    return {**shown, **known, **filled}
