// SPDX-License-Identifier: ISC
// Variables of Go; it prints them when it goes on.
package main

import "fmt"

type inner struct {
	X int
}

type outer struct {
	A  [3]int
	V  []int
	In inner
	P  *inner
}

func main() {
	i, u, i8, f, f32 := 1, uint8(2), int8(3), 1.5, float32(2.5)
	t, s := true, "old"
	b := outer{[3]int{1, 2, 3}, []int{4, 5, 6}, inner{1}, &inner{2}}
	fmt.Print("") // the stop
	fmt.Println(i, u, i8, f, f32, t, s, b.A, b.V, b.In.X, b.P.X)
}
