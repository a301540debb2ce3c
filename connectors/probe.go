package connectors

import "time"

// NetThroughput is the way of probing that gives the figures of Oracle's own
// netthroughput (RWP*Load Simulator): its query, its counting, its divisions.
const NetThroughput = "netthroughput"

// ProbeOptions say how the way to a source is measured.
type ProbeOptions struct {
	Compat  string        // NetThroughput; "" measures without its faults
	Streams []int         // how many connections at once, in turn; nil: doubled until it gains nothing
	Period  time.Duration // how long each is measured
	Rampup  time.Duration // before the common start
	Fetch   int           // rows of an answer
}

// Probe is what a probe found. Rates are in GB a second, of 10^9 octets.
type Probe struct {
	Compat          string     `json:"compat,omitempty"` // whose way of measuring this is; "" is our own
	Fetch           int        `json:"fetch"`            // rows of an answer
	RowBytes        int64      `json:"row_bytes"`        // of a row's values, on average
	ConnectMillis   float64    `json:"connect_millis"`   // the median of a login
	PingMillis      float64    `json:"ping_millis"`      // the median round trip that asks for nothing
	PingMillis99    float64    `json:"ping_millis_p99"`  // the slowest of a hundred
	StatementMillis float64    `json:"statement_millis"` // the median of SELECT 1 FROM dual
	Runs            []ProbeRun `json:"runs"`
	Knee            int        `json:"knee,omitempty"` // the streams after which more gained less than 5 %; 0: it was not looked for
	Notes           []string   `json:"notes"`          // what could not be measured, and why
}

// ProbeRun is one number of streams.
type ProbeRun struct {
	Streams    int     `json:"streams"`                          // connections at once
	Seconds    float64 `json:"seconds"`                          // measured; of netthroughput the period
	Queries    int64   `json:"queries"`                          // that ended in that time, of all streams
	Logical    float64 `json:"logical_gb_per_second"`            // values, as the query makes them
	Physical   float64 `json:"physical_gb_per_second,omitempty"` // what the server says that it sent
	Wire       float64 `json:"wire_gb_per_second"`               // what was read from connections, below TLS
	Slowest    float64 `json:"slowest_stream_gb_per_second"`     // of values, of the slowest stream
	Fastest    float64 `json:"fastest_stream_gb_per_second"`     // of values, of the fastest one
	QueryP50   float64 `json:"query_millis_p50"`                 // the median time of a query
	QueryP99   float64 `json:"query_millis_p99"`                 // that of the slowest of a hundred
	ClientCPU  float64 `json:"client_cpu_percent,omitempty"`     // of one core
	Sent       int64   `json:"server_bytes,omitempty"`           // of all streams, by the server's statistics
	Received   int64   `json:"wire_bytes"`                       // of all streams, by ours, over the same time
	Verdict    string  `json:"verdict"`                          // what the limit seems to be, for people
	Unreliable string  `json:"unreliable,omitempty"`             // why the figures are not to be trusted, and what to give
}
