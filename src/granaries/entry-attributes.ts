import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { digestNamed } from "./digest-named.ts";

/** The information of a granary about a result, besides its bytes. */
export interface ResultFacts {
  /** Attributes that are returned to its tool. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly blobs: readonly Digest[];
  readonly costMs: number | undefined;
}

/** Our own attribute among a tool's; no tool uses a header with this name. */
const blobsName = "grange-blobs";
const costName = "grange-cost-ms";

const mostAttributes = 32;
/**
 * A small entry is a row of the database. An entry with thousands of blobs is a manifest, whose blobs the tool handles
 * itself.
 */
const mostBlobs = 1_000;

/**
 * Returns attributes of an entry of the caches. Throws `invalid_argument` for values that cannot be sent as headers.
 */
export function toAttributes({ attributes, blobs, costMs }: ResultFacts): Record<string, string> {
  const given = Object.entries(attributes).filter(([name]) => !name.startsWith("grange-"));
  if (given.length > mostAttributes) {
    throw new Fault("invalid_argument", `a result has at most ${mostAttributes} attributes`);
  }
  for (const [name, text] of given) {
    if (/^[a-z0-9-]{1,64}$/.test(name) && /^[\x20-\x7e]{0,1024}$/.test(text)) continue;
    throw new Fault(
      "invalid_argument",
      `the attribute ${JSON.stringify(name.slice(0, 64))} is not a header of printable ASCII`,
    );
  }
  if (blobs.length > mostBlobs) {
    throw new Fault("invalid_argument", `a tool's result names at most ${mostBlobs} blobs`);
  }
  return {
    ...Object.fromEntries(given),
    ...(blobs.length === 0 ? {} : { [blobsName]: blobs.map(digestKey).join(" ") }),
    ...(costMs === undefined ? {} : { [costName]: String(costMs) }),
  };
}

/** The inverse. Other tools may have written the attributes: Turborepo itself reports how long its task took. */
export function fromAttributes(kept: Readonly<Record<string, string>>): ResultFacts {
  const { [blobsName]: blobs = "", [costName]: cost, ...attributes } = kept;
  const durationText = cost ?? attributes["x-artifact-duration"];
  return {
    attributes,
    blobs: blobs === "" ? [] : blobs.split(" ").flatMap((name) => digestNamed(name) ?? []),
    costMs:
      durationText !== undefined && /^\d{1,9}$/.test(durationText)
        ? Number(durationText)
        : undefined,
  };
}
