// SPDX-License-Identifier: ISC

// A program to be debugged; its first argument says how it goes on.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

func square(x int) int {
	y := x * x
	return y
}

func run(what string) {
	switch what {
	case "read":
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Print("got ", line)
	case "abort":
		panic("boom")
	case "env":
		fmt.Println("A=" + os.Getenv("A"))
	case "loop":
		for {
			time.Sleep(time.Millisecond)
		}
	}
}

func main() {
	sum := 0
	for i := 0; i < 3; i++ {
		sum += square(i)
		fmt.Printf("i=%d sum=%d\n", i, sum)
	}
	fmt.Fprintln(os.Stderr, "to stderr")
	if len(os.Args) > 1 {
		run(os.Args[1])
	}
	os.Exit(3)
}
