package batch

// Bitmap is a bit a row, least significant bit first, as in Arrow.
type Bitmap []byte

// Get reports bit i.
func (b Bitmap) Get(i int) bool { return b[i>>3]&(1<<(i&7)) != 0 }

// Set sets bit i to one.
func (b Bitmap) Set(i int) { b[i>>3] |= 1 << (i & 7) }

// Clear sets bit i to zero.
func (b Bitmap) Clear(i int) { b[i>>3] &^= 1 << (i & 7) }

// Put sets bit i to v.
func (b Bitmap) Put(i int, v bool) {
	if v {
		b.Set(i)
	} else {
		b.Clear(i)
	}
}

// push appends bit n.
func (b Bitmap) push(n int, v bool) Bitmap {
	if n&7 == 0 {
		b = append(b[:n>>3], 0)
	}
	if v {
		b[n>>3] |= 1 << (n & 7)
	}
	return b
}

// truncate keeps n bits and clears those behind them, as push expects; nil stays
// nil.
func (b Bitmap) truncate(n int) Bitmap {
	if b == nil || n > len(b)<<3 {
		return b
	}
	b = b[:(n+7)>>3]
	if n&7 != 0 {
		b[n>>3] &= 1<<(n&7) - 1
	}
	return b
}

// ones fills b with n set bits, whatever it held.
func (b Bitmap) ones(n int) Bitmap {
	b = b[:0]
	for i := 0; i < n>>3; i++ {
		b = append(b, 0xff)
	}
	if n&7 != 0 {
		b = append(b, 1<<(n&7)-1)
	}
	return b
}
