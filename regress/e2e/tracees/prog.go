// SPDX-License-Identifier: ISC
package main

import (
	"fmt"
	"sync"
)

//go:noinline
func Add(a, b int) int {
	return a + b + 1
}

//go:noinline
func Deep(n int) int {
	var room [64]int
	if n == 0 {
		return len(room)
	}
	room[n%64] = n
	return Deep(n-1) + room[n%64]
}

func main() {
	var wg sync.WaitGroup
	sums := make([]int, 8)
	for g := 0; g < 8; g++ {
		wg.Add(1)
		go func(g int) {
			defer wg.Done()
			for i := 0; i < 2000; i++ {
				sums[g] += Add(i, g)
			}
			sums[g] += Deep(500)
		}(g)
	}
	wg.Wait()
	total := 0
	for _, s := range sums {
		total += s
	}
	fmt.Println(total)
}
