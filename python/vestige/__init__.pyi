# SPDX-License-Identifier: MIT
from os import PathLike
from typing import Any, Dict, Final, Iterator, List, Optional, Sequence, TypedDict, Union, final

import numpy as np
from numpy.typing import NDArray

Path = Union[str, bytes, "PathLike[str]", "PathLike[bytes]"]

__version__: str
KINDS: Final[Dict[str, int]]
EVENT: Final[np.dtype[np.void]]
INSTRUCTION: Final[np.dtype[np.void]]
STEP: Final[np.dtype[np.void]]
BR_COND: Final[int]
BR_INDIRECT: Final[int]
BR_CALL: Final[int]
BR_RETURN: Final[int]
BR_TAKEN: Final[int]
MEM_ATOMIC: Final[int]
MEM_REPEAT: Final[int]
REPORTS_FLOW: Final[int]
REPORTS_VALUES: Final[int]
REPORTS_ADDRESSES: Final[int]

class Error(Exception):
    code: str
    offset: Optional[int]
    chunk: Optional[int]

class Image(TypedDict):
    path: str
    base: int
    start: int
    length: int

class Name(TypedDict):
    image: Optional[str]
    routine: Optional[str]
    offset: int
    file: Optional[str]
    line: int

class ThreadInfo(TypedDict):
    events: int
    instructions: int

class _Measured(TypedDict):
    technique: str
    spec: str
    reports: int
    cores: int
    bits: int
    messages: int
    instructions: int
    cycles: int
    storage: int
    gates: int
    fields: Dict[str, int]
    counts: Dict[str, int]

class Measured(_Measured, total=False):
    windows: NDArray[np.uint64]
    core_windows: List[NDArray[np.uint64]]

class Encoded(TypedDict):
    bits: int
    messages: int

class Proved(TypedDict):
    same: bool
    compared: int
    bits: int
    why: str

class Technique(TypedDict):
    name: str
    summary: str
    reports: int

class Part(TypedDict):
    name: str
    copies: int
    sram: int
    cam: int
    registers: int
    comparators: int
    tristate: int
    gates: float

class Core(TypedDict):
    pc: int
    retired: int
    started: bool
    ended: bool

@final
class Batch:
    events: NDArray[np.void]
    cycles: Optional[NDArray[np.uint64]]
    wide: bytes
    first: int
    def __len__(self) -> int: ...
    def value(self, i: int, /) -> bytes: ...

@final
class Instructions:
    def __iter__(self) -> "Instructions": ...
    def __next__(self) -> NDArray[np.void]: ...
    def text(self, pc: int, bytes: bytes, /) -> str: ...

@final
class Run:
    @property
    def path(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    @property
    def events(self) -> int: ...
    @property
    def instructions_retired(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def timed(self) -> bool: ...
    @property
    def sealed(self) -> bool: ...
    @property
    def version(self) -> int: ...
    @property
    def facts(self) -> Dict[str, str]: ...
    @property
    def images(self) -> List[Image]: ...
    def __enter__(self) -> "Run": ...
    def __exit__(self, *args: Any) -> None: ...
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    def close(self) -> None: ...
    def seek(
        self,
        event: Optional[int] = None,
        cycle: Optional[int] = None,
        thread: Optional[int] = None,
        instruction: Optional[int] = None,
    ) -> None: ...
    def select(self, thread: Optional[int] = None, /) -> None: ...
    def thread(self, number: int, /) -> ThreadInfo: ...
    def name(self, address: int, /) -> Name: ...
    def instructions(self) -> Instructions: ...
    def measure(
        self, specs: Sequence[str], *, window: int = 0, sync: int = 0, plugins: Sequence[Path] = ()
    ) -> List[Measured]: ...
    def encode(
        self, spec: str, path: Path, *, overwrite: bool = False, plugins: Sequence[Path] = ()
    ) -> Encoded: ...
    def prove(self, specs: Sequence[str], *, plugins: Sequence[Path] = ()) -> List[Proved]: ...

@final
class Playback:
    @property
    def position(self) -> int: ...
    @property
    def cores(self) -> int: ...
    @property
    def over(self) -> bool: ...
    def __enter__(self) -> "Playback": ...
    def __exit__(self, *args: Any) -> None: ...
    def close(self) -> None: ...
    def goto(self, position: int, core: Optional[int] = None) -> int: ...
    def register(self, core: int, name: str, /) -> int: ...
    def registers(self, core: int, /) -> Dict[str, int]: ...
    def memory(self, core: int, address: int, size: int, /) -> bytes: ...
    def core(self, number: int, /) -> Core: ...

def open(path: Path, *, salvage: bool = False) -> Run: ...
def techniques(*, plugins: Sequence[Path] = ()) -> List[Technique]: ...
def cost(
    spec: str,
    *,
    cores: int = 1,
    address_bits: int = 64,
    timed: bool = False,
    plugins: Sequence[Path] = (),
) -> List[Part]: ...
def decode(
    path: Path,
    *,
    code: Optional[Path] = None,
    images: Sequence[Path] = (),
    limit: int = 0,
    plugins: Sequence[Path] = (),
) -> NDArray[np.void]: ...
def replay(
    path: Path,
    *,
    technique: Optional[str] = None,
    code: Optional[Path] = None,
    images: Sequence[Path] = (),
    memory: int = 0,
    plugins: Sequence[Path] = (),
) -> Playback: ...
