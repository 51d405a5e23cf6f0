// SPDX-License-Identifier: ISC
// A variable of each kind that Go has, as argument.
package main

import (
	"errors"
	"fmt"
)

type name string
type list []int
type number int32
type fn func(int) int
type point struct{ x, y int }
type padded struct {
	a int8
	b string
	c float32
}
type shape interface{ area() float64 }
type holder[E any] struct{ e E }

func (p point) area() float64 { return float64(p.x * p.y) }

//go:noinline
func (p *point) move(dx, dy int) { p.x, p.y = p.x+dx, p.y+dy }

//go:noinline
func (h holder[E]) get(i int, f fn) E { return h.e }

//go:noinline
func (h *holder[E]) set(i int, e E) { h.e = e }

//go:noinline
func generic[K any](k K, i int) int { return i }

//go:noinline
func small(a int8, b uint16, c bool, d rune, e float32, u uint64) int {
	return int(a) + int(b) + int(d) + int(e) + int(u>>60)
}

//go:noinline
func texts(s string, b []byte, p *point, q point, sh shape, m map[string]int, e error) (n int, err error) {
	return len(s) + len(b) + p.x + q.y + int(sh.area()) + m["a"], e
}

//go:noinline
func arrays(a [3]int, c complex128, f func(int) int, v ...interface{}) int {
	return a[0] + f(int(real(c))) + len(v)
}

// Parameters that have no name are passed, but the debug information has none
// of them.
//
//go:noinline
func nameless(n name, l list, m number, _ int, unused int, f fn, c chan int, z int) int {
	return len(n) + len(l) + f(int(m)) + z
}

//go:noinline
func float(_ float64, a, b float64, _ string, s string, i int) float64 {
	return a + b + float64(len(s)) + float64(i)
}

//go:noinline
func structs(x struct{}, y [0]int, q [1]string, r [2]byte, s padded, z int) int {
	return z + len(s.b) + int(s.c)
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int, s string, l float64) int {
	return a + k + len(s) + int(l)
}

//go:noinline
func escaping(a int, p point) *point {
	p.x += a
	return &p
}

func main() {
	p := point{3, 4}
	for i := 0; i < 3; i++ {
		sum := small(int8(-i), 65535, i > 0, 'x', 1.5, 1<<63)
		_, err := texts("héllo", []byte("abc"), &p, p, p, map[string]int{"a": 1}, errors.New("e"))
		sum += arrays([3]int{i, 2, 3}, complex(1, 2), func(x int) int { return x + i }, 1, "two")
		sum += nameless("nm", list{1, 2}, 7, 8, 9, func(x int) int { return x + i }, nil, 12)
		sum += int(float(0.5, 1.5, 2.5, "nameless", "named", i))
		sum += structs(struct{}{}, [0]int{}, [1]string{"q"}, [2]byte{1, 2}, padded{-3, "bb", 0.25}, i)
		sum += many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "str", 2.5)
		t := holder[string]{"e"}
		sum += len(t.get(4, nil))
		t.set(6, "six")
		p.move(i, -1)
		sum += generic("x", 9) + generic(1.5, 10) + escaping(i, p).x
		fmt.Println(sum, err)
	}
}
