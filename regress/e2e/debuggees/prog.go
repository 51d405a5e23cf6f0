// SPDX-License-Identifier: ISC
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

type point struct{ x, y int }

func calculate(i int) int {
	doubled := i * 2
	return doubled
}

func sumUp(n int) int {
	total := 0
	for i := 0; i < n; i++ {
		total += calculate(i)
	}
	return total
}

func main() {
	p := point{3, 4}
	total := sumUp(10)
	fmt.Println("total", total, p.x)
	fmt.Fprintln(os.Stderr, "to stderr")
	if len(os.Args) > 1 && os.Args[1] == "--where" {
		dir, _ := os.Getwd()
		fmt.Println("at", dir, os.Getenv("DL_ROW"))
	}
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Print("read ", line)
	for line == "spin\n" {
		time.Sleep(10 * time.Millisecond)
	}
	os.Exit(3)
}
