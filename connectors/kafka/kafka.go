// Package kafka writes to Kafka and what speaks its protocol: every row and
// every change a record, in commit order for each key.
package kafka

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/internal/secret"
)

// TargetConfig is a kafka target block.
type TargetConfig struct {
	Brokers     []string   `spec:"brokers,required" json:"brokers" doc:"Addresses to begin with, as in host:9092; the cluster tells the others." example:"broker1.example.net:9092"`
	SASL        string     `spec:"sasl" oneof:"plain scram-sha-256 scram-sha-512" json:"sasl,omitempty" doc:"How the user proves itself; none by default."`
	User        string     `spec:"user" json:"user,omitempty" doc:"Who connects, with sasl."`
	Password    secret.Ref `spec:"password" json:"password,omitzero" doc:"Password of the user, with sasl."`
	Compression string     `spec:"compression" oneof:"none snappy lz4 zstd gzip" default:"snappy" json:"compression" doc:"Compression of record batches."`
	Replication int        `spec:"replication" min:"1" json:"replication,omitempty" doc:"Replicas of a topic that is created; the broker's own default otherwise."`
}

// Options is the kafka block of a table.
type Options struct {
	Partitions  int    `spec:"partitions" min:"1" json:"partitions,omitempty" doc:"Partitions of the topic: as many appliers can share its keys. The broker's own default otherwise."`
	Format      string `spec:"format" oneof:"json debezium" default:"json" json:"format" doc:"json: the row. debezium: before and after images, operation and position."`
	Partitioner string `spec:"partitioner" oneof:"key table" default:"key" json:"partitioner" doc:"What keeps its order: the changes of a key, or those of the whole table in one partition."`
	Packed      int    `spec:"packed" min:"1" default:"1" json:"packed" doc:"Changes in one record, a line each."`
	Tombstones  bool   `spec:"tombstones" default:"false" json:"tombstones,omitempty" doc:"Follows a delete with an empty record, so that a compacted topic forgets the key."`
}

// Definition is the connector.
func Definition() *connectors.Definition {
	return &connectors.Definition{
		Kind:    "kafka",
		Summary: "Kafka: every row and change a record, in commit order for each key",
		Types:   types{},
		Target: &connectors.TargetDef{
			Config:  func() any { return &TargetConfig{} },
			Check:   check,
			Options: func() any { return &Options{} },
			Capabilities: connectors.TargetCapabilities{
				Writers:   1, // one transactional id a pipeline
				Modes:     []string{"copy"},
				NoScripts: true,
				Changes:   []string{"append"},
				Lanes:     connectors.LanesPipeline,
				Names:     "keep",
				Delivery:  "exactly once for read_committed readers, else at least once with dense sequence numbers",
				// A read_committed reader sees a record when its transaction commits.
				CommitBytes: 1 << 20, CommitEvery: "100ms",
				Values: connectors.Values{NaN: true},
			},
			Remark:    remark,
			SplitName: splitName,
		},
	}
}

func check(config any) []connectors.Problem {
	c := config.(*TargetConfig)
	var out []connectors.Problem
	problem := func(path, detail string, args ...any) {
		out = append(out, connectors.Problem{Path: path, Detail: fmt.Sprintf(detail, args...)})
	}
	if len(c.Brokers) == 0 {
		problem("brokers", "at least one address is needed, as in host:9092")
	}
	for _, b := range c.Brokers {
		host, port, err := net.SplitHostPort(b)
		if n, e := strconv.Atoi(port); err != nil || host == "" || e != nil || n < 1 || n > 65535 {
			problem("brokers", "%q is no address of the form host:9092", b)
		}
	}
	switch {
	case c.SASL == "" && c.User != "":
		problem("user", "a user proves itself by sasl: write `sasl = \"scram-sha-512\"`, or what the brokers ask for")
	case c.SASL == "" && !c.Password.IsZero():
		problem("password", "a password is sent by sasl: write `sasl` and `user`, or leave it out")
	case c.SASL != "" && (c.User == "" || c.Password.IsZero()):
		problem("sasl", "it needs a `user` and a `password`")
	}
	return out
}

// maxTopic is the longest topic name.
const maxTopic = 249

// splitName takes a topic's name, dots and all.
func splitName(name string) (schema.Name, error) {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	switch {
	case name == "" || name == "." || name == "..":
		return schema.Name{}, fmt.Errorf("%q is no name of a topic", name)
	case len(name) > maxTopic:
		return schema.Name{}, fmt.Errorf("a topic's name has at most %d characters, %q has %d", maxTopic, name, len(name))
	}
	if bad := strings.Trim(name, allowed); bad != "" {
		for _, r := range name {
			if !strings.ContainsRune(allowed, r) {
				return schema.Name{}, fmt.Errorf("%q: a topic's name takes letters, digits, '.', '_' and '-', not %q", name, r)
			}
		}
	}
	return schema.Name{Name: name}, nil
}
