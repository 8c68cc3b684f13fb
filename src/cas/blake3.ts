import { createBLAKE3, type IHasher } from "hash-wasm";
import type { Hashing } from "./digest-of.ts";

/**
 * One WebAssembly instance for the whole process. Between two chunks the state of a hash, 2 KB, is saved, so that any
 * number of hashes can be in progress.
 */
const machine: IHasher = await createBLAKE3();
const initial = machine.init().save();

/** Node's crypto has no BLAKE3. */
export function startBlake3(): Hashing {
  let state = initial;
  return {
    update(chunk) {
      state = machine.load(state).update(chunk).save();
    },
    hex: () => machine.load(state).digest("hex"),
  };
}
