package event

import (
	"encoding/json"
	"time"
)

// Encode is the JSON line of an event: its own fields behind `event` and
// `time`, without a newline.
func Encode(at time.Time, e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(struct {
		Event string    `json:"event"`
		Time  time.Time `json:"time"`
	}{e.Name(), at.UTC()})
	if err != nil {
		return nil, err
	}
	if string(body) == "{}" {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), body[1:]...), nil
}
