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

func main() {
	t := T{1, "z"}
	i := 4
	fmt.Println(add(1, "ab", []int32{3, 4}, 2.5, true), t.Meth(2.5), byval(t, [2]int{5, 6}, &i))
}
