package oracletest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// accept answers a client's CONNECT: it is let in, or told that there is no
// such service.
func (c *session) accept() error {
	kind, body, err := c.read()
	if err != nil {
		return err
	}
	if kind != packetConnect || len(body) < 20 {
		return fmt.Errorf("a packet of type %d in place of CONNECT", kind)
	}
	length, at := int(binary.BigEndian.Uint16(body[16:])), int(binary.BigEndian.Uint16(body[18:]))-headerSize
	var descriptor string
	if at >= 0 && at+length <= len(body) {
		descriptor = string(body[at : at+length])
	} else { // longer ones follow in a packet of their own
		_, next, err := c.read()
		if err != nil {
			return err
		}
		if len(next) < 2 {
			return errShort
		}
		descriptor = string(next[2:])
	}
	if f := c.fault(); f != nil {
		switch f.Harm {
		case Fail:
			return c.refuse(f.Err.Code)
		case Garble:
			if err := c.write(packetData, []byte{0xEE, 1, 2, 3}); err != nil {
				return err
			}
		}
		return errSpoilt
	}
	if name := serviceOf(descriptor); !strings.EqualFold(name, c.server.Service) {
		return c.refuse(12514)
	}
	a := make([]byte, 33)
	// Below version 318 clients leave out what this server does not know:
	// out-of-band breaks and a login in one round trip.
	binary.BigEndian.PutUint16(a[0:], 317)
	binary.BigEndian.PutUint16(a[4:], 8192)
	binary.BigEndian.PutUint16(a[6:], 0xFFFF)
	binary.BigEndian.PutUint16(a[8:], 1)
	binary.BigEndian.PutUint16(a[12:], 41) // where connect data would begin, and there is none
	a[14], a[15] = 4, 4                    // no negotiation of native encryption
	binary.BigEndian.PutUint32(a[24:], unit)
	binary.BigEndian.PutUint32(a[28:], 0x1FFFFF)
	if err := c.write(packetAccept, a); err != nil {
		return err
	}
	c.wide = true
	return nil
}

// refuse is a listener's answer to who may not in.
func (c *session) refuse(code int) error {
	text := fmt.Sprintf("(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR=%d)(ERROR_STACK=(ERROR=(CODE=%d)(EMFI=4))))", code, code)
	refuse := binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(text)))
	if err := c.write(packetRefuse, append(refuse, text...)); err != nil {
		return err
	}
	return errLeft
}

var serviceName = regexp.MustCompile(`(?i)\((?:SERVICE_NAME|SID)=([^)]*)\)`)

func serviceOf(descriptor string) string {
	if m := serviceName.FindStringSubmatch(descriptor); m != nil {
		return m[1]
	}
	return ""
}

// protocol tells the client's and the server's abilities to each other.
func (c *session) protocol(r *request) []byte {
	r.take(1)
	for r.more() && r.b[r.p] == 0 {
		r.p++
	}
	// go-ora reads a column's scale as a number of variable length where the
	// other thin clients read one octet, and asks for the server's time zone.
	c.goOra = strings.HasPrefix(string(r.b[r.p:]), "OracleClientGo")
	m := &message{}
	m.bytes(1, 6, 0)
	m.b = append(m.b, "x86_64/Linux 2.4.xx\x00"...)
	m.bytes(0x69, 0x03, 1, 0, 0) // AL32UTF8 (873), flags, no conversions
	forms := make([]byte, 64)
	binary.BigEndian.PutUint16(forms[9:], 2000) // national character set AL16UTF16
	m.bytes(0, byte(len(forms)))
	m.b = append(m.b, forms...)
	compiled := make([]byte, 45)
	compiled[4] = 0x20 | 0x09 | 2 // logins by the 12c verifier
	compiled[7] = 11              // version of TTC's fields
	compiled[15] = 1 | 0x20       // end of call status, short bit vectors
	compiled[16] = 1              // end to end sequence numbers
	compiled[27] = 1              // type numbers of two octets
	compiled[37] = 32             // big chunks
	m.bytes(byte(len(compiled)))
	m.b = append(m.b, compiled...)
	running := []byte{2, 0, 0, 0, 0, 0, 4}
	if c.goOra {
		running[1] = 1
	}
	m.bytes(byte(len(running)))
	m.b = append(m.b, running...)
	return m.b
}

// dataTypes agrees on the types' representations: everybody's own.
func (c *session) dataTypes() []byte {
	m := &message{}
	m.bytes(2)
	if c.goOra {
		m.bytes(0x80, 0, 0, 0, 60, 60, 60, 0x80, 0, 0, 0) // the time zone of the server, +00:00
	}
	m.bytes(0, 0)
	return m.b
}

// The 12c password verifier: PBKDF2 over SHA-512, and AES-256 over session keys
// of which each side makes one half.
const (
	verifier12c = 18453
	iterations  = 4096
	keyRounds   = 3
	sessionKey  = 32
	// mostPairs bounds what a message can make the server count through.
	mostPairs = 1000
)

type login struct {
	user          string
	salt, keySalt []byte
	ours          []byte // the server's half of the session key
	key           []byte // what the password makes of the salt
}

// who is the first part of a login: who wants in, and what to prove it with.
func (c *session) who(r *request) []byte {
	r.skip(1)
	r.uints(2)
	r.skip(1)
	n := r.uint()
	r.skip(2)
	user := string(r.value())
	c.program = ""
	for range min(n, mostPairs) {
		if k, v := r.pair(); k == "AUTH_PROGRAM_NM" {
			c.program = v
		}
	}
	c.login = login{user: user, salt: random(16), keySalt: random(16), ours: random(sessionKey)}
	c.login.key = c.server.verifier(c.login.salt)
	m := &message{}
	m.bytes(8)
	m.uint(6)
	m.pair("AUTH_SESSKEY", upperHex(crypt(c.login.key, c.login.ours, cipher.NewCBCEncrypter)), 0)
	m.pair("AUTH_VFR_DATA", upperHex(c.login.salt), verifier12c)
	m.pair("AUTH_PBKDF2_CSK_SALT", upperHex(c.login.keySalt), 0)
	m.pair("AUTH_PBKDF2_VGEN_COUNT", fmt.Sprint(iterations), 0)
	m.pair("AUTH_PBKDF2_SDER_COUNT", fmt.Sprint(keyRounds), 0)
	m.pair("AUTH_GLOBALLY_UNIQUE_DBID\x00", "A0B1C2D3E4F5A0B1C2D3E4F5A0B1C2D3", 0)
	m.status(status{})
	return m.b
}

// prove is the second part: the client's half of the key and the password.
func (c *session) prove(r *request) ([]byte, error) {
	named := r.byte()
	r.uints(2)
	r.skip(1)
	n := r.uint()
	r.skip(2)
	if named != 0 {
		r.value()
	}
	said := map[string]string{}
	for range min(n, mostPairs) {
		k, v := r.pair()
		said[k] = v
	}
	if r.err != nil {
		return nil, r.err
	}
	theirs, err := hex.DecodeString(said["AUTH_SESSKEY"])
	if err != nil || len(theirs) < sessionKey {
		return nil, fmt.Errorf("a login without a session key")
	}
	mixed := upperHex(append(crypt(c.login.key, theirs[:sessionKey], cipher.NewCBCDecrypter), c.login.ours...))
	combined, err := pbkdf2.Key(sha512.New, mixed, c.login.keySalt, keyRounds, sessionKey)
	if err != nil {
		return nil, err
	}
	m := &message{}
	if !strings.EqualFold(c.login.user, c.server.User) || !c.server.isPassword(combined, said["AUTH_PASSWORD"]) {
		m.status(status{err: &Error{Code: 1017, Text: "invalid username/password; logon denied"}})
		return m.b, nil
	}
	answer := append(append(random(16), "SERVER_TO_CLIENT"...), strings.Repeat("\x10", 16)...)
	c.open = true
	m.bytes(8)
	properties := [][2]string{
		{"AUTH_VERSION_STRING", "- Production"}, {"AUTH_VERSION_NO", "318767104"}, {"AUTH_VERSION_SQL", "25"},
		{"AUTH_SESSION_ID", fmt.Sprint(c.id)}, {"AUTH_SERIAL_NUM", "7"}, {"AUTH_INSTANCE_NO", "1"},
		{"AUTH_SC_INSTANCE_NAME", "DOUBLE"}, {"AUTH_SC_SERVICE_NAME", c.server.Service}, {"AUTH_SC_DBUNIQUE_NAME", "double"},
		{"AUTH_SC_DB_DOMAIN", ""}, {"AUTH_DBNAME", "DOUBLE"}, {"AUTH_MAX_OPEN_CURSORS", "300"},
		{"AUTH_SVR_RESPONSE", upperHex(crypt(combined, answer, cipher.NewCBCEncrypter))},
	}
	m.uint(uint64(len(properties)))
	for _, p := range properties {
		m.pair(p[0], p[1], 0)
	}
	m.status(status{})
	return m.b, nil
}

// isPassword opens what the client encrypted: 16 octets of noise, the password,
// and padding.
func (s *Server) isPassword(key []byte, text string) bool {
	sealed, err := hex.DecodeString(text)
	if err != nil || len(sealed) < 32 || len(sealed)%aes.BlockSize != 0 {
		return false
	}
	plain := crypt(key, sealed, cipher.NewCBCDecrypter)[16:]
	if pad := int(plain[len(plain)-1]); pad >= 1 && pad <= aes.BlockSize {
		plain = plain[:len(plain)-pad]
	}
	return string(plain) == s.Password
}

// verifier is the key that is made of what a database keeps of a password.
func (s *Server) verifier(salt []byte) []byte {
	kept, err := pbkdf2.Key(sha512.New, s.Password, append(append([]byte{}, salt...), "AUTH_PBKDF2_SPEEDY_KEY"...), iterations, 64)
	if err != nil {
		panic(err) // of constants
	}
	sum := sha512.Sum512(append(append([]byte{}, kept...), salt...))
	return sum[:32]
}

func crypt(key, in []byte, mode func(cipher.Block, []byte) cipher.BlockMode) []byte {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // keys are always of 32 octets
	}
	out := make([]byte, len(in))
	mode(b, make([]byte, aes.BlockSize)).CryptBlocks(out, in)
	return out
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

func upperHex(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }
