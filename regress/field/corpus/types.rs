use std::collections::HashMap;
fn seen<T>(t: T) { unsafe { std::arch::asm!("/* {0} */", in(reg) &t) } }
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Side { Left, Right = 200 }
#[derive(Debug)]
pub enum Shape { Nothing, Circle(f64), Square { side: i32, name: &'static str } }
pub struct Point<T> { x: T, y: T }
#[inline(never)]
fn scalars(b: bool, i: i8, u: u8, w: u16, n: i32, l: i64, z: usize, big: i128, f: f32, d: f64, c: char) -> i32 {
    let t = n + i as i32 + u as i32;
    seen(&t);
    t + b as i32 + w as i32 + l as i32 + z as i32 + big as i32 + f as i32 + d as i32 + c as i32
}
#[inline(never)]
fn texts(s: &str, owned: String, v: Vec<i32>, slice: &[i16], arr: [u8; 3], t: (i32, f64)) -> usize {
    let n = s.len() + owned.len() + v.len() + slice.len() + arr.len();
    seen(&n);
    n + t.0 as usize
}
#[inline(never)]
fn composed(p: Point<i32>, q: &Point<f64>, r: &mut i32, side: Side, shape: &Shape, some: Option<i32>, none: Option<&str>, boxed: Box<i32>, u: ()) -> i32 {
    *r += p.x;
    let res: Result<i32, String> = Ok(*r);
    let m: HashMap<i32, i32> = HashMap::new();
    seen((&res, &m));
    p.y + q.x as i32 + q.y as i32 + side as i32 + some.unwrap_or(1) + *boxed
}
fn main() {
    let mut r = 1;
    let mut sum = 0;
    for i in 0..2 {
        sum += scalars(true, -1, 200, 65535, i, -5, 7, -1 << 100, 0.5, -2.5, 'é');
        sum += texts("text", String::from("owned"), vec![1, 2, 3], &[4, 5], [6, 7, 200], (1, 2.5)) as i32;
        sum += composed(Point { x: 1, y: 2 }, &Point { x: 1.5, y: 2.5 }, &mut r, if i == 0 { Side::Left } else { Side::Right },
            &Shape::Square { side: 3, name: "sq" }, Some(5), None, Box::new(i), ());
        let _ = (Shape::Nothing, Shape::Circle(1.0));
    }
    println!("{}", sum);
}
