// SPDX-License-Identifier: ISC
// A program to be looked at.
package main

import (
	"errors"
	"fmt"
	"os"
)

type Inner struct {
	A int
	S string
}

var counter int

func (in *Inner) add(a, b int) int {
	sum := a + b
	counter += sum // in add
	return sum
}

func main() {
	in := &Inner{1, "hello"}
	numbers := make([]int, 300)
	names := map[string]int{"one": 1, "two": 2}
	total := 0
	for i := 0; i < 10; i++ {
		total = in.add(total, i) // the loop
		numbers[i] = total
	}
	fmt.Println("total", total, names["one"])
	if len(os.Args) > 1 {
		panic(errors.New("boom")) // the panic
	}
}
