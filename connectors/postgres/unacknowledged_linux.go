package postgres

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// unacknowledged is how long what was sent may go unacknowledged, in
// milliseconds. Keep-alives are sent only while nothing is on its way; the
// kernel would try for a quarter of an hour otherwise.
const unacknowledged = 60_000

func boundUnacknowledged(network, _ string, c syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	if e := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, unacknowledged)
	}); e != nil {
		return e
	}
	return err
}
