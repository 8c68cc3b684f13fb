import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";
import { numberFrom } from "../whole-number.ts";

export interface BackupOptions extends CommonOptions {
  readonly data?: string;
  readonly database?: string;
  readonly blobs?: string;
  readonly keep: number;
}

export const describeBackup: Describe = (command, program) => {
  answersJson(command)
    .argument("<directory>", "where backups lie, best on another disk; created when it is missing")
    .option("--data <dir>", "the farm's data directory (GRANGE_DATA)")
    .option("--blobs <dir>", "the store of blobs, when it is elsewhere (GRANGE_BLOBS)")
    .option("--database <url>", "the farm's database, when it is not its own (GRANGE_DATABASE_URL)")
    .option("--keep <n>", "how many backups the directory keeps", numberFrom(1, 10_000), 7)
    .action((directory: string, options: BackupOptions) =>
      inSession(options, async (session) => {
        const { backUp } = await import("../backup/back-up.ts");
        return backUp(session, directory, options, program.version);
      }),
    );
  withExamples(command, [
    ["a copy of the farm on another disk, while it runs", "backup /mnt/backup/farm"],
    ["the same of a server of systemd", "backup /mnt/backup/farm --data /var/lib/grange/server"],
  ]);
  command.addHelpText("after", backupExitCodes);
};

export const backupExitCodes =
  "\nExit codes: 0 complete, 1 failed or refused, 2 called wrongly. Lines on stderr say why.";
