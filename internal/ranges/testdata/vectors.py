"""Makes vectors.json, from docs/hash.md and without our code.

    pip install xxhash && python3 vectors.py > vectors.json

xxhash is the reference implementation of XXH3 in C behind Python. The tests
read only the JSON.
"""

import json
import struct
from datetime import date, time
from decimal import Decimal
from uuid import UUID

import xxhash


def uvarint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def varint(n):
    return uvarint(2 * n if n >= 0 else -2 * n - 1)


def sized(tag, b):
    return bytes([tag]) + uvarint(len(b)) + b


def number(text):
    if text in ("NaN", "Infinity", "-Infinity"):
        return sized(3, text.encode())
    d = Decimal(text)
    if d == d.to_integral_value() and -(2**63) <= d < 2**63:
        return b"\x02" + varint(int(d))
    plain = format(d, "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return sized(3, plain.encode())


def binary64(text):
    v = float(text)
    if v != v:
        return b"\x04\x7f\xf8\0\0\0\0\0\0"
    return b"\x04" + struct.pack(">d", v + 0.0 if v == 0 else v)


def fraction(text):
    """Microseconds and nanoseconds of a fraction's digits."""
    digits = (text + "000000000")[:9]
    return int(digits[:6]), int(digits[6:])


def clock(tag, text):
    day, _, rest = text.rpartition(" ")
    whole, _, frac = rest.partition(".")
    micros, nanos = fraction(frac)
    t = time.fromisoformat(whole)
    micros += (t.hour * 3600 + t.minute * 60 + t.second) * 10**6
    if day:
        micros += (date.fromisoformat(day) - date(1970, 1, 1)).days * 86400 * 10**6
    return bytes([tag]) + varint(micros) + uvarint(nanos)


def encode(kind, text):
    if text is None:
        return b"\0"
    if kind == "boolean":
        return b"\x01\x01" if text == "true" else b"\x01\0"
    if kind.startswith("int") or kind.startswith("decimal"):
        return number(text)
    if kind.startswith("float"):
        return binary64(text)
    if kind == "text":
        return sized(5, text.encode())
    if kind == "bytes":
        return sized(6, bytes.fromhex(text[2:]))
    if kind == "date":
        return b"\x07" + varint((date.fromisoformat(text) - date(1970, 1, 1)).days)
    if kind.startswith("timestamptz"):
        return clock(10, text.removesuffix("+00:00"))
    if kind.startswith("timestamp"):
        return clock(9, text)
    if kind.startswith("time"):
        return clock(8, text)
    if kind == "uuid":
        return sized(11, UUID(text).bytes)
    if kind == "json":
        return sized(12, text.encode())
    raise ValueError(kind)


KEYS = [
    [("int64", "0")],
    [("int64", "1")],
    [("int16", "1")],
    [("int32", "1")],
    [("decimal(10)", "1")],
    [("decimal(10,2)", "1.00")],
    [("decimal", "1")],
    [("decimal", "1.000")],
    [("int64", "-1")],
    [("int64", "63")],
    [("int64", "64")],
    [("int64", "-64")],
    [("int64", "-65")],
    [("int32", "1000000")],
    [("int64", "9223372036854775807")],
    [("int64", "-9223372036854775808")],
    [("decimal(38)", "9223372036854775807")],
    [("decimal(38)", "-9223372036854775808")],
    [("decimal(38)", "9223372036854775808")],
    [("decimal(38)", "-9223372036854775809")],
    [("decimal(38)", "99999999999999999999999999999999999999")],
    [("decimal", "123456789012345678901234567890123456789012345678901234567890")],
    [("decimal(10,2)", "0.00")],
    [("decimal(10,2)", "-12.50")],
    [("decimal", "-12.5")],
    [("decimal(10,2)", "0.05")],
    [("decimal(38,10)", "9223372036854775807.0000000000")],
    [("decimal(38,10)", "9223372036854775808.5000000000")],
    [("decimal", "NaN")],
    [("float64", "0")],
    [("float64", "-0")],
    [("float64", "1.5")],
    [("float32", "1.5")],
    [("float64", "0.1")],
    [("float64", "-1e+300")],
    [("float64", "NaN")],
    [("float64", "Infinity")],
    [("float64", "-Infinity")],
    [("text", "")],
    [("text", "a")],
    [("text", "A")],
    [("text", "a ")],
    [("text", "Zürich 東京")],
    [("text", "x" * 130)],
    [("text", "0123456789" * 30)],
    [("bytes", "\\x")],
    [("bytes", "\\x00ff")],
    [("boolean", "true")],
    [("boolean", "false")],
    [("date", "1970-01-01")],
    [("date", "2025-01-01")],
    [("date", "0001-01-01")],
    [("date", "9999-12-31")],
    [("time", "00:00:00")],
    [("time", "23:59:59.999999")],
    [("time(9)", "12:00:00.000000001")],
    [("timestamp", "2025-01-01 00:00:00")],
    [("timestamp", "1969-12-31 23:59:59.5")],
    [("timestamp", "9999-12-31 23:59:59.999999")],
    [("timestamp(9)", "9999-12-31 23:59:59.999999999")],
    [("timestamp(9)", "2025-01-01 00:00:00")],
    [("timestamptz", "2025-01-01 00:00:00+00:00")],
    [("uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6")],
    [("json", '{"a": 1}')],
    [("int64", "7"), ("text", "ab")],
    [("text", "7"), ("text", "ab")],
    [("text", "7a"), ("text", "b")],
    [("decimal(5)", "42"), ("date", "2025-06-30"), ("uuid", "00000000-0000-0000-0000-000000000000")],
    [("int64", None)],
    [("int64", "7"), ("text", None)],
]


def vector(key):
    encoding = b"".join(encode(kind, text) for kind, text in key)
    hashed = xxhash.xxh3_64_intdigest(encoding)
    null = any(text is None for _, text in key)
    return {
        "key": [{"type": kind, "value": text} for kind, text in key],
        "encoding": encoding.hex(),
        "hash": f"{hashed:016x}",
        "range_of_8": 1 if null else hashed % 8 + 1,
        "range_of_1000": 1 if null else hashed % 1000 + 1,
    }


if __name__ == "__main__":
    print("[\n " + ",\n ".join(json.dumps(vector(k), ensure_ascii=False) for k in KEYS) + "\n]")
