import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";
import { backupExitCodes } from "./backup.ts";

export interface RestoreOptions extends CommonOptions {
  readonly data?: string;
  readonly database?: string;
  readonly blobs?: string;
  readonly backup?: string;
  readonly check?: boolean;
  readonly skipDamaged?: boolean;
}

export const describeRestore: Describe = (command) => {
  answersJson(command)
    .argument("<directory>", "the directory of the backups")
    .option(
      "--data <dir>",
      "the new data directory, which must not exist or must be empty (GRANGE_DATA)",
    )
    .option("--blobs <dir>", "the blob store, if it is not in the data directory (GRANGE_BLOBS)")
    .option("--database <url>", "an empty external database (GRANGE_DATABASE_URL)")
    .option("--backup <name>", "the backup (default: the newest complete one)")
    .option("--check", "only check the files of the backup against their digests")
    .option("--skip-damaged", "restore even if blobs are missing from the backup or damaged")
    .action((directory: string, options: RestoreOptions) =>
      inSession(options, async (session) => {
        const { restore } = await import("../backup/restore.ts");
        return restore(session, directory, options);
      }),
    );
  withExamples(command, [
    ["check whether the newest backup can be restored", "restore /mnt/backup/farm --check"],
    [
      "restore it to a new data directory",
      "restore /mnt/backup/farm --data /var/lib/grange/server",
    ],
  ]);
  command.addHelpText("after", backupExitCodes);
};
