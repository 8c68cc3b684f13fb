import { z } from "zod";
import { type Digest, DigestText, digestKey } from "#core/digest.ts";

/** The path of an output: never outside of the build system's own directory. */
export const OutputPath = z
  .string()
  .min(1)
  .max(4_096)
  .refine(
    (path) => !path.split("/").some((part) => part === "" || part === "." || part === ".."),
    "a path below the build's own directory, without . and ..",
  );

/** An output of a result: its path in the build system, and its bytes. */
export interface Output {
  readonly path: string;
  readonly digest: Digest;
  readonly executable: boolean;
}

const Value = z.object({
  version: z.literal(1),
  outputs: z
    .array(
      z.object({
        path: OutputPath,
        digest: DigestText,
        executable: z.boolean(),
      }),
    )
    .max(10_000),
});

/**
 * Returns the value for outputs. Equal outputs give equal bytes in any order, so that two machines
 * get the same value.
 */
export function writeValue(outputs: readonly Output[]): Uint8Array {
  const sorted = [...outputs].sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
  const value: z.input<typeof Value> = {
    version: 1,
    outputs: sorted.map(({ path, digest, executable }) => ({
      path,
      digest: digestKey(digest),
      executable,
    })),
  };
  return Buffer.from(JSON.stringify(value));
}

/**
 * Returns undefined when it is not such a value: it comes from another tool, or from a later
 * version.
 */
export function readValue(bytes: Uint8Array): Output[] | undefined {
  try {
    return Value.parse(JSON.parse(Buffer.from(bytes).toString("utf8"))).outputs;
  } catch {
    return undefined;
  }
}
