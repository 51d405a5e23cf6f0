package main

import "fmt"

type T struct {
	x int
	s string
}

//go:noinline
func add(a int, b string, c []int32, d float64, e bool) int { return a + len(b) + len(c) }

//go:noinline
func (t *T) Meth(k float64) string { return fmt.Sprint(t.x, k, t.s) }

//go:noinline
func byval(t T, arr [2]int, p *int) int { return t.x + arr[1] + *p }

type name string
type list []int
type hold[E any] struct{ e E }

// What has no name is passed, and in no debug information.
//
//go:noinline
func nameless(n name, l list, _ int, i int, f func(int) int, _ float64, d float64, c chan int, z int) int {
	return len(n) + len(l) + f(i) + int(d) + z
}

// So are dictionaries, at least when the compiler optimizes.
//
//go:noinline
func (h *hold[E]) set(i int, e E) { h.e = e }

//go:noinline
func dict[K any](k K, i int) int { return i }

func main() {
	t := T{1, "z"}
	i := 4
	fmt.Println(add(1, "ab", []int32{3, 4}, 2.5, true), t.Meth(2.5), byval(t, [2]int{5, 6}, &i))
	fmt.Println(nameless("nm", list{7, 8}, 90, 9, func(x int) int { return x * 2 }, 0.5, 1.5, nil, 12))
	h := hold[string]{}
	h.set(3, "held")
	fmt.Println(h.e, dict(1.5, 4))
}
