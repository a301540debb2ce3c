# An ASCII dump as GoldenGate's Extract writes it with
# FORMATASCII, NOHDRFIELDS, NOQUOTE, NONAMES, DELIMITER '|'
# is loaded into a database, and written out again as compressed CSV.
penstock { spec = 1 }

source "delimited" "dump" {
  delimiter = "|"
  header    = false
  quote     = ""

  table "ORDERS" {
    path = "dump/orders-*.txt" # one table of many files, in the order of their names
    key  = ["id"]
    column "id" { type = "bigint" }
    column "customer" { type = "varchar(40)" }
    column "amount" { type = "numeric(12,2)" }
    column "placed" { type = "timestamp" }
  }
}

target "sqlite" "shop" { path = "shop.db" }

target "delimited" "lake" {
  path        = "lake"
  compression = "zstd"
}

pipeline "load" {
  from    = source.dump
  to      = target.shop
  workers = 2
  bad_rows {
    action = "discard"
    file   = "bad.ndjson"
    limit  = 100
  }
  table "ORDERS" {
    range { count = 4 }
  }
}

pipeline "publish" {
  from    = source.dump
  to      = target.lake
  workers = 2
  table "ORDERS" {
    to       = "orders"
    existing = "truncate"
    filter   = "amount > 0"
    range { count = 4 }
  }
}
