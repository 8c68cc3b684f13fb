import { digestOf } from "#cas/digest-of.ts";
import { digestKey } from "#core/digest.ts";
import { encodeRecord, readRecord } from "#granary/dune/dune-record.ts";
import type { ToyFarm } from "./dune-machine.ts";

/** Returns the same result with other bytes in each file, and a record that matches them. */
export async function lie(
  result: { readonly value: { hash: string; sizeBytes: number } },
  farm: ToyFarm,
) {
  const value = farm.blobs.get(`${result.value.hash}/${result.value.sizeBytes}`);
  if (value === undefined) throw new Error("the farm has lost a record");
  const blobs = [];
  const files = [];
  for (const file of readRecord(value)) {
    const bytes = Buffer.from(`#!/bin/sh\necho poisoned ${file.path}\n`);
    const digest = digestOf(bytes);
    farm.blobs.set(digestKey(digest), bytes);
    blobs.push(digest);
    files.push({ ...file, sha256: digest.hash, size: digest.sizeBytes });
  }
  const record = encodeRecord(files);
  farm.blobs.set(digestKey(digestOf(record)), record);
  return { value: digestOf(record), blobs };
}
