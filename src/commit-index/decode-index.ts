import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { fewPartsInAll } from "#cas/message-parts.ts";
import type { Digest } from "#core/digest.ts";
import { Fault, messageOf } from "#core/fault.ts";
import {
  type Digest as DigestMessage,
  DigestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  CommitIndexSchema,
  IndexEntrySchema,
  type ResultKey as KeyMessage,
  ResultKeySchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import type { IndexDelta, IndexEntry } from "./index-entry.ts";
import { indexLimits } from "./index-limits.ts";
import { fromLoneDigest } from "./lone-digest.ts";
import { isNamespace, type ResultKey } from "./result-key.ts";

interface DecodedIndex {
  readonly delta: IndexDelta;
  /** The number of entries in namespaces unknown to this version; they are left out. */
  readonly unknownEntries: number;
}

/** Decodes an untrusted `CommitIndex` message. Throws `invalid_argument` with the problem and its place. */
export function decodeIndex(bytes: Uint8Array): DecodedIndex {
  const steps = decodeInSteps(bytes);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same without blocking the process: 100,000 entries take some two seconds. */
export async function decodeIndexInTurns(bytes: Uint8Array, who?: string): Promise<DecodedIndex> {
  const turn = takingTurns(undefined, who);
  const steps = decodeInSteps(bytes);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await turn();
  }
}

const { base: baseField, entries: entriesField, removed: removedField } = CommitIndexSchema.field;

const ownFields: ReadonlySet<number> = new Set(
  [baseField, entriesField, removedField].map(({ number }) => number),
);

/** One entry in each step, so that the index is not also in memory as a message. */
function* decodeInSteps(bytes: Uint8Array): Generator<void, DecodedIndex> {
  if (bytes.byteLength > indexLimits.bytes) {
    throw wrong(`it has ${bytes.byteLength} bytes, over ${indexLimits.bytes}`);
  }
  const countEntryParts = fewPartsInAll(IndexEntrySchema, indexLimits.parts);
  let base: Digest | undefined;
  let unknownEntries = 0;
  let seen = 0;
  const entries: IndexEntry[] = [];
  const removed: ResultKey[] = [];
  const reader = new BinaryReader(bytes);

  for (let place = 0; reader.pos < bytes.byteLength; place++) {
    const { number, content } = nextField(reader, bytes, place);
    if (content === undefined) {
      // A known field with another wire type: this code never writes that, but random data may contain it.
      if (ownFields.has(number)) throw wrong(`field ${place + 1} is not a message`);
      continue;
    }
    if (number === baseField.number) {
      base = digestOf(decode(DigestSchema, content, "its base"), "its base");
      continue;
    }
    const isEntry = number === entriesField.number;
    if (!isEntry && number !== removedField.number) continue;
    seen++;
    if (seen > indexLimits.entries) throw wrong(`it has over ${indexLimits.entries} entries`);
    const where = isEntry ? `entry ${seen}` : `removed entry ${seen}`;
    if (isEntry) {
      refusing(where, () => countEntryParts(content));
      const entry = entryOf(content, where);
      if (entry) entries.push(entry);
      else unknownEntries++;
    } else {
      const key = keyOf(decode(ResultKeySchema, content, where), where);
      if (key) removed.push(key);
    }
    yield;
  }
  return { delta: { base, entries, removed }, unknownEntries };
}

function entryOf(content: Uint8Array, where: string): IndexEntry | undefined {
  const { result, blobs, firstMs, savedMs, inputs } = decode(IndexEntrySchema, content, where);
  const key = keyOf(result, where);
  if (key === undefined) return undefined;
  if (blobs.length === 0) throw wrong(`${where} has no blobs; its value is the first`);
  if (blobs.length > indexLimits.blobsOfEntry) {
    throw wrong(`${where} has ${blobs.length} blobs, over ${indexLimits.blobsOfEntry}`);
  }
  if (inputs.length > indexLimits.inputsOfEntry) {
    throw wrong(`${where} has ${inputs.length} inputs, over ${indexLimits.inputsOfEntry}`);
  }
  if (inputs.some((path) => path === "" || path.length > indexLimits.pathLength)) {
    throw wrong(`${where} has an input of no or over ${indexLimits.pathLength} characters`);
  }
  return {
    ...key,
    blobs: blobs.map((blob) => digestOf(blob, where)),
    firstMs,
    savedMs,
    inputs: inputs.length === 0 ? undefined : inputs,
  };
}

function keyOf(message: KeyMessage | undefined, where: string): ResultKey | undefined {
  if (message === undefined) throw wrong(`${where} has no key`);
  const { namespace, key } = message;
  // PostgreSQL cannot store NUL.
  if (key === "" || key.length > indexLimits.keyLength || key.includes("\0")) {
    throw wrong(`${where} has no key of 1 to ${indexLimits.keyLength} characters`);
  }
  return isNamespace(namespace) ? { namespace, key } : undefined;
}

function digestOf(message: DigestMessage, where: string): Digest {
  return fromLoneDigest(message, `the commit index: ${where}`);
}

/** Reads the next field; returns the bytes of fields that are messages. */
function nextField(reader: BinaryReader, bytes: Uint8Array, place: number) {
  return refusing(`field ${place + 1}`, () => {
    const [number, wireType] = reader.tag();
    if (wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      return { number, content: undefined };
    }
    const length = reader.uint32();
    if (length > bytes.byteLength - reader.pos) throw new RangeError("it continues after the end");
    const content = bytes.subarray(reader.pos, reader.pos + length);
    reader.pos += length;
    return { number, content };
  });
}

function decode<Schema extends DescMessage>(
  schema: Schema,
  content: Uint8Array,
  where: string,
): MessageShape<Schema> {
  return refusing(where, () => fromBinary(schema, content, { readUnknownFields: false }));
}

function refusing<T>(where: string, doing: () => T): T {
  try {
    return doing();
  } catch (reason) {
    throw new Fault("invalid_argument", `the commit index: ${where}: ${messageOf(reason)}`, {
      cause: reason,
    });
  }
}

function wrong(what: string): Fault {
  return new Fault("invalid_argument", `invalid commit index: ${what}`);
}
