import { randomUUID } from "node:crypto";
import { open, readFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";

/** The file of a store's directory that names the farm to which the store belongs. */
const fileName = "farm-id";

/** Returns the farm that owns a store's directory; undefined when it has no owner. */
export async function readStoreOwner(directory: string): Promise<string | undefined> {
  const path = join(directory, fileName);
  const text = await readFile(path, "utf8").catch((reason: unknown) => {
    if (errnoOf(reason) === "ENOENT") return undefined;
    throw diskFault(reason, directory);
  });
  if (text === undefined) return undefined;
  const id = z.uuid().safeParse(text.trim());
  if (id.success) return id.data;
  throw new Fault(
    "failed_precondition",
    `${path} does not contain the id of a farm. Delete it, and start again`,
  );
}

/** Durably records the farm that owns a store's directory. */
export async function writeStoreOwner(directory: string, farm: string): Promise<void> {
  const temporary = join(directory, `${fileName}.${randomUUID()}`);
  try {
    const file = await open(temporary, "wx", 0o644);
    try {
      await file.writeFile(`${farm}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(directory, fileName));
    const folder = await open(directory);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (reason) {
    await unlink(temporary).catch(() => {});
    throw diskFault(reason, directory);
  }
}
