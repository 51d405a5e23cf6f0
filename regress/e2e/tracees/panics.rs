// SPDX-License-Identifier: ISC
// Panics that leave several watched calls at once, with calls between them
// that nobody watches, values that are dropped, and panics within a drop.
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

#[inline(never)]
fn keep<T>(v: T) -> T {
    let r = unsafe { std::ptr::read_volatile(&v) };
    std::mem::forget(v);
    r
}

#[inline(never)]
#[no_mangle]
pub extern "C" fn seen_leaf(n: u32) -> u32 {
    keep(n) + 1
}

#[inline(never)]
fn hidden_leaf(n: u32) -> u32 {
    let room = keep([n; 40]);
    keep(seen_leaf(room[7])) + room[3]
}

struct Guard(u32);

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        keep(hidden_leaf(self.0));
    }
}

#[inline(never)]
#[no_mangle]
pub fn seen_deep(n: u32) -> u32 {
    if keep(n) == 0 {
        panic!("bottom");
    }
    let v = if n % 3 == 0 { hidden_deep(n - 1) } else { seen_deep(n - 1) };
    keep(v) + keep(n)
}

#[inline(never)]
fn hidden_deep(n: u32) -> u32 {
    let room = keep([n; 8]);
    keep(seen_deep(n)) + room[5]
}

#[inline(never)]
#[no_mangle]
pub fn seen_drop(n: u32) -> u32 {
    let g = Guard(n);
    let v = hidden_deep(n);
    keep(v) + keep(g.0)
}

#[inline(never)]
#[no_mangle]
pub fn seen_catch(n: u32) -> u32 {
    catch_unwind(|| seen_deep(n)).unwrap_or(n * 2)
}

#[inline(never)]
#[no_mangle]
pub fn seen_catch_far(n: u32) -> u32 {
    let v = catch_unwind(|| hidden_deep(n)).unwrap_or(n * 3);
    keep(v)
}

#[inline(never)]
#[no_mangle]
pub fn seen_catch_drop(n: u32) -> u32 {
    catch_unwind(|| {
        let g = Guard(n);
        let v = hidden_deep(n);
        keep(v) + keep(g.0)
    })
    .unwrap_or(n * 4)
}

#[inline(never)]
#[no_mangle]
pub fn seen_again(n: u32) -> u32 {
    let r = catch_unwind(|| seen_drop(n));
    seen_leaf(n);
    match r {
        Ok(v) => v,
        Err(e) => resume_unwind(e),
    }
}

struct Catcher(u32);

impl Drop for Catcher {
    #[inline(never)]
    fn drop(&mut self) {
        let n = self.0;
        let r = catch_unwind(|| resume_within(n));
        keep(r.is_err());
    }
}

#[inline(never)]
fn resume_within(n: u32) -> u32 {
    let v = seen_again(n);
    keep(v) + 1
}

#[inline(never)]
#[no_mangle]
pub fn seen_rest(n: u32) -> u32 {
    let c = Catcher(n);
    let r = catch_unwind(AssertUnwindSafe(|| seen_drop(n))).unwrap_or(n);
    keep(r) + keep(c.0)
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut sum = 0;
    for i in 0..12 {
        sum += seen_catch(i) + seen_catch_far(i) + seen_catch_drop(i);
        sum += catch_unwind(|| seen_again(i)).unwrap_or(i * 5);
        sum += seen_rest(i) + seen_leaf(i);
    }
    println!("{}", sum);
}
