(* SPDX-License-Identifier: ISC *)
(* Lists that live on the stack while the garbage collector runs, and
   exceptions. *)
let rec build n = if n = 0 then [] else string_of_int n :: build (n - 1)
let rec sum l = match l with [] -> 0 | x :: r -> int_of_string x + sum r

exception Odd of int

let check i = if i mod 3 = 0 then raise (Odd i) else i

let () =
  for i = 1 to 20 do
    let l = build 3000 in
    Gc.full_major ();
    let s = try check i with Odd n -> -n in
    Printf.printf "%d %d\n" (sum l) s
  done
