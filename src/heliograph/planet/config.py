"""Config: what a planet's owner can set, and what each setting costs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_type_hints

import msgspec

from heliograph.event.errors import UsageError
from heliograph.policy.limits import BYTES_MIN, Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

MIB: Final = 2**20
_SECOND: Final = 1_000_000_000


class PlanetConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one planet; every table and queue has its bound here."""

    name: str = "planet"
    """What the planet is called in logs and to clients."""
    listen: str = "127.0.0.1:7440"
    """Where clients attach. An address that others can reach exposes the planet: use TLS there."""
    http: str = ""
    """Where metrics and health are served, as in 127.0.0.1:7441; empty: nowhere."""
    tls_cert: str = ""
    """A PEM file with the planet's certificate; with it, only TLS is spoken."""
    tls_key: str = ""
    """The PEM file of its key."""
    tls_client_ca: str = ""
    """A PEM file: only clients with a certificate of this authority may attach."""

    heartbeat_seconds: float = 2.0
    """A side that has nothing to say shows itself so often; three of these in silence, and a client
    counts as detached. Shorter finds a lost link sooner and costs a thin one more."""
    greeting_seconds: float = 5.0
    """A connection that has not said who it is by then is closed."""
    session_seconds: float = 300.0
    """How long a detached client's lanes are kept; longer forgives longer absence, at a cost."""
    drain_seconds: float = 5.0
    """How long a planet that shuts down goes on sending what waits; the rest is told in digests."""

    lane_entries: int = 16_384
    """How many events and digests wait in a lane before it is packed. More absorbs longer bursts,
    and lets events grow older on a slow link."""
    lane_bytes: int = 4 * MIB
    """The same in bytes; whichever is full first."""
    buffer_bytes: int = 256 * MIB
    """What all lanes hold together; beyond it the largest lane is packed, whoever fills it."""
    controller: Literal["ladder", "aim"] = "ladder"
    """What picks the level of a pack: the papers' ladder, or aim, which drops less than it."""
    pack_steps: int = 5_000_000
    """Events times filters that one client's lanes may run each second; beyond it full lanes are
    folded without filters, and always levels are left to the client. A step takes about 10 to
    100 ns of the planet's time."""
    window_bytes: int = MIB
    """The most that may be under way to one client, out of reach of its policy; links that are
    slower get less by themselves."""
    frame_bytes: int = MIB
    """The longest frame that is taken, and so what a peer can make the planet hold for it."""

    connections_max: int = 10_000
    """Connections at once; further ones are closed at once."""
    clients_max: int = 10_000
    """Clients, attached and detached."""
    streams_max: int = 100_000
    """Streams that are offered or waited for."""
    senders_per_client_max: int = 1_000
    """Streams that one client may offer."""
    receivers_per_client_max: int = 1_000
    """Subscriptions that one client may have."""

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other."""
        for field in ("heartbeat", "greeting", "session", "drain"):
            if not 0 < getattr(self, f"{field}_seconds") < 10**6:
                raise UsageError(f"{field}_seconds lies between 0 and a million")
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, int) and value < 1:
                raise UsageError(f"{name} is at least 1, not {value}")
        if self.lane_entries < 16:  # noqa: PLR2004 - markers and digests need their places
            raise UsageError(f"lane_entries is at least 16, not {self.lane_entries}")
        if self.lane_bytes < BYTES_MIN * 8:
            raise UsageError(f"lane_bytes is at least {BYTES_MIN * 8}, not {self.lane_bytes}")
        if self.buffer_bytes < self.lane_bytes:
            raise UsageError("buffer_bytes holds at least one lane: raise it, or lower lane_bytes")
        if self.window_bytes < 4_096 or self.frame_bytes < 4_096:  # noqa: PLR2004 - a frame or two
            raise UsageError("window_bytes and frame_bytes are at least 4096")
        if bool(self.tls_cert) != bool(self.tls_key):
            raise UsageError("tls_cert and tls_key go together: give both, or none")

    @property
    def limits(self) -> Limits:
        """The capacity of a lane."""
        return Limits(self.lane_entries, self.lane_bytes)

    @property
    def beat(self) -> int:
        """The heartbeat in nanoseconds."""
        return int(self.heartbeat_seconds * _SECOND)

    @property
    def silence(self) -> int:
        """After how long without a byte a peer counts as gone, in nanoseconds."""
        return 3 * self.beat

    def nanoseconds(self, name: str) -> int:
        """Return a setting in seconds as nanoseconds."""
        return int(getattr(self, f"{name}_seconds") * _SECOND)


def read_config(path: str | Path) -> PlanetConfig:
    """Read the settings of a planet from a TOML file.

    Raises:
        UsageError: It cannot be read; the message names the setting and what is expected.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    try:
        return change_config(None, tomllib.loads(text))
    except (tomllib.TOMLDecodeError, UsageError) as error:
        raise UsageError(f"{path}: {error}") from None


def change_config(config: PlanetConfig | None, settings: Mapping[str, Any]) -> PlanetConfig:
    """Return a configuration, that of a planet without one if None, with other settings.

    Raises:
        UsageError: There is no such setting, or it cannot have this value.
    """
    begin = {} if config is None else msgspec.structs.asdict(config)
    try:
        return msgspec.convert(begin | dict(settings), PlanetConfig)
    except msgspec.ValidationError as error:
        raise UsageError(_wrong(str(error))) from None


def _wrong(error: str) -> str:
    """Return an error of msgspec's in the words of whoever sets something."""
    if "unknown field" in error:
        name = error.partition("`")[2].rstrip("`")
        return f"no setting {name}; the settings are {', '.join(PlanetConfig.__struct_fields__)}"
    what, _, place = error.partition(" - at `$.")
    name = place.rstrip("`")
    if "enum value" in what:
        words = " or ".join(get_args(get_type_hints(PlanetConfig)[name]))
        return f"{name} is {words}, not{what.partition('value')[2]}"
    return f"{name}: {what}" if name else what
