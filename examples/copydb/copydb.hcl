# One PostgreSQL database into another: every table of a schema, rows passed on undecoded.
penstock { spec = 1 }

source "postgres" "shop" {
  host     = "pg1.example.net"
  database = "shop"
  user     = "penstock_reader"
  password = env("SHOP_PASSWORD")
  catalog  = "catalog/shop.json"   # penstock catalog pull copydb.hcl source.shop
  throttle = "100MiB/s"
}

target "postgres" "copy" {
  host     = "pg2.example.net"
  database = "shop"
  user     = "penstock"
  password = env("COPY_PASSWORD")
  catalog  = "catalog/copy.json"
}

pipeline "copydb" {
  from    = source.shop
  to      = target.copy
  mode    = "snapshot"             # one state of all tables
  workers = 4                      # readers, and as many writers

  table "*" {
    exclude = ["audit_log"]
    expect  = 3
    carry   = ["indexes", "foreign_keys", "defaults", "comments"]   # of tables that it creates
  }

  table "audit_log" {              # a filter looks at rows: they are decoded
    filter = "level != 'debug'"
  }
}
