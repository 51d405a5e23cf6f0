package main

import (
	"errors"
	"fmt"
)

type Point struct{ X, Y int }

type Shape interface{ Area() float64 }

type Square struct {
	Side float64
	At   *Point
	Tags []string
}

//go:noinline
func (s *Square) Area() float64 { return s.Side * s.Side }

//go:noinline
func scalars(b bool, i8 int8, u16 uint16, n int, u uint64, f float32, d float64, r rune, c complex128) int {
	return n + int(i8) + int(u16)
}

//go:noinline
func texts(s string, bytes []byte, list []int, arr [3]int16) (n int, err error) {
	if len(s) > 100 {
		return 0, errors.New("long")
	}
	return len(s) + len(bytes) + len(list) + int(arr[1]), nil
}

//go:noinline
func composed(p Point, q *Point, s Shape, m map[string]int, f func(int) int, ch chan int, any interface{}) int {
	total := p.X + q.Y + m["a"]
	local := Point{total, 2}
	q.X += local.Y
	return f(total) + int(s.Area())
}

func main() {
	sum := 0
	for i := 0; i < 2; i++ {
		sum += scalars(true, -1, 65535, i, 1<<63, 0.5, -2.5, 'é', complex(1, -2))
		n, _ := texts("text", []byte{1, 2}, []int{3, 4, 5}, [3]int16{6, 7, 8})
		sum += n
		p := Point{1, 2}
		sq := &Square{1.5, &p, []string{"a", "b"}}
		sum += composed(p, &p, sq, map[string]int{"a": 1}, func(n int) int { return n * i }, make(chan int, 2), 5)
	}
	fmt.Println(sum)
}
