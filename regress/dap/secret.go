// SPDX-License-Identifier: ISC
// Values that are nowhere in its source, and a panic that tells one.
package main

import "fmt"

var total int

func work(code int, word string) {
	twice := code * 2
	fmt.Println("its own output")
	total += twice // the stop
	if code > 5*19753+1 {
		panic(word)
	}
}

func main() {
	word := "s3"
	word += "cret"
	for i := 0; i < 9; i++ {
		work(5*19753+i, word)
	}
}
