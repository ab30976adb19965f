"""Read the fields of protocol buffers, such as the graphs of models, without a description of their types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_MOST_NUMBER = 1 << 29  # the numbers of fields are smaller


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    r"""Yield the number and the value of each field: an integer, or the content of any other field.

    Raises
    ------
    ValueError
        If the message is damaged.

    Examples
    --------
    >>> number, text = fields(memoryview(b"\x08\x05\x12\x01a"))
    >>> number, text[0], bytes(text[1])
    ((1, 5), 2, b'a')

    """
    place, end = 0, len(message)
    while place < end:
        key, place = _integer(message, place)
        number, form = divmod(key, 8)
        value: int | memoryview
        if form == 0:
            value, place = _integer(message, place)
        elif form in (1, 2, 5):
            size = 8 if form == 1 else 4
            if form == 2:
                size, place = _integer(message, place)
            value, place = message[place : place + size], place + size
        else:
            raise ValueError(f"it has a field of the unknown form {form}")
        if place > end or number >= _MOST_NUMBER:
            raise ValueError("it ends inside a field, or the number of a field is out of range")
        yield number, value


def integers(values: Iterable[int | memoryview]) -> Iterator[int]:
    """Yield the signed integers in the values of a repeated field, each of which may hold several."""
    for value in values:
        if isinstance(value, int):
            yield _signed(value)
            continue
        place = 0
        while place < len(value):
            number, place = _integer(value, place)
            yield _signed(number)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _integer(message: memoryview, place: int) -> tuple[int, int]:
    """Return the unsigned integer at a place, and the place after it."""
    found = 0
    for shift in range(0, 70, 7):
        if place >= len(message):
            break
        byte = message[place]
        place += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found & ((1 << 64) - 1), place
    raise ValueError("it has an integer that does not end")
