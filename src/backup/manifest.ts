import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import { DumpedSchema, DumpedTable } from "#db/table-copy.ts";
import { writeDurably } from "#machine/write-durably.ts";
import { secretFiles } from "./layout.ts";

/** Is incremented when a version of Grange writes backups that an older version cannot restore. */
export const backupFormat = 1;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Count = z.number().int().nonnegative();

/** A file of the backup, whose bytes are checked before use. */
const CheckedFile = z.object({ bytes: Count, sha256: Sha256 });
export type CheckedFile = z.infer<typeof CheckedFile>;

/** The content of a complete backup. */
export const Manifest = z.object({
  format: z.literal(backupFormat),
  grangeVersion: z.string(),
  /** The state of the database is from shortly after this time. */
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  schema: DumpedSchema,
  tables: z.array(DumpedTable.extend({ file: CheckedFile })),
  blobs: z.object({
    list: CheckedFile,
    count: Count,
    bytes: Count,
    /** Blobs that no earlier backup in the directory had. */
    copied: Count,
    copiedBytes: Count,
    /** Blobs whose bytes did not match their digest. They are left out, so they are missing after a restore. */
    damaged: Count,
    /** Blobs that were removed from the store while they were copied. */
    removed: Count,
  }),
  /** The id of the farm, as recorded in the store. */
  storeOwner: z.uuid().nullable(),
  secretFiles: z.array(z.object({ name: z.enum(secretFiles), file: CheckedFile })),
  /** Paths of further secret files that the server was configured with. They are not in the backup. */
  filesElsewhere: z.array(z.string()),
});
export type Manifest = z.infer<typeof Manifest>;

const Sealed = z.object({ sha256: Sha256, manifest: z.unknown() });

/** Writes a manifest with its own digest; it is on the disk when this resolves. */
export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const sealed = { sha256: sha256Of(JSON.stringify(manifest)), manifest };
  await writeDurably(path, `${JSON.stringify(sealed, undefined, 2)}\n`);
}

/**
 * Reads a manifest.
 *
 * @returns undefined where there is none: the backup is incomplete
 * @throws Fault `data_loss` when its bytes are not those that were written; `failed_precondition` when its format is newer
 */
export async function readManifest(path: string): Promise<Manifest | undefined> {
  const text = await readFile(path, "utf8").catch((reason: unknown) => {
    if ((reason as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw reason;
  });
  if (text === undefined) return undefined;
  let sealed: z.infer<typeof Sealed>;
  try {
    sealed = Sealed.parse(JSON.parse(text));
  } catch (cause) {
    throw new Fault("data_loss", `the manifest ${path} is damaged: ${messageOf(cause)}`, { cause });
  }
  if (sealed.sha256 !== sha256Of(JSON.stringify(sealed.manifest))) {
    throw new Fault(
      "data_loss",
      `the manifest ${path} is damaged: its bytes do not match its digest`,
    );
  }
  const { format } = z.object({ format: z.number() }).parse(sealed.manifest);
  if (format > backupFormat) {
    throw new Fault(
      "failed_precondition",
      `the backup has format ${format}, and this version of Grange knows ${backupFormat}; restore it with a newer version`,
    );
  }
  return Manifest.parse(sealed.manifest);
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
