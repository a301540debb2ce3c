package lang_test

import (
	"time"

	"penstock/internal/secret"
	"penstock/internal/units"
	"penstock/lang"
)

// Config structs as connectors have them, one of every kind of setting.

type oracleConfig struct {
	Host     string     `spec:"host,required" doc:"name or address"`
	Port     int        `spec:"port" min:"1" default:"1521"`
	Service  string     `spec:"service,required"`
	User     string     `spec:"user,required"`
	Password secret.Ref `spec:"password,required"`
}

type sqlserverConfig struct {
	Host     string     `spec:"host,required"`
	Port     int        `spec:"port" min:"1" default:"1433"`
	Database string     `spec:"database,required"`
	User     string     `spec:"user,required"`
	Password secret.Ref `spec:"password,required"`
}

type postgresConfig struct {
	Host     string        `spec:"host,required"`
	Port     int           `spec:"port" min:"1" default:"5432"`
	Database string        `spec:"database,required"`
	User     string        `spec:"user,required"`
	Password secret.Ref    `spec:"password"`
	Timeout  time.Duration `spec:"connect_timeout" default:"10s"`
}

type fireboltConfig struct {
	Account  string     `spec:"account,required"`
	Engine   string     `spec:"engine,required"`
	Database string     `spec:"database,required"`
	ClientID string     `spec:"client_id,required"`
	Secret   secret.Ref `spec:"client_secret,required"`
	Staging  staging    `spec:"staging,block"`
}

type staging struct {
	Bucket string     `spec:"bucket,required"`
	Part   units.Size `spec:"part" default:"64MiB"`
}

type kafkaConfig struct {
	Brokers []string `spec:"brokers,required"`
}

type kafkaTable struct {
	Partitions int    `spec:"partitions" min:"1" default:"1"`
	Format     string `spec:"format" oneof:"json debezium" default:"json"`
	Tombstones bool   `spec:"tombstones" default:"true"`
}

type fireboltTable struct {
	Transport string `spec:"transport" oneof:"arrow parquet"`
}

type syntheticConfig struct {
	Tables []syntheticTable `spec:"table,block,required"`
}

type syntheticTable struct {
	Name   string  `spec:"name,label"`
	Preset string  `spec:"preset,required" oneof:"big_table firenibble firenibble_cdc"`
	Rows   int64   `spec:"rows,required" min:"0"`
	Seed   int64   `spec:"seed" default:"1"`
	Share  float64 `spec:"share"`
}

type sqliteConfig struct {
	Path  string     `spec:"path,required"`
	Cache units.Size `spec:"cache" default:"8MiB"`
	Pace  units.Rate `spec:"pace"`
}

type DelimitedForm struct {
	Delimiter   string `spec:"delimiter" default:","`
	Header      bool   `spec:"header" default:"true"`
	Quote       string `spec:"quote" default:"\""`
	Compression string `spec:"compression" oneof:"none gzip zstd" default:"none"`
}

type delimitedConfig struct {
	DelimitedForm
	Tables []delimitedTable `spec:"table,block,required"`
}

type delimitedTable struct {
	Name    string            `spec:",label"`
	Path    string            `spec:"path,required"`
	Key     []string          `spec:"key"`
	Columns []delimitedColumn `spec:"column,block"`
}

type delimitedColumn struct {
	Name string `spec:",label"`
	Type string `spec:"type" default:"text"`
}

type delimitedTarget struct {
	DelimitedForm
	Path string `spec:"path,required"`
}

var connectors = []lang.Connector{
	{Kind: "oracle", Source: oracleConfig{}},
	{Kind: "sqlserver", Source: sqlserverConfig{}},
	{Kind: "postgres", Source: &postgresConfig{}, Target: &postgresConfig{}},
	{Kind: "firebolt", Target: fireboltConfig{}, Table: fireboltTable{}},
	{Kind: "kafka", Target: kafkaConfig{}, Table: kafkaTable{}},
	{Kind: "synthetic", Source: syntheticConfig{}},
	{Kind: "sqlite", Source: sqliteConfig{}, Target: sqliteConfig{}},
	{Kind: "delimited", Source: delimitedConfig{}, Target: delimitedTarget{}},
}

// configs makes the config struct of an endpoint.
var configs = map[string]func() any{
	"oracle":    func() any { return &oracleConfig{} },
	"sqlserver": func() any { return &sqlserverConfig{} },
	"postgres":  func() any { return &postgresConfig{} },
	"firebolt":  func() any { return &fireboltConfig{} },
	"kafka":     func() any { return &kafkaConfig{} },
	"synthetic": func() any { return &syntheticConfig{} },
	"sqlite":    func() any { return &sqliteConfig{} },
}

var tableOptions = map[string]func() any{
	"firebolt": func() any { return &fireboltTable{} },
	"kafka":    func() any { return &kafkaTable{} },
}
