import { z } from "zod";

/** 32 bytes: an action id, or the SHA-256 of an output. Go writes them in base64, we keep them in hexadecimal. */
const Id = z.base64().transform((text, context) => {
  const bytes = Buffer.from(text, "base64");
  if (bytes.byteLength === 32) return bytes.toString("hex");
  context.addIssue({ code: "custom", message: "an id has 32 bytes" });
  return z.NEVER;
});

/**
 * A request of the go command, one line of JSON. A `put` with a size above 0 is followed by a line with its body.
 *
 * Commands that this program did not announce are never sent.
 */
export const GoRequest = z.discriminatedUnion("Command", [
  z.object({ ID: z.int(), Command: z.literal("get"), ActionID: Id }),
  z.object({
    ID: z.int(),
    Command: z.literal("put"),
    ActionID: Id,
    OutputID: Id,
    BodySize: z.int().nonnegative().default(0),
  }),
  z.object({ ID: z.int(), Command: z.literal("close") }),
]);
export type GoRequest = z.infer<typeof GoRequest>;

/** Sent first, without a request: the commands that this program knows. */
export const greeting = { ID: 0, KnownCommands: ["get", "put", "close"] } as const;

/** An output that is in a file of this machine. */
export interface LocalOutput {
  /** The SHA-256 of its bytes, in hexadecimal. */
  readonly output: string;
  readonly sizeBytes: number;
  /** When it was stored first, on any machine, in ms since 1970; Go compares it with `go clean -testcache`. */
  readonly storedAtMs: number;
  readonly path: string;
}

export function hitAnswer(id: number, { output, sizeBytes, storedAtMs, path }: LocalOutput) {
  return {
    ID: id,
    OutputID: Buffer.from(output, "hex").toString("base64"),
    Size: sizeBytes,
    Time: new Date(storedAtMs).toISOString(),
    DiskPath: path,
  };
}

export function missAnswer(id: number) {
  return { ID: id, Miss: true };
}

export function putAnswer(id: number, path: string) {
  return { ID: id, DiskPath: path };
}

export function closeAnswer(id: number) {
  return { ID: id };
}

export function errorAnswer(id: number, message: string) {
  return { ID: id, Err: message };
}
