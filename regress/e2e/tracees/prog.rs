// SPDX-License-Identifier: ISC
// Panics through functions that are watched.
#[inline(never)]
fn same(n: i64) -> i64 {
    unsafe { std::ptr::read_volatile(&n) }
}

#[inline(never)]
#[no_mangle]
pub extern "C" fn rust_add(a: i64, b: i64) -> i64 {
    same(a) + b
}

#[inline(never)]
fn deep(n: u32) -> u32 {
    if same(n as i64) == 0 {
        panic!("bottom");
    }
    deep(n - 1) + 1
}

#[inline(never)]
#[no_mangle]
pub fn rust_catch(n: u32) -> u32 {
    std::panic::catch_unwind(|| deep(n)).unwrap_or(n * 2)
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut sum = 0;
    for i in 0..10 {
        sum += rust_catch(i) as i64 + rust_add(1, 2);
    }
    println!("{}", sum);
}
