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
    .argument("<directory>", "the directory that `grange backup` wrote")
    .option("--data <dir>", "the data directory to fill: new or empty (GRANGE_DATA)")
    .option("--blobs <dir>", "the store of blobs, when it is elsewhere (GRANGE_BLOBS)")
    .option(
      "--database <url>",
      "an empty database, instead of the farm's own (GRANGE_DATABASE_URL)",
    )
    .option("--backup <name>", "which backup (default: the newest complete one)")
    .option("--check", "only read the backup and compare it with its digests")
    .option("--skip-damaged", "restore without blobs that are missing from the backup or damaged")
    .action((directory: string, options: RestoreOptions) =>
      inSession(options, async (session) => {
        const { restore } = await import("../backup/restore.ts");
        return restore(session, directory, options);
      }),
    );
  withExamples(command, [
    ["whether the newest backup could be restored", "restore /mnt/backup/farm --check"],
    [
      "a farm from it, in a new data directory",
      "restore /mnt/backup/farm --data /var/lib/grange/server",
    ],
  ]);
  command.addHelpText("after", backupExitCodes);
};
