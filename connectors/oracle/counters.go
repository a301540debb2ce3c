package oracle

import "sync/atomic"

// counters are octets on the wire, below TLS where there is TLS.
type counters struct {
	in, out atomic.Int64
}
