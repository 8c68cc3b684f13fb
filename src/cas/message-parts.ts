import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Fault } from "#core/fault.ts";

/** The depth limit of the decoder. */
const mostLevels = 100;

/**
 * Throws `resource_exhausted` when decoding a message would make too many objects.
 *
 * An empty message takes two bytes on the wire and a hundred in memory: 64 MiB of empty messages would exhaust the
 * process's memory. The decoder refuses bytes that are not such a message.
 */
export function assertFewParts(schema: DescMessage, bytes: Uint8Array, most: number): void {
  if (bytes.byteLength / 2 <= most) return;
  count(schema, bytes, { parts: 0, most });
}

/**
 * The same for a message that arrives in pieces, each of which is a message: call the returned function for every
 * piece.
 */
export function fewPartsInAll(schema: DescMessage, most: number): (piece: Uint8Array) => void {
  const counted = { parts: 0, most };
  return (piece) => count(schema, piece, counted);
}

function count(
  schema: DescMessage,
  bytes: Uint8Array,
  counted: { parts: number; readonly most: number },
): void {
  const reader = new BinaryReader(bytes);
  try {
    countParts(reader, reader.len, schema, counted, mostLevels);
  } catch (reason) {
    if (reason instanceof Fault) throw reason;
  }
}

function countParts(
  reader: BinaryReader,
  end: number,
  schema: DescMessage,
  count: { parts: number; readonly most: number },
  levels: number,
): void {
  const fields = fieldsOf(schema);
  while (reader.pos < end) {
    const tag = reader.uint32();
    const [number, wireType] = [tag >>> 3, tag & 7];
    const field = fields.get(number);
    // The decoder keeps unknown fields, each as an object.
    if (field === undefined || mayRepeat(field)) count.parts++;
    if (count.parts > count.most) {
      throw new Fault(
        "resource_exhausted",
        `a ${schema.name} has over ${count.most} parts; send it in pieces`,
      );
    }
    const { message } = field ?? {};
    if (message && wireType === WireType.LengthDelimited && levels > 0) {
      const length = reader.uint32();
      if (length > 0) countParts(reader, reader.pos + length, message, count, levels - 1);
    } else {
      skipValue(reader, number, wireType);
    }
  }
}

/** Skips one field. Throws when there is none. */
export function skipField(reader: BinaryReader): void {
  const tag = reader.uint32();
  if (tag < 8) throw new Error("a field has the number 0");
  skipValue(reader, tag >>> 3, tag & 7);
}

/** Like the reader's own `skip`, which however creates an object for each skipped value. */
function skipValue(reader: BinaryReader, number: number, wireType: WireType): void {
  if (wireType !== WireType.LengthDelimited) {
    reader.skip(wireType, number);
    return;
  }
  const length = reader.uint32();
  if (length > reader.len - reader.pos)
    throw new RangeError("a field continues after the end of the message");
  reader.pos += length;
}

function mayRepeat(field: DescField): boolean {
  const isString = field.fieldKind === "list" && field.scalar === ScalarType.STRING;
  return field.message !== undefined || field.fieldKind === "map" || isString;
}

const known = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(schema: DescMessage): ReadonlyMap<number, DescField> {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const fields = new Map(schema.fields.map((field) => [field.number, field]));
  known.set(schema, fields);
  return fields;
}
