// SPDX-License-Identifier: ISC

// Functions to stop at: each is called six times, with the same number.
package main

import "fmt"

var sum int

func a1(i int) {
	sum += i // in a1
}

func b2(i int) {
	sum += 2 * i // in b2
}

func c3(i int) {
	sum += 3 * i // in c3
}

func d4(i int) {
	sum += 4 * i // in d4
}

func e5(i int) {
	sum += 5 * i // in e5
}

func main() {
	for i := 0; i < 6; i++ {
		a1(i)
		b2(i)
		c3(i)
		d4(i)
		e5(i)
	}
	fmt.Println(sum)
}
