// Variables that others of their names hide.
package main

import "fmt"

type pair struct{ a, b int }

//go:noinline
func inner(x int, q pair) int {
	y := x
	{
		x := 2
		q := pair{3, 4}
		y += x + q.a
		{
			x := 5
			fmt.Println(x, q.a, y) // here
		}
	}
	return y
}

func main() {
	fmt.Println(inner(7, pair{8, 9}))
}
