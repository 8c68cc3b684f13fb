import { createHash } from "node:crypto";

/** A number in [0, 1) that follows from a name: who knows the execution can make its choice again. */
export function drawOf(id: string, number: number): number {
  const hash = createHash("sha256").update(`${id} ${number}`).digest();
  return hash.readUIntBE(0, 6) / 2 ** 48;
}
