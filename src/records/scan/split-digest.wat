;; Splits CSV or NDJSON into records where RecordSplitter does, and digests each with XXH64. Memory: entries at 0, 24
;; bytes each (begin, length, line: u32; 4 unused; digest: u64), the text from `$text` on, with 64 bytes behind it.
(module
  (memory (export "memory") 64)
  ;; Byte that quotes; that of the line feed where none does. Byte that ends a cell.
  (global $quote (export "quote") (mut i32) (i32.const 10))
  (global $delimiter (export "delimiter") (mut i32) (i32.const 44))
  (global $seed (export "seed") (mut i64) (i64.const 0))
  ;; Where the record that has not ended begins, and its line, counted from 0.
  (global $start (export "start") (mut i32) (i32.const 0))
  (global $startLine (export "startLine") (mut i32) (i32.const 0))
  ;; How far the text was looked at; whether that is inside quotes; the line there.
  (global $position (export "position") (mut i32) (i32.const 0))
  (global $inQuotes (export "inQuotes") (mut i32) (i32.const 0))
  (global $line (export "line") (mut i32) (i32.const 0))

  (func $round (param $sum i64) (param $input i64) (result i64)
    (i64.mul
      (i64.rotl
        (i64.add (local.get $sum) (i64.mul (local.get $input) (i64.const 0xC2B2AE3D27D4EB4F)))
        (i64.const 31))
      (i64.const 0x9E3779B185EBCA87)))

  (func $merge (param $hash i64) (param $sum i64) (result i64)
    (i64.add
      (i64.mul
        (i64.xor (local.get $hash) (call $round (i64.const 0) (local.get $sum)))
        (i64.const 0x9E3779B185EBCA87))
      (i64.const 0x85EBCA77C2B2AE63)))

  ;; XXH64 of `length` bytes from `at` on.
  (func $digest (param $at i32) (param $length i32) (result i64)
    (local $end i32) (local $hash i64)
    (local $one i64) (local $two i64) (local $three i64) (local $four i64)
    (local.set $end (i32.add (local.get $at) (local.get $length)))
    (if (i32.ge_u (local.get $length) (i32.const 32))
      (then
        (local.set $one (i64.add (global.get $seed) (i64.const 0x60EA27EEADC0B5D6)))
        (local.set $two (i64.add (global.get $seed) (i64.const 0xC2B2AE3D27D4EB4F)))
        (local.set $three (global.get $seed))
        (local.set $four (i64.sub (global.get $seed) (i64.const 0x9E3779B185EBCA87)))
        (loop $stripes
          (local.set $one (call $round (local.get $one) (i64.load (local.get $at))))
          (local.set $two (call $round (local.get $two) (i64.load offset=8 (local.get $at))))
          (local.set $three (call $round (local.get $three) (i64.load offset=16 (local.get $at))))
          (local.set $four (call $round (local.get $four) (i64.load offset=24 (local.get $at))))
          (local.set $at (i32.add (local.get $at) (i32.const 32)))
          (br_if $stripes (i32.le_u (i32.add (local.get $at) (i32.const 32)) (local.get $end))))
        (local.set $hash
          (i64.add
            (i64.add
              (i64.rotl (local.get $one) (i64.const 1))
              (i64.rotl (local.get $two) (i64.const 7)))
            (i64.add
              (i64.rotl (local.get $three) (i64.const 12))
              (i64.rotl (local.get $four) (i64.const 18)))))
        (local.set $hash (call $merge (local.get $hash) (local.get $one)))
        (local.set $hash (call $merge (local.get $hash) (local.get $two)))
        (local.set $hash (call $merge (local.get $hash) (local.get $three)))
        (local.set $hash (call $merge (local.get $hash) (local.get $four))))
      (else (local.set $hash (i64.add (global.get $seed) (i64.const 0x27D4EB2F165667C5)))))
    (local.set $hash (i64.add (local.get $hash) (i64.extend_i32_u (local.get $length))))
    (block $noWord
      (loop $words
        (br_if $noWord (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $end)))
        (local.set $hash
          (i64.add
            (i64.mul
              (i64.rotl
                (i64.xor (local.get $hash) (call $round (i64.const 0) (i64.load (local.get $at))))
                (i64.const 27))
              (i64.const 0x9E3779B185EBCA87))
            (i64.const 0x85EBCA77C2B2AE63)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $words)))
    (if (i32.le_u (i32.add (local.get $at) (i32.const 4)) (local.get $end))
      (then
        (local.set $hash
          (i64.add
            (i64.mul
              (i64.rotl
                (i64.xor
                  (local.get $hash)
                  (i64.mul (i64.load32_u (local.get $at)) (i64.const 0x9E3779B185EBCA87)))
                (i64.const 23))
              (i64.const 0xC2B2AE3D27D4EB4F))
            (i64.const 0x165667B19E3779F9)))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))))
    (block $noByte
      (loop $bytes
        (br_if $noByte (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $hash
          (i64.mul
            (i64.rotl
              (i64.xor
                (local.get $hash)
                (i64.mul (i64.load8_u (local.get $at)) (i64.const 0x27D4EB2F165667C5)))
              (i64.const 11))
            (i64.const 0x9E3779B185EBCA87)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $bytes)))
    (local.set $hash
      (i64.mul
        (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 33)))
        (i64.const 0xC2B2AE3D27D4EB4F)))
    (local.set $hash
      (i64.mul
        (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 29)))
        (i64.const 0x165667B19E3779F9)))
    (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 32))))

  ;; The 16 bytes at `at`: a bit for each line feed or quote.
  (func $marks (param $at i32) (param $feeds v128) (param $quotes v128) (result i64)
    (local $bytes v128)
    (local.set $bytes (v128.load (local.get $at)))
    (i64.extend_i32_u
      (i8x16.bitmask
        (v128.or
          (i8x16.eq (local.get $bytes) (local.get $feeds))
          (i8x16.eq (local.get $bytes) (local.get $quotes))))))

  ;; Looks at the text up to `end`, but not at a quote there that the next byte may double; stops when there are
  ;; `countMax` entries. Answers how many there are.
  (func (export "split") (param $end i32) (param $countMax i32) (result i32)
    (local $base i32) (local $at i32) (local $next i32) (local $out i32) (local $outEnd i32) (local $length i32)
    (local $marks i64) (local $feeds v128) (local $quotes v128)
    (local.set $feeds (i8x16.splat (i32.const 10)))
    (local.set $quotes (i8x16.splat (global.get $quote)))
    (local.set $outEnd (i32.mul (local.get $countMax) (i32.const 24)))
    (local.set $base (global.get $position))
    ;; What stands before it was looked at: the second of two quotes.
    (local.set $next (global.get $position))
    (block $stop
      (loop $blocks
        (if (i32.ge_u (local.get $base) (local.get $end))
          (then
            (global.set $position
              (select
                (local.get $next)
                (local.get $end)
                (i32.gt_u (local.get $next) (local.get $end))))
            (br $stop)))
        (local.set $marks
          (i64.or
            (i64.or
              (call $marks (local.get $base) (local.get $feeds) (local.get $quotes))
              (i64.shl
                (call $marks (i32.add (local.get $base) (i32.const 16)) (local.get $feeds) (local.get $quotes))
                (i64.const 16)))
            (i64.or
              (i64.shl
                (call $marks (i32.add (local.get $base) (i32.const 32)) (local.get $feeds) (local.get $quotes))
                (i64.const 32))
              (i64.shl
                (call $marks (i32.add (local.get $base) (i32.const 48)) (local.get $feeds) (local.get $quotes))
                (i64.const 48)))))
        (block $blockEnd
          (loop $each
            (br_if $blockEnd (i64.eqz (local.get $marks)))
            (local.set $at (i32.add (local.get $base) (i32.wrap_i64 (i64.ctz (local.get $marks)))))
            (local.set $marks (i64.and (local.get $marks) (i64.sub (local.get $marks) (i64.const 1))))
            (br_if $blockEnd (i32.ge_u (local.get $at) (local.get $end)))
            (br_if $each (i32.lt_u (local.get $at) (local.get $next)))
            (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 10))
              (then
                (global.set $line (i32.add (global.get $line) (i32.const 1)))
                (br_if $each (global.get $inQuotes))
                (local.set $length (i32.sub (local.get $at) (global.get $start)))
                (if (local.get $length)
                  (then
                    (if (i32.eq (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 13))
                      (then (local.set $length (i32.sub (local.get $length) (i32.const 1)))))))
                (if (local.get $length)
                  (then
                    (i32.store (local.get $out) (global.get $start))
                    (i32.store offset=4 (local.get $out) (local.get $length))
                    (i32.store offset=8 (local.get $out) (global.get $startLine))
                    (i64.store offset=16 (local.get $out) (call $digest (global.get $start) (local.get $length)))
                    (local.set $out (i32.add (local.get $out) (i32.const 24)))))
                (local.set $next (i32.add (local.get $at) (i32.const 1)))
                (global.set $start (local.get $next))
                (global.set $startLine (global.get $line))
                (br_if $each (i32.lt_u (local.get $out) (local.get $outEnd)))
                (global.set $position (local.get $next))
                (br $stop)))
            (if (global.get $inQuotes)
              (then
                (local.set $next (i32.add (local.get $at) (i32.const 1)))
                (if (i32.eq (local.get $next) (local.get $end))
                  (then
                    (global.set $position (local.get $at))
                    (br $stop)))
                (if (i32.eq (i32.load8_u (local.get $next)) (global.get $quote))
                  (then (local.set $next (i32.add (local.get $at) (i32.const 2))))
                  (else (global.set $inQuotes (i32.const 0))))
                (br $each)))
            (if (i32.eq (local.get $at) (global.get $start))
              (then (global.set $inQuotes (i32.const 1)))
              (else
                (if (i32.eq (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (global.get $delimiter))
                  (then (global.set $inQuotes (i32.const 1))))))
            (br $each)))
        (local.set $base (i32.add (local.get $base) (i32.const 64)))
        (br $blocks)))
    (i32.div_u (local.get $out) (i32.const 24))))
