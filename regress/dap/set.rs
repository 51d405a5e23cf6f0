// SPDX-License-Identifier: ISC
// Variables of Rust; it prints them when it goes on.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code)]
enum Plain { A, B = 7 }
#[allow(dead_code)]
struct S { x: i32, y: u8, s: String, t: (i32, bool) }

fn main() {
    let mut i: i32 = 1;
    let mut u: u8 = 2;
    let mut f: f32 = 1.5;
    let mut t = true;
    let mut c = 'a';
    let mut big: i128 = 5;
    let mut s = S { x: 1, y: 2, s: String::from("old"), t: (3, false) };
    let mut a = [1, 2, 3];
    let mut p = Plain::A;
    let mut o = Some(5);
    let mut us: usize = 9;
    let r = &mut i;
    *r += 1; // the stop
    *r -= 1;
    println!("{} {} {} {} {} {} {} {} {:?} {:?} {}", i, u, f, t, c, big,
        s.x, s.t.0, a, p, us);
    u = 3; f = 2.0; t = false; c = 'b'; big = 7; s.x = 2; a[0] = 1;
    p = Plain::B; o = None; us = 1;
    drop((u, f, t, c, big, s, a, p, o, us));
}
