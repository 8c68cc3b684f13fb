import { createHash } from "node:crypto";

/** Returns a number in [0, 1) that is derived from a name, so that the choice for an execution can be reproduced. */
export function drawOf(id: string, number: number): number {
  const hash = createHash("sha256").update(`${id} ${number}`).digest();
  return hash.readUIntBE(0, 6) / 2 ** 48;
}
