// SPDX-License-Identifier: ISC
// A variable of each kind that Rust has, as argument, result and local.
use std::collections::HashMap;
use std::fmt::Display;
use std::rc::Rc;

fn black_box<T>(t: T) -> T {
    let seen = unsafe { std::ptr::read_volatile(&t) };
    std::mem::forget(t);
    seen
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Colour {
    Red,
    Green = 5,
    Blue = 200,
}

#[derive(Clone, Debug)]
enum Shape {
    Nothing,
    Circle(f64),
    Rect { w: u32, h: u32 },
    Named(String, i64),
}

#[derive(Clone, Copy)]
struct Point {
    x: i32,
    y: i32,
}

struct Unit;
struct Wrapped(u16);

struct All {
    c: char,
    i: i8,
    u: u64,
    f: f32,
    b: bool,
    p: Point,
    t: (u8, i16),
    a: [u16; 3],
    s: String,
    o: Option<u32>,
}

trait Area {
    fn area(&self, scale: u32) -> u64;
}

impl Area for Point {
    #[inline(never)]
    fn area(&self, scale: u32) -> u64 {
        black_box(self.x.wrapping_mul(self.y) as u64 ^ scale as u64)
    }
}

impl Point {
    #[inline(never)]
    fn moved(self, dx: i32, dy: i32) -> Point {
        black_box(Point { x: self.x + dx, y: self.y + dy })
    }
}

#[inline(never)]
fn small(a: i8, b: u8, c: i16, d: u16, yes: bool, ch: char, e: Colour, i: i32) -> i64 {
    let seen = a as i64 + b as i64 + c as i64 + d as i64 + yes as i64;
    black_box(seen + ch as i64 + e as i64 + i as i64)
}

#[inline(never)]
fn wide(a: i64, b: u64, f: f32, d: f64, w: i128, n: usize) -> f64 {
    black_box(a as f64 + b as f64 + f as f64 + d + w as f64 + n as f64)
}

#[inline(never)]
fn texts(s: &str, t: String, r: &String, b: Box<str>) -> usize {
    black_box(s.len() + t.len() * 2 + r.len() * 3 + b.len() * 5)
}

#[inline(never)]
fn lists(s: &[i32], v: Vec<u16>, a: [u8; 4], r: &Vec<i64>, m: &mut [u8]) -> i64 {
    m[0] = m[0].wrapping_add(1);
    black_box(s.iter().sum::<i32>() as i64 + v.len() as i64 + a[3] as i64 + r[0])
}

#[inline(never)]
fn options(a: Option<u32>, b: Option<&u32>, c: Option<Box<i32>>, d: Result<u8, String>) -> Option<u64> {
    let n = a.unwrap_or(1) as u64 + *b.unwrap_or(&2) as u64;
    black_box(match d {
        Ok(x) => Some(n + x as u64 + c.map_or(3, |v| *v) as u64),
        Err(_) => None,
    })
}

#[inline(never)]
fn shapes(s: Shape, r: &Shape, c: Colour) -> Shape {
    black_box(match (s, r) {
        (Shape::Circle(x), _) => Shape::Rect { w: x as u32, h: c as u32 },
        (Shape::Rect { w, h }, _) => Shape::Named(format!("{}x{}", w, h), -1),
        (Shape::Named(..), _) => Shape::Nothing,
        (Shape::Nothing, r) => r.clone(),
    })
}

#[inline(never)]
fn tuples(t: (i32, u8), u: (), w: Wrapped, e: Unit, p: (f64, f32), big: (u64, u64, u64)) -> (i64, bool) {
    let _ = (u, e);
    black_box((t.0 as i64 + t.1 as i64 + w.0 as i64 + p.0 as i64 + big.2 as i64, p.1 > 1.0))
}

#[inline(never)]
fn by_value(a: All, p: Point) -> Point {
    let n = a.c as i32 + a.i as i32 + a.u as i32 + a.f as i32 + a.b as i32;
    let m = a.p.x + a.t.1 as i32 + a.a[2] as i32 + a.s.len() as i32;
    black_box(Point { x: n + p.x, y: m + p.y + a.o.unwrap_or(0) as i32 })
}

#[inline(never)]
fn objects(d: &dyn Area, f: &dyn Fn(u32) -> u32, r: Rc<i32>, m: &HashMap<u8, u8>, b: Box<dyn Area>) -> u64 {
    black_box(d.area(f(2)) ^ b.area(*r as u32) ^ m.len() as u64)
}

#[inline(never)]
fn generic<T: Display + Clone>(t: T, n: &T, more: usize) -> usize {
    black_box(format!("{}{}", t, n).len() + more)
}

#[inline(never)]
fn pointers(p: *const u32, q: *mut u8, f: fn(u8) -> u8, z: usize) -> usize {
    black_box((p as usize != 0) as usize + (q as usize != 0) as usize + f(3) as usize + z)
}

#[inline(never)]
fn twice(x: u8) -> u8 {
    black_box(x.wrapping_mul(2))
}

#[inline(never)]
fn many(a: u8, b: u16, c: u32, d: u64, e: i8, f: i16, g: i32, h: i64, s: &str, j: i32) -> i64 {
    black_box(a as i64 + b as i64 + c as i64 + d as i64 + e as i64 + f as i64 + g as i64 + h + s.len() as i64 + j as i64)
}

fn main() {
    let mut sum = 0.0;
    for i in 0..3u32 {
        let n = i as i32;
        let p = Point { x: n + 3, y: -n - 4 };
        let colour = [Colour::Red, Colour::Green, Colour::Blue][i as usize];
        sum += small(-n as i8, 255, -300, 60000, i > 1, ['a', 'ü', '\u{1f600}'][i as usize], colour, -n) as f64;
        sum += wide(-(1 << 40), !0, 0.5, -2.5e300, -(1i128 << 100), i as usize);
        sum += texts("héllo", format!("owned {}", i), &String::from("by reference"), "boxed".into()) as f64;
        sum += lists(&[1, -2, n], vec![7; i as usize], [1, 2, 3, 4], &vec![-9, 9], &mut [5, 6]) as f64;
        sum += options(if i > 0 { Some(i) } else { None }, if i > 1 { Some(&i) } else { None },
            if i == 1 { Some(Box::new(4)) } else { None },
            if i > 1 { Err("bad".to_string()) } else { Ok(8) }).unwrap_or(0) as f64;
        let s = [Shape::Nothing, Shape::Circle(2.5), Shape::Rect { w: 3, h: 4 }][i as usize].clone();
        sum += format!("{:?}", shapes(s, &Shape::Named("n".to_string(), 6), colour)).len() as f64;
        sum += format!("{:?}", shapes(Shape::Named("m".to_string(), 5), &Shape::Nothing, colour)).len() as f64;
        sum += tuples((n, 9), (), Wrapped(77), Unit, (1.25, 2.5), (1, 2, 3)).0 as f64;
        let all = All { c: 'x', i: -1, u: !0, f: 1.5, b: true, p, t: (200, -200), a: [1, 2, 3],
            s: "in a structure".to_string(), o: Some(12) };
        let q = by_value(all, p).moved(n, 1);
        let m: HashMap<u8, u8> = [(1, 2)].into();
        sum += objects(&q, &|x| x + i, Rc::new(5), &m, Box::new(p)) as f64;
        sum += (generic(i, &7, 1) + generic("text", &"other", 2) + generic(1.5, &2.5, 3)) as f64;
        sum += pointers(&i, std::ptr::null_mut(), twice, 4) as f64;
        sum += many(1, 2, 3, 4, -5, -6, -7, -8, "stack", n) as f64;
    }
    println!("{}", sum != 0.0);
}
