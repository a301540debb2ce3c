package event

// CompareStarted comes before a table's two sides are read for a comparison.
type CompareStarted struct {
	Pipeline string `json:"pipeline"`
	Table    string `json:"table"`
	Chunks   int    `json:"chunks"`        // of both sides
	Expected int64  `json:"rows_expected"` // of both sides, estimate; 0 = unknown
}

// CompareRead comes when a batch of one side was read and hashed.
type CompareRead struct {
	Pipeline string `json:"pipeline"`
	Table    string `json:"table"`
	Side     string `json:"side"` // "source", "target"
	Rows     int64  `json:"rows_read"`
	Bytes    int64  `json:"bytes"`
}

// Compared comes when a table's two sides have been compared.
type Compared struct {
	Pipeline  string `json:"pipeline"`
	Table     string `json:"table"`
	State     string `json:"state"`
	Rows      int64  `json:"rows"` // of the source
	Missing   int64  `json:"missing"`
	Extra     int64  `json:"extra"`
	Different int64  `json:"different"`
}

func (CompareStarted) Name() string { return "compare_started" }
func (CompareRead) Name() string    { return "compare_read" }
func (Compared) Name() string       { return "compared" }
