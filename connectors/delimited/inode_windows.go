package delimited

import "os"

// inode is not told without opening the file: size and time have to do.
func inode(os.FileInfo) uint64 { return 0 }
