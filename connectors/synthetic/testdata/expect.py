"""Recomputes made-up rows from docs/synthetic.md alone, in plain Python.

    python3 expect.py > expect.txt

Prints the first three rows of each preset, then what the quickstart must load:
big_table, 1,000,000 rows, seed 1, filter small_number != 4, short_string in
upper case. It shares no code with the generator in Go; a difference between
the two is a fault in one of them, or in the page.
"""

M = (1 << 64) - 1
G = 0x9E3779B97F4A7C15
LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789abcdefghijklmnopqrstuv"
DAY = 86_400_000_000


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M
    return x ^ (x >> 31)


def key(seed, table, column):
    return mix((mix(seed & M) + 256 * table + column) & M)


def word(k, row, j):
    return mix((k + G * (8 * row + j)) & M)


def below(w, n):
    return (w * n) >> 64


def sixteen(w):
    b = w.to_bytes(8, "little")
    return [x % 32 for x in b] + [x // 8 for x in b]


def row_number(k, row):
    return row


def steps(first, step, n):
    return lambda k, row: first + step * below(word(k, row, 0), n)


def double(k, row):
    return below(word(k, row, 0), 1_000_000) / 1_000_000


def letters(lo, hi):
    def text(k, row):
        length = lo + below(word(k, row, 7), hi - lo + 1)
        out, j = "", 0
        while len(out) < length:
            out += "".join(LETTERS[x % 26] for x in sixteen(word(k, row, j)))
            j += 1
        return out[:length]

    return text


def code(k, row):
    return "".join(DIGITS[x] for j in (0, 1) for x in sixteen(word(k, row, j)))


SIGNED = steps(-(2**31), 1, 2**32)
NEAR19 = steps(10**18, 1, 9 * 10**18)
FAR = steps(1106685 * DAY, 1, 1826212 * DAY)
DATES = steps(10957, 1, 10000)

PRESETS = {
    "big_table": [row_number, steps(1, 1, 4), steps(100, 1, 9900), letters(10, 50), steps(20089 * DAY, DAY, 366)],
    "firenibble": [row_number, NEAR19, NEAR19, SIGNED] + [double] * 4 + [code] * 2 + [FAR] * 3 + [code] * 3,
    "firenibble_cdc": [row_number] + [SIGNED] * 4 + [letters(10, 100)] * 4 + [DATES] * 2,
}


def rows(preset, seed, table, first, last):
    columns = [(f, key(seed, table, i)) for i, f in enumerate(PRESETS[preset])]
    for row in range(first, last + 1):
        yield [f(k, row) for f, k in columns]


def first_rows():
    for preset in PRESETS:
        for n, row in enumerate(rows(preset, 1, 1, 1, 3), 1):
            print(f"{preset}.row{n}=" + "|".join(repr(v) if isinstance(v, float) else str(v) for v in row))
    # Another table, another seed, a row far on: each part of the key counts.
    print("big_table.seed2=" + "|".join(map(str, next(rows("big_table", 2, 1, 7, 7)))))
    print("big_table.seed_minus1=" + "|".join(map(str, next(rows("big_table", -1, 1, 7, 7)))))
    print("big_table.table3=" + "|".join(map(str, next(rows("big_table", 1, 3, 7, 7)))))
    far = 200_000_000
    print("big_table.row200000000=" + "|".join(map(str, next(rows("big_table", 1, 1, far, far)))))


def quickstart():
    count = sum_id = sum_small = sum_big = length = byte_sum = weighted = 0
    days = []
    sum_days = 0
    for row_id, small, big, text, created in rows("big_table", 1, 1, 1, 1_000_000):
        if small == 4:
            continue
        b = sum(text.upper().encode())
        count += 1
        sum_id += row_id
        sum_small += small
        sum_big += big
        length += len(text)
        byte_sum += b
        weighted = (weighted + row_id * b) % (2**61 - 1)
        day, rest = divmod(created, DAY)
        assert rest == 0
        sum_days += day
        days.append(day)
    print(f"quickstart.rows={count}")
    print(f"quickstart.sum_id={sum_id}")
    print(f"quickstart.sum_small_number={sum_small}")
    print(f"quickstart.sum_big_number={sum_big}")
    print(f"quickstart.sum_length_short_string={length}")
    print(f"quickstart.sum_bytes_short_string={byte_sum}")
    print(f"quickstart.sum_id_times_bytes_mod_2_61_1={weighted}")
    print(f"quickstart.min_created_day={min(days)}")
    print(f"quickstart.max_created_day={max(days)}")
    print(f"quickstart.sum_created_day={sum_days}")


if __name__ == "__main__":
    first_rows()
    quickstart()
