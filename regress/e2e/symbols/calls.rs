// Calls whose arguments and results are known, by all ways of passing them.
use std::fmt::Display;

pub struct Settings { pub level: u32, pub path: String }
pub struct Config { pub name: String, pub settings: Settings }
#[derive(Debug)]
pub enum Shape { Circle(f64), Rect { w: u32, h: u32 }, Unit }
#[derive(Clone, Copy)]
pub enum Color { Red, Green = 7 }

pub mod auth {
    pub mod user {
        #[inline(never)]
        pub fn validate(name: &str, n: i32) -> bool { name.len() as i32 > n }
    }
}

pub trait Draw { fn draw(&self, n: u32) -> u32; }
impl Draw for Config {
    #[inline(never)]
    fn draw(&self, n: u32) -> u32 { n + self.settings.level }
}

#[inline(never)]
pub fn make(n: u32) -> Option<u32> { if n > 0 { Some(n) } else { None } }

#[inline(never)]
pub fn show<T: Display>(t: T) -> String { format!("<{}>", t) }

#[inline(never)]
pub fn by_value(c: Config, s: Shape, k: Color, ch: char) -> Result<u32, String> {
    if let Shape::Rect { w, .. } = s { Ok(w + k as u32 + ch as u32) } else { Err(c.name) }
}

#[inline(never)]
pub fn slices(v: &[i32], w: Vec<u16>, t: (u8, f32), o: Option<&str>, b: bool) -> (i64, f64) {
    (v.len() as i64 + w.len() as i64 + t.0 as i64 + o.map_or(0, |x| x.len() as i64), if b { 1.5 } else { 0.5 })
}

#[inline(never)]
pub fn unit(x: i128, s: String, r: &String) { println!("{} {} {}", x, s, r); }

#[inline(never)]
pub fn boxed(b: Box<str>, o: Option<u32>, e: Option<Box<u32>>, a: [u8; 4]) -> Color {
    println!("{} {:?} {:?} {:?}", b, o, e, a);
    Color::Green
}

#[inline(never)]
pub fn shape(n: u32) -> Shape {
    match n { 0 => Shape::Circle(1.5), 1 => Shape::Rect { w: 2, h: 3 }, _ => Shape::Unit }
}

#[inline(never)]
pub fn pair(n: u64) -> [u64; 2] { [n, n + 1] }

#[inline(never)]
pub fn either(n: u64) -> Result<u64, f64> { if n == 0 { Ok(7) } else { Err(2.5) } }

// The last register has one half of a value, or none.
#[inline(never)]
pub fn half(a: i64, b: i64, c: i64, d: i64, e: i64, s: &str, n: i64) -> i64 {
    a + b + c + d + e + s.len() as i64 + n
}

#[inline(never)]
pub fn wide(a: i64, b: i64, c: i64, d: i64, e: i64, x: i128, n: i64, y: i128, m: i64) -> i128 {
    (a + b + c + d + e + n) as i128 + x + y + m as i128
}

#[inline(never)]
pub fn spread(a: [u64; 3], f: (f64, i64), b: &str, c: &str, p: (i32, i32), o: Option<u32>, s: &str, n: i64) -> i64 {
    a[0] as i64 + f.0 as i64 + f.1 + b.len() as i64 + c.len() as i64 + p.0 as i64 + p.1 as i64 + o.unwrap_or(0) as i64
        + s.len() as i64 + n
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn plain(a: i32, b: f64) -> i32 { a + b as i32 }

fn config(name: &str) -> Config {
    Config { name: name.to_string(), settings: Settings { level: 3, path: "p".into() } }
}

#[inline(never)]
fn once<F: FnOnce(i32, &str) -> usize>(f: F) -> usize {
    f(7, "seven")
}

#[inline(never)]
fn often<F: FnMut((i32, f64))>(mut f: F) {
    f((8, 0.5))
}

// What closures have from around them: nothing, by one pointer, in two
// registers, behind a pointer to all.
#[inline(never)]
fn closures(n: i32, s: String, k: u64, d: f64) -> i32 {
    let mut sum = 0;
    once(|x, t| x as usize + t.len());
    once(|x, t| x as usize + t.len() + n as usize);
    once(|x, t| x as usize + t.len() + n as usize + s.len());
    once(move |x, t| x as usize + t.len() + k as usize + n as usize);
    once(move |x, t| x as usize + t.len() + d as usize);
    once(move |x, t| x as usize + t.len() + s.len());
    often(|(a, b)| sum += a + b as i32);
    sum
}

// Alone in more bytes than its own, a number is passed by address.
#[repr(align(16))]
struct Wide {
    i: i32,
}

#[inline(never)]
fn aligned(a: i32, w: Wide, b: i32) -> Wide {
    Wide { i: a + w.i + b }
}

fn main() {
    closures(3, "cap".into(), 5, 1.5);
    let c = config("x");
    println!("{} {} {:?} {:?}", auth::user::validate("ab\u{e9}", 2), c.draw(4), make(9), make(0));
    println!("{} {} {}", show(5), show("q"), c.settings.path);
    println!("{:?}", by_value(c, Shape::Rect { w: 4, h: 5 }, Color::Red, '\u{1F600}'));
    println!("{:?}", by_value(config("name of it"), Shape::Circle(2.5), Color::Green, 'z'));
    println!("{:?}", slices(&[1, -2, 3], vec![7, 8], (9, 2.5), Some("opt"), true));
    println!("{:?}", slices(&[], vec![], (9, 2.5), None, false));
    unit(-5, "s".into(), &"r".to_string());
    boxed("bx".into(), Some(4), None, [1, 2, 3, 4]);
    println!("{:?} {:?} {:?} {:?}", shape(0), shape(1), shape(2), pair(5));
    println!("{} {}", half(1, 2, 3, 4, 5, "half", 42), wide(1, 2, 3, 4, 5, -6, 42, 7 << 64, 43));
    println!("{}", spread([1, 2, 3], (2.5, 3), "b", "c", (-4, 5), Some(6), "stack", 42));
    println!("{}", aligned(5, Wide { i: 6 }, 7).i);
    println!("{:?} {:?} {}", either(0), either(1), plain(3, 4.5));
}
