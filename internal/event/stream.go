package event

import "time"

// StreamStarted comes when a pipeline's stream goes on from its checkpoints.
type StreamStarted struct {
	Pipeline string `json:"pipeline"`
	Lanes    int    `json:"lanes"`
	Position string `json:"position"`        // of the lane that is furthest behind, as the source's people write it
	Until    string `json:"until,omitempty"` // where it is to end
}

// StreamLag comes now and then: how far a stream is behind its source.
type StreamLag struct {
	Pipeline string        `json:"pipeline"`
	Position string        `json:"position"`          // of the lane that is furthest behind
	Behind   int64         `json:"behind_bytes"`      // of log that is not applied
	Kept     int64         `json:"kept_bytes"`        // of log that the source keeps for the stream
	Lag      time.Duration `json:"lag_ns"`            // age of the last change applied, while there are more
	Trouble  string        `json:"trouble,omitempty"` // why the log soon can't be read
}

func (StreamStarted) Name() string { return "stream_started" }
func (StreamLag) Name() string     { return "stream_lag" }
