package oracletest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// Packets of TNS: a header of eight octets with the length and the type.
const (
	packetConnect = 1
	packetAccept  = 2
	packetRefuse  = 4
	packetData    = 6
	packetMarker  = 12
)

// What a marker packet says.
const (
	markerBreak     = 1
	markerReset     = 2
	markerInterrupt = 3
)

const (
	headerSize = 8
	// maxPacket bounds what a client can make the server allocate.
	maxPacket = 1 << 24
	// unit is how long a data packet may be; a listener of Oracle offers as much.
	unit = 65535
	// lastData flags the data packet with which a client leaves.
	lastData = 0x40
)

var (
	errLeft     = errors.New("the client left")
	errStranger = errors.New("a client that does not begin with CONNECT") // that speaks TLS, as a rule
)

// transport reads and writes packets.
type transport struct {
	conn net.Conn
	in   *bufio.Reader
	wide bool // lengths have four octets instead of two, once a connection is accepted
	out  []byte
}

func newTransport(c net.Conn) *transport {
	return &transport{conn: c, in: bufio.NewReaderSize(c, 1<<16)}
}

func (t *transport) read() (kind byte, body []byte, err error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(t.in, h[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = errLeft
		}
		return 0, nil, err
	}
	n := uint64(binary.BigEndian.Uint16(h[:]))
	if t.wide {
		n = uint64(binary.BigEndian.Uint32(h[:]))
	}
	if n < headerSize || n > maxPacket {
		return 0, nil, fmt.Errorf("a packet of %d octets", n)
	}
	if !t.wide && h[4] != packetConnect {
		return 0, nil, errStranger
	}
	body = make([]byte, n-headerSize)
	_, err = io.ReadFull(t.in, body)
	return h[4], body, err
}

func (t *transport) append(kind byte, body []byte) {
	var h [headerSize]byte
	if t.wide {
		binary.BigEndian.PutUint32(h[:], uint32(headerSize+len(body)))
	} else {
		binary.BigEndian.PutUint16(h[:], uint16(headerSize+len(body)))
	}
	h[4] = kind
	t.out = append(append(t.out, h[:]...), body...)
}

// write sends one packet.
func (t *transport) write(kind byte, body []byte) error {
	t.append(kind, body)
	return t.flush()
}

// data adds a message to what is to be sent, in as many packets as it takes.
func (t *transport) data(m []byte) {
	for first := true; first || len(m) > 0; first = false {
		n := min(len(m), unit-64)
		var h [headerSize + 2]byte
		binary.BigEndian.PutUint32(h[:], uint32(len(h)+n))
		h[4] = packetData
		t.out = append(append(t.out, h[:]...), m[:n]...)
		m = m[n:]
	}
}

// flush sends what was added.
func (t *transport) flush() error {
	_, err := t.conn.Write(t.out)
	t.out = t.out[:0]
	return err
}

// marker sends a marker.
func (t *transport) marker(what byte) error { return t.write(packetMarker, []byte{1, 0, what}) }
