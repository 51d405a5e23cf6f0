// SPDX-License-Identifier: ISC
// A program with a number in a vector register while a function is called.
package main

import "fmt"

//go:noinline
func mul(a, b float64) float64 { return a * b }

func main() {
	x := 1.5
	n := 3
	n++ // the stop
	fmt.Println(mul(x, 2), n)
}
