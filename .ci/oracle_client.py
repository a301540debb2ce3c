"""Reads from the wire double with python-oracledb, and parses its statements with sqlglot."""
import datetime, decimal, json, re, subprocess, sys

import oracledb, sqlglot

checks = 0


def same(what, got, want):
    global checks
    checks += 1
    if got != want:
        sys.exit(f"{what}: got {str(got)[:300]}, want {str(want)[:300]}")


def refused(what, code, call):
    try:
        call()
    except oracledb.Error as e:
        same(f"{what}: {e}", code in str(e), True)
        return
    sys.exit(f"{what}: no error, want {code}")


def serve(*flags):
    p = subprocess.Popen([sys.argv[1], *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return p, json.loads(p.stdout.readline())


def connect(at, **more):
    return oracledb.connect(**{"host": at["host"], "port": at["port"], "service_name": at["service"], "user": at["user"], "password": at["password"], **more})


oracledb.defaults.fetch_lobs = False
oracledb.defaults.fetch_decimals = True
oracledb.defaults.arraysize = 700
server, at = serve("-serve", "types,big_table", "-big=3000")
c = connect(at)
same("thin", c.thin, True)
cur = c.cursor()
rows = cur.execute(at["read"]["T.TYPES"], [at["scn"]]).fetchall()
long = "0123456789abcdef" * 5000
D, dt = decimal.Decimal, datetime.datetime
same("rows of T.TYPES", len(rows), 3)
# IDs, then the columns as the statement gives them: a LOB is followed by its length.
same("edges", rows[0], (D(1), D("-123.456"), "héllo", "日本", "ab   ", dt(2024, 3, 10, 2, 30), dt(2024, 3, 10, 2, 30, 0, 123456), dt(2024, 3, 9, 21, 0), 1.5, 0.1, b"\xde\xad",
     "ünï", D(3), "日本", D(2), b"\x00\xff", D(2), "-00 05:00:00.000000", '{"a": 1}', "<a/>", "[1.0]", D(1), "*BAMAAJMCwQL+", "AAASZHAAEAAAAFXAAA"))
same("NULLs", rows[1], (D(2),) + (None,) * 23)
same("long values", (rows[2][1], rows[2][2], rows[2][10], rows[2][11], rows[2][13], rows[2][15]), (D("9" * 38), long[:3000], b"\x0a" * 300, long, long, bytes.fromhex(long)))
rows = cur.execute(at["read"]["T.MANY"], [at["scn"]]).fetchall()
same("repeated values", rows, [(D(i), "same", D(i // 7 % 3)) for i in range(5000)])
rows = cur.execute(at["read"]["SCOTT.BIG_TABLE"], [at["scn"]]).fetchall()
same("big_table", [r[0] for r in rows], [D(i) for i in range(1, 3001)])
for sql in at["statements"]["SCOTT.BIG_TABLE"]:  # the dictionary, and each form of a read with its binds
    if ":lo" not in sql and ":step" not in sql and ":owner" not in sql:
        cur.execute(sql, [at["scn"]] if ":scn" in sql else [])
        same("rows of " + sql[:60], bool(cur.fetchall()), True)
extents = next(s for s in at["statements"]["SCOTT.BIG_TABLE"] if "dba_extents" in s)
same("extents", len(cur.execute(extents, ["SCOTT", "BIG_TABLE"]).fetchone()), 4)
refused("an SCN of the future", "ORA-08181", lambda: cur.execute(at["read"]["T.MANY"], [at["scn"] + 10**6]))
refused("no such table", "ORA-00942", lambda: cur.execute(at["read"]["T.MANY"].replace("MANY", "NONE"), [at["scn"]]))
c.ping()
c.close()
refused("a wrong password", "ORA-01017", lambda: connect(at, password="wrong"))
refused("a service that is not there", "DPY-6001", lambda: connect(at, service_name="nosuch"))
server.stdin.close()
same("what the double has against its client", server.wait(), 0)

server, at = serve("-serve", "types", "-stall", '"MANY"')
c = connect(at)
c.call_timeout = 300
refused("a call that is broken off", "DPY-4024", lambda: c.cursor().execute(at["read"]["T.MANY"], [at["scn"]]))
c.call_timeout = 0
same("the session after it", len(c.cursor().execute(at["read"]["T.TYPES"], [at["scn"]]).fetchall()), 3)
c.close()
server.stdin.close()
server.wait()

server, at = serve("-serve", "types,big_table,firenibble", "-big=10", "-firenibble=10")
parsed = set()
for statements in at["statements"].values():
    for sql in statements:
        if sql not in parsed:
            parsed.add(sql)
            # What the parser knows of Oracle ends before these; their arguments it reads.
            sql = re.sub(r"XMLSERIALIZE\(CONTENT (.*?) AS CLOB\)", r"XMLSERIALIZE(\1)", sql.replace(" RETURNING CLOB)", ")"))
            sqlglot.parse_one(sql, dialect="oracle", error_level=sqlglot.ErrorLevel.RAISE)
same("statements that parse", len(parsed) > 10, True)
server.stdin.close()
server.wait()
print(f"oracle: {checks} checks by python-oracledb {oracledb.__version__}, {len(parsed)} statements parsed by sqlglot {sqlglot.__version__}")
